"""Races: a validation panel answered in rounds of parts, dropping candidates that a bound shows cannot win.

After a first round the most promising candidates run on every part, so that their means are known. The others continue
part by part. A candidate that cannot reach the best known mean is dropped. Whenever some candidates lead, on the parts
that all have run, everyone whose mean is known, they run on every part before the others go on: the sooner the smallest
mean is known, the sooner the rest is dropped. A round begins when the last one is answered, so nothing depends on which
fit finishes first.

Statistical bounds need parts in a random order, and are tested in the first rounds. The exact bound holds in any order.
So after these rounds, and in an exact race from the start, the hardest parts come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, OptionError, Sentence, Splitter
from heldout.base.options import Options
from heldout.risk.race_bounds import FEWEST, bernstein_low, exact_low, hoeffding_low, surely_worse
from heldout.search.search import Search

SEVERAL_PARTS = (Argument("validation", Splitter("KFold", "…")), Splitter("Resample", "…"))
EXACT, HOEFFDING, BERNSTEIN, PAIRED = "exact", "hoeffding", "bernstein", "paired"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRule:
    """Which bound drops candidates, and with what probability it may drop the best of a choice."""

    kind: str
    level: float = 0.05

    @property
    def exact(self) -> bool:
        return self.kind == EXACT


def race_of(options: Options) -> RaceRule:
    """Return the race that the options ask for."""
    return RaceRule(kind=str(options.race), level=options.race_level)


def check_race(rule: RaceRule | None, search: Search, parts: int) -> None:
    """Raise OptionError where the race's bound does not apply to the choice, with what to change."""
    if rule is None:
        return
    loss, name = search.losses[0], f'race="{rule.kind}"'
    if search.choose != "best":
        raise OptionError(
            f"{name} drops candidates that cannot have the smallest mean, but choose={_shown(search)} asks for "
            "another.",
            Sentence("Use {}, or leave race out.", Argument("choose", "best")),
        )
    if parts < 2:
        raise OptionError(
            f"{name} drops candidates between validation parts, but there is one.",
            Sentence("Use {} or {}, or leave race out.", *SEVERAL_PARTS),
        )
    if rule.exact and not isfinite(loss.low):
        raise OptionError(
            f"{name} needs to know the smallest loss there is, and {loss.name!r} has none. Use a loss such as "
            '"zero_one" or "squared", or race="paired", or leave race out.'
        )
    if rule.kind in (HOEFFDING, BERNSTEIN) and not (isfinite(loss.low) and isfinite(loss.high)):
        raise OptionError(
            f"{name} needs a loss of bounded range, and {loss.name!r} has none. Use a bounded loss such as "
            '"zero_one", or race="exact" or "paired", or leave race out.'
        )
    if not isfinite(loss.low) and parts <= FEWEST:
        raise OptionError(
            f"{name} needs {FEWEST} of the validation parts before it drops anybody, but there are {parts} in all. Use "
            "more parts, or leave race out."
        )
    error = search.error_score
    if isinstance(error, float | int) and isfinite(error) and not loss.low <= -error <= loss.high:
        raise OptionError(
            f"{name} needs every loss in its range, but error_score={error:g} is none of {loss.name!r}. Use "
            "error_score=nan, or leave race out."
        )


def _shown(search: Search) -> str:
    return f'"{search.choose}"' if isinstance(search.choose, str) else "a function"


