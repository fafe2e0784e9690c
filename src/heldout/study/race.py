"""Races: a validation panel answered in rounds of parts, without the candidates that a bound says cannot win.

After a first round the most promising run on every part, so that their means are known; then the others follow part by
part, and who cannot reach the best known mean is dropped. Who is ahead, on the parts that all have run, of everyone
whose mean is known runs on every part before the others go on: the sooner the smallest mean is known, the sooner the
rest is dropped. A round begins when the last one is answered, so nothing depends on who finishes first.

Statistical bounds speak of parts in a random order, and are asked in the first rounds. The bound that no chance can
break holds in any order, so once they are past, and in an exact race from the start, the hardest parts come first.
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
    """Which bound drops candidates, and how probable it may be that it drops the best of a choice."""

    kind: str
    level: float = 0.05

    @property
    def exact(self) -> bool:
        return self.kind == EXACT


def race_of(options: Options) -> RaceRule | None:
    """The race that was asked for."""
    return None if options.race is None else RaceRule(kind=options.race, level=options.race_level)


def check_race(rule: RaceRule | None, search: Search, parts: int) -> None:
    """Refuse a race where its bound says nothing of the choice, with the way out."""
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
ROUNDING = 1e-9  # of a loss's range, or of a mean without one: nearer means are a tie, and ties survive
SAMPLED = {EXACT: 0.0, HOEFFDING: 0.25, BERNSTEIN: 0.25, PAIRED: 0.5}  # share of parts; a test needs more of few


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateGroup:
    """Candidates that share fits, so that they run together, and how many parts of the order they were asked on."""

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
    """One choice's race as it stands."""

    rule: RaceRule
    entrants: tuple[CandidateGroup, ...]
    order: tuple[int, ...]  # in which parts are run; the hardest first, once no more looks are to come
    low: float  # the range of the loss
    high: float
    ratio: float  # held-out to training rows of a part
    shares: tuple[float, ...] | None = None  # of each part in the mean that chooses, 1 on average; None: all alike
    start: float = 0.0  # what is taken off each loss before it is multiplied by a share
    over: bool = False
    called_off: bool = False  # a loss was outside its range, so nobody is dropped

    def of_shares(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """The losses (candidates × parts) that this race goes by."""
        return losses if self.shares is None else (losses - self.start) * np.array(self.shares)

    @property
    def bounds(self) -> tuple[int, ...]:
        return round_ends(len(self.order))

    @property
    def floored(self) -> bool:
        """Whether a part not yet run has a smallest loss: against a known mean the exact bound needs no largest."""
        return isfinite(self.low)

    @property
    def test_points(self) -> tuple[int, ...]:
        """Return after how many parts a statistical bound is tested. These parts are a random sample.

        If the loss has no smallest value, nothing else can drop a candidate, so the bound is tested in every round.
        """
        most = SAMPLED[self.rule.kind] * len(self.order) if self.floored else len(self.order)
        fewest = FEWEST if self.rule.kind == PAIRED else 1
        return tuple(bound for bound in self.bounds[:-1] if fewest <= bound <= most)

    @property
    def level(self) -> float:
        """Return the level of a single test. All tests together drop the best candidate with at most the rule's level.

        A bound on a mean speaks of the best candidate alone, whoever leads: it is dropped only if the bound fails after
        one of these numbers of parts, however often that is looked at. A paired test speaks of it and one leader, who
        may be any other.
        """
        leaders = sum(len(group.candidates) for group in self.entrants) - 1 if self.rule.kind == PAIRED else 1
        return self.rule.level / (max(1, len(self.test_points)) * max(1, leaders))

    @property
    def cells_left(self) -> int:
        """How many cells the rest of it takes at most."""
        if self.over:
            return 0
        return sum(len(group.candidates) * (len(self.order) - group.reach) for group in self.entrants if group.running)


def round_ends(parts: int) -> tuple[int, ...]:
    """How many parts are run after each round: one more each time, or a sixteenth where there are many.

    >>> round_ends(5), round_ends(1000)[:3]
    ((1, 2, 3, 4, 5), (63, 125, 188))
    """
    rounds = min(parts, MOST_ROUNDS)
    return tuple(ceil(parts * (number + 1) / rounds) for number in range(rounds))


def weighed(race: Race, weights: NDArray[np.float64] | None) -> Race:
    """The race with parts that count as much as they weigh: it goes by losses less their lower end, times shares.

    The plain mean of those is the weighted mean less the lower end, so that every bound of a plain mean holds.
    """
    if weights is None:
        return race
    shares = weights * len(weights) / weights.sum()
    known = replace(race, shares=tuple(shares.tolist()))
    if not race.floored:
        return replace(known, high=inf)
    return replace(known, start=race.low, low=0.0, high=(race.high - race.low) * float(shares.max()))


def begin(race: Race, whole: Sequence[int] = ()) -> Race:
    """The race in its first round: who is `whole` (by place) is run on every part at once."""
    first = dict.fromkeys(range(len(race.entrants)), race.bounds[0])
    return _advanced(race, first | dict.fromkeys(whole, len(race.order)))


def blocks(before: Race | None, after: Race) -> tuple[Block, ...]:
    """What `after` asks that `before` did not."""
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
    """The race after a round is answered: who is dropped, and what is run next.

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
    """Whether some loss is outside the range that the bounds go by."""
    known = np.isfinite(ordered)
    times = known.sum(axis=1)
    sums = np.where(known, np.abs(ordered), 0.0).sum(axis=1)
    smallest = float(np.min(sums[times > 0] / times[times > 0], initial=inf))
    margin = _margin(race, smallest)  # a deviance of 0 may be computed as -1e-17
    return bool(np.any(ordered < race.low - margin) or np.any(ordered > race.high + margin))


def _margin(race: Race, mean: float = 0.0) -> float:
    """What rounding may make of the loss's ends, and of a mean between them."""
    return ROUNDING * max(abs(end) for end in (race.low, race.high, race.high - race.low, mean) if isfinite(end))


def _reached(race: Race) -> int:
    """The parts that all who are still running have run, those aside that have run all."""
    return min(group.reach for group in race.entrants if group.running and group.reach < len(race.order))


def _front_runners(race: Race, ordered: NDArray[np.float64]) -> list[int]:
    """The places of the few best entrants so far, of those ahead of all whose mean is known.

    To be ahead of the leader alone is little where the hardest parts came first: they are hardest for the leader.
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
    """The order with the parts to come by the losses of those who have run all, the largest first.

    A sum passes the leader's the sooner, the larger the losses that come first. An exact bound holds in any order.
    """
    reached = _reached(race)
    known = ordered[np.isfinite(ordered).all(axis=1), reached:].mean(axis=0)
    rest = np.argsort(-known, kind="stable") + reached
    return race.order[:reached] + tuple(race.order[number] for number in rest.tolist())


def _judged(race: Race, ordered: NDArray[np.float64]) -> Iterator[CandidateGroup]:
    """The entrants, those stopped of whom no candidate can be chosen."""
    means = np.where(np.isfinite(ordered.mean(axis=1)), ordered.mean(axis=1), inf)
    out = np.zeros(len(ordered), dtype=bool)
    following = [group for group in race.entrants if group.running and group.reach < len(race.order)]
    for reach in sorted({group.reach for group in following}):
        candidates = [candidate for group in following if group.reach == reach for candidate in group.candidates]
        run = ordered[candidates, :reach]
        out[candidates] = ~np.isfinite(run).all(axis=1)  # a fit that failed, or a loss that no mean can be had of
        if means.min() < inf:  # somebody was run on every part
            out[candidates] |= _hopeless(race, run, ordered[means.argmin()])
    for group in race.entrants:
        yield replace(group, running=False) if group.running and out[list(group.candidates)].all() else group


def _hopeless(race: Race, run: NDArray[np.float64], leader: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of `run` the bounds say cannot have a smaller mean than the leader, who was run on every part."""
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
