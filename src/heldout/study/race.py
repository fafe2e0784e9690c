"""Races: a validation panel answered in rounds of parts, without the candidates that a bound says cannot win.

After a first round the most promising run on every part, so that their means are known; then the others follow part by
part, and who cannot reach the best known mean is dropped. Rounds depend on counts alone and a round begins when the
last one is answered, so nothing depends on who finishes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from heldout.risk.races import bernstein_low, exact_low, hoeffding_low, surely_worse
from heldout.study.race_rule import BERNSTEIN, HOEFFDING, PAIRED, RaceRule

MOST_ROUNDS = 16
ROUNDING = 1e-9  # of a loss's range: means that are nearer than this are a tie, and ties survive


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
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
    entrants: tuple[Entrant, ...]
    order: tuple[int, ...]  # in which parts are run
    low: float  # the range of the loss
    high: float
    ratio: float  # held-out to training rows of a part
    led: bool = False  # the most promising were run on every part
    over: bool = False
    called_off: bool = False  # a loss was outside its range, so nobody is dropped

    @property
    def bounds(self) -> tuple[int, ...]:
        return round_ends(len(self.order))

    @property
    def level(self) -> float:
        """Of one look at one candidate, so that all looks together lose the best with the rule's level at most.

        A bound on a mean speaks of the best candidate alone, whoever leads: there are as many looks at it as rounds
        before the last. A paired test speaks of it and one leader, who may be any other.
        """
        leaders = sum(len(one.candidates) for one in self.entrants) - 1 if self.rule.kind == PAIRED else 1
        return self.rule.level / (max(1, len(self.bounds) - 1) * max(1, leaders))

    @property
    def cells_left(self) -> int:
        """How many cells the rest of it takes at most."""
        if self.over:
            return 0
        return sum(len(one.candidates) * (len(self.order) - one.reach) for one in self.entrants if one.running)


def round_ends(parts: int) -> tuple[int, ...]:
    """How many parts are run after each round: one more each time, or a sixteenth where there are many.

    >>> round_ends(5), round_ends(1000)[:3]
    ((1, 2, 3, 4, 5), (63, 125, 188))
    """
    rounds = min(parts, MOST_ROUNDS)
    return tuple(ceil(parts * (place + 1) / rounds) for place in range(rounds))


def begin(race: Race, whole: Sequence[int] = ()) -> Race:
    """The race in its first round: who is `whole` (by place) is run on every part at once."""
    first = race.bounds[0]
    every = enumerate(race.entrants)
    reach = [replace(one, reach=len(race.order) if place in whole else first) for place, one in every]
    return replace(race, entrants=tuple(reach))


def blocks(before: Race | None, after: Race) -> tuple[Block, ...]:
    """What `after` asks that `before` did not."""
    stretches: dict[tuple[int, int], list[int]] = {}
    for place, entrant in enumerate(after.entrants):
        known = 0 if before is None else before.entrants[place].reach
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
    ordered = losses[:, list(race.order)]
    parts = len(race.order)
    if _outside(race, ordered):
        every = tuple(replace(one, reach=parts, running=True) for one in race.entrants)
        off = replace(race, entrants=every, called_off=True)
        return replace(off, over=True) if off.entrants == race.entrants else off
    race = replace(race, entrants=tuple(_judged(race, ordered)))
    if not any(one.running and one.reach < parts for one in race.entrants):
        return replace(race, over=True)
    if not race.led or _leader(ordered) is None:
        ahead = _most_promising(race, ordered)
        race = replace(race, led=True)
        if any(race.entrants[place].reach < parts for place in ahead):
            return _advanced(race, dict.fromkeys(ahead, parts))
    reached = min(one.reach for one in race.entrants if one.running and one.reach < parts)
    end = min(bound for bound in race.bounds if bound > reached)
    behind = [place for place, one in enumerate(race.entrants) if one.running and one.reach < end]
    return _advanced(race, dict.fromkeys(behind, end))


def _advanced(race: Race, reach: dict[int, int]) -> Race:
    entrants = enumerate(race.entrants)
    return replace(race, entrants=tuple(replace(one, reach=reach.get(place, one.reach)) for place, one in entrants))


def _outside(race: Race, ordered: NDArray[np.float64]) -> bool:
    """Whether some loss is outside the range that the bounds go by."""
    margin = _margin(race)
    if not isfinite(race.high - race.low):
        return False
    return bool(np.any(ordered < race.low - margin) or np.any(ordered > race.high + margin))


def _margin(race: Race) -> float:
    ends = (abs(race.low), abs(race.high), race.high - race.low)
    return ROUNDING * max(ends) if all(map(isfinite, ends)) else 0.0


def _most_promising(race: Race, ordered: NDArray[np.float64]) -> list[int]:
    """The places of the few entrants whose first round was best, those not dropped."""
    first = ordered[:, : race.bounds[0]].mean(axis=1)

    def promise(one: Entrant) -> float:
        sound = [c for c in one.candidates if not np.isnan(ordered[c, : one.reach]).any()]
        return min((float(first[c]) for c in sound), default=inf)

    by_promise = sorted((promise(one), place) for place, one in enumerate(race.entrants) if one.running)
    few = max(1, round(sqrt(len(race.entrants)) / 2))
    return [place for _, place in by_promise[:few]]


def _leader(ordered: NDArray[np.float64]) -> int | None:
    """The candidate with the smallest mean over all parts, of those whose mean is known."""
    means = ordered.mean(axis=1)
    return None if np.isnan(means).all() else int(np.nanargmin(means))


def _judged(race: Race, ordered: NDArray[np.float64]) -> Iterator[Entrant]:
    """The entrants, those stopped of whom no candidate can be chosen."""
    leader = _leader(ordered)
    out = np.zeros(len(ordered), dtype=bool)
    following = [one for one in race.entrants if one.running and one.reach < len(race.order)]
    for reach in sorted({one.reach for one in following}):
        own = [candidate for one in following if one.reach == reach for candidate in one.candidates]
        run = ordered[own, :reach]
        out[own] = np.isnan(run).any(axis=1)
        if leader is not None:
            out[own] |= _hopeless(race, run, ordered[leader])
    for one in race.entrants:
        yield replace(one, running=False) if one.running and out[list(one.candidates)].all() else one


def _hopeless(race: Race, run: NDArray[np.float64], leader: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of `run` the bounds say cannot have a smaller mean than the leader, who was run on every part."""
    parts, n = len(race.order), run.shape[1]
    span, best = race.high - race.low, float(leader.mean()) + _margin(race)
    out = np.zeros(len(run), dtype=bool)
    if isfinite(span):
        out |= exact_low(run, parts=parts, low=race.low) > best
    if race.rule.kind == HOEFFDING:
        out |= hoeffding_low(run, parts=parts, span=span, level=race.level) > best
    elif race.rule.kind == BERNSTEIN:
        out |= bernstein_low(run, parts=parts, span=span, level=race.level) > best
    elif race.rule.kind == PAIRED:
        out |= surely_worse(run, leader[:n], ratio=race.ratio, level=race.level)
    return out