MOST_ROUNDS = 16
ROUNDING = 1e-9  # of a loss's range, or of a mean if it has none: nearer means are a tie, and ties are not dropped
# Up to this share of the parts statistical bounds are tested. A paired test needs more parts where there are few.
SAMPLED = {EXACT: 0.0, HOEFFDING: 0.25, BERNSTEIN: 0.25, PAIRED: 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateGroup:
    """Candidates that share fits and so run together, and on how many parts of the order they were run."""

    candidates: tuple[int, ...]
    reach: int = 0
    running: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Cells that one round asks: each of these candidates on each of these parts."""

    candidates: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The current state of the race of one choice."""

    rule: RaceRule
    entrants: tuple[CandidateGroup, ...]
    order: tuple[int, ...]  # in which parts are run; hardest first once no more tests come
    low: float  # the range of the loss
    high: float
    ratio: float  # held-out to training rows of a part
    shares: tuple[float, ...] | None = None  # weight of each part in the mean, 1 on average; None: all equal
    start: float = 0.0  # subtracted from each loss before it is multiplied by a share
    over: bool = False
    called_off: bool = False  # a loss was outside its range, so no candidate is dropped

    def of_shares(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the losses (candidates × parts) that this race compares, less `start` and times `shares`."""
        return losses if self.shares is None else (losses - self.start) * np.array(self.shares)

    @property
    def bounds(self) -> tuple[int, ...]:
        return round_ends(len(self.order))

    @property
    def floored(self) -> bool:
        """Whether the loss has a smallest value. Then the exact bound applies; it needs no largest one."""
        return isfinite(self.low)

    @property
    def test_points(self) -> tuple[int, ...]:
        """After how many parts a statistical bound is tested. These parts are a random sample.

        If the loss has no smallest value, nothing else can drop a candidate, so the bound is tested in every round.
        """
        most = SAMPLED[self.rule.kind] * len(self.order) if self.floored else len(self.order)
        fewest = FEWEST if self.rule.kind == PAIRED else 1
        return tuple(bound for bound in self.bounds[:-1] if fewest <= bound <= most)

    @property
    def level(self) -> float:
        """The level of a single test. All tests together drop the best candidate with at most the rule's level.

        A bound on a mean concerns the best candidate alone, whoever leads. That candidate is dropped only if the bound
        fails after one of these numbers of parts, however often it is tested there. A paired test concerns the best
        candidate and one leader, which may be any other candidate.
        """
        leaders = sum(len(group.candidates) for group in self.entrants) - 1 if self.rule.kind == PAIRED else 1
        return self.rule.level / (max(1, len(self.test_points)) * max(1, leaders))

    @property
    def cells_left(self) -> int:
        """How many cells the rest of the race takes at most."""
        if self.over:
            return 0
        return sum(len(group.candidates) * (len(self.order) - group.reach) for group in self.entrants if group.running)


def round_ends(parts: int) -> tuple[int, ...]:
    """Return how many parts are run after each round: one more each time, or a sixteenth where there are many.

    >>> round_ends(5), round_ends(1000)[:3]
    ((1, 2, 3, 4, 5), (63, 125, 188))
    """
    rounds = min(parts, MOST_ROUNDS)
    return tuple(ceil(parts * (number + 1) / rounds) for number in range(rounds))


def weighed(race: Race, weights: NDArray[np.float64] | None) -> Race:
    """Return the race for parts with weights: it compares losses less their lower end, times the parts' shares.

    The plain mean of these is the weighted mean less the lower end, so that every bound of a plain mean holds.
    """
    if weights is None:
        return race
    shares = weights * len(weights) / weights.sum()
    known = replace(race, shares=tuple(shares.tolist()))
    if not race.floored:
        return replace(known, high=inf)
    return replace(known, start=race.low, low=0.0, high=(race.high - race.low) * float(shares.max()))


def begin(race: Race, whole: Sequence[int] = ()) -> Race:
    """Return the race in its first round. Groups in `whole` (by place) are run on every part at once."""
    first = dict.fromkeys(range(len(race.entrants)), race.bounds[0])
    return _advanced(race, first | dict.fromkeys(whole, len(race.order)))


def blocks(before: Race | None, after: Race) -> tuple[Block, ...]:
    """Return the cells that `after` asks and `before` did not. `before` is None for the first round."""
    stretches: dict[tuple[int, int], list[int]] = {}
    for number, entrant in enumerate(after.entrants):
        known = 0 if before is None else before.entrants[number].reach
        if entrant.reach > known:
            stretches.setdefault((known, entrant.reach), []).extend(entrant.candidates)
    return tuple(
        Block(candidates=tuple(sorted(candidates)), parts=tuple(sorted(after.order[known:reach])))
        for (known, reach), candidates in stretches.items()
    )


def next_round(race: Race, losses: NDArray[np.float64]) -> Race:
    """Return the race after a round is answered: which groups are dropped, and what is run next.

    Parameters
    ----------
    race : Race
    losses : array of shape (candidates, parts)
        Mean losses, NaN where a part was not run or a fit failed.
    """
    ordered = race.of_shares(losses)[:, list(race.order)]
    parts = len(race.order)
    if _outside(race, ordered):
        every = tuple(replace(group, reach=parts, running=True) for group in race.entrants)
        off = replace(race, entrants=every, called_off=True)
        return replace(off, over=True) if off.entrants == race.entrants else off
    race = replace(race, entrants=tuple(_judged(race, ordered)))
    if not any(group.running and group.reach < parts for group in race.entrants):
        return replace(race, over=True)
    if ahead := _front_runners(race, ordered):
        return _advanced(race, dict.fromkeys(ahead, parts))
    reached = _reached(race)
    end = min(bound for bound in race.bounds if bound > reached)
    behind = [number for number, group in enumerate(race.entrants) if group.running and group.reach < end]
    if reached >= max(race.test_points, default=0):
        race = replace(race, order=_hardest_first(race, ordered))
    return _advanced(race, dict.fromkeys(behind, end))


def _advanced(race: Race, reach: dict[int, int]) -> Race:
    entrants = enumerate(race.entrants)
    return replace(
        race, entrants=tuple(replace(group, reach=reach.get(number, group.reach)) for number, group in entrants)
    )


def _outside(race: Race, ordered: NDArray[np.float64]) -> bool:
    """Return whether some loss is outside the range that the bounds assume."""
    known = np.isfinite(ordered)
    times = known.sum(axis=1)
    sums = np.where(known, np.abs(ordered), 0.0).sum(axis=1)
    smallest = float(np.min(sums[times > 0] / times[times > 0], initial=inf))
    margin = _margin(race, smallest)  # a deviance of 0 may be computed as -1e-17
    return bool(np.any(ordered < race.low - margin) or np.any(ordered > race.high + margin))


def _margin(race: Race, mean: float = 0.0) -> float:
    """Return the rounding error allowed for at the ends of the loss's range, and at a mean between them."""
    return ROUNDING * max(abs(end) for end in (race.low, race.high, race.high - race.low, mean) if isfinite(end))


def _reached(race: Race) -> int:
    """Return the number of parts that all running groups have run, not counting groups that have run all parts."""
    return min(group.reach for group in race.entrants if group.running and group.reach < len(race.order))


def _front_runners(race: Race, ordered: NDArray[np.float64]) -> list[int]:
    """Return the places of the few best groups so far that lead all groups whose mean is known.

    To lead only the best of those says little where the hardest parts came first: they are hardest for that leader.
    """
    reached = _reached(race)
    sofar = ordered[:, :reached].mean(axis=1)
    known = np.isfinite(ordered).all(axis=1)
    mark = float(sofar[known].min()) - _margin(race) if known.any() else inf

    def promise(group: CandidateGroup) -> float:
        return min((float(sofar[c]) for c in group.candidates if np.isfinite(sofar[c])), default=inf)

    behind = (
        (promise(group), number)
        for number, group in enumerate(race.entrants)
        if group.running and group.reach == reached
    )
    most = max(1, round(sqrt(len(race.entrants)) / 3))
    return [number for _, number in sorted(pair for pair in behind if pair[0] < mark)[:most]]


def _hardest_first(race: Race, ordered: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the order with the remaining parts sorted by the losses of those who have run all, the largest first.

    The larger the first losses, the sooner a sum passes the leader's. An exact bound holds in any order.
    """
    reached = _reached(race)
    known = ordered[np.isfinite(ordered).all(axis=1), reached:].mean(axis=0)
    rest = np.argsort(-known, kind="stable") + reached
    return race.order[:reached] + tuple(race.order[number] for number in rest.tolist())


def _judged(race: Race, ordered: NDArray[np.float64]) -> Iterator[CandidateGroup]:
    """Yield the groups; a group stops running if none of its candidates can be chosen."""
    means = np.where(np.isfinite(ordered.mean(axis=1)), ordered.mean(axis=1), inf)
    out = np.zeros(len(ordered), dtype=bool)
    following = [group for group in race.entrants if group.running and group.reach < len(race.order)]
    for reach in sorted({group.reach for group in following}):
        candidates = [candidate for group in following if group.reach == reach for candidate in group.candidates]
        run = ordered[candidates, :reach]
        out[candidates] = ~np.isfinite(run).all(axis=1)  # a fit that failed, or a loss that is not finite
        if means.min() < inf:  # some candidate was run on every part
            out[candidates] |= _hopeless(race, run, ordered[means.argmin()])
    for group in race.entrants:
        yield replace(group, running=False) if group.running and out[list(group.candidates)].all() else group


def _hopeless(race: Race, run: NDArray[np.float64], leader: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows of `run` surely have a larger mean than the leader, who was run on every part."""
    parts, n = len(race.order), run.shape[1]
    span, best = race.high - race.low, float(leader.mean())
    best += _margin(race, best)
    out = np.zeros(len(run), dtype=bool)
    if race.floored:
        out |= exact_low(run, parts=parts, low=race.low) > best
    if n not in race.test_points:
        return out
    if race.rule.kind == HOEFFDING:
        out |= hoeffding_low(run, parts=parts, span=span, level=race.level) > best
    elif race.rule.kind == BERNSTEIN:
        out |= bernstein_low(run, parts=parts, span=span, level=race.level) > best
    elif race.rule.kind == PAIRED:
        out |= surely_worse(run, leader[:n], ratio=race.ratio, level=race.level)
    return out
