"""A search as a plain value: families of candidates, how they are validated, chosen between and made final."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from heldout.base.words import shortened
from heldout.losses import Loss
from heldout.search.space import Candidates, Params

BRIEF = 80  # characters of a candidate in a message: terminals and notebooks show some 300 of the whole
Chooser = Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """One estimator and its candidates."""

    name: str
    estimator: Any
    candidates: Candidates


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """A learner as the study knows it. An untuned learner is a search with one candidate and no validation."""

    families: tuple[Family, ...]
    losses: tuple[Loss, ...]
    seed: int
    validation: Any = None  # a strategy of heldout.splits; None for an untuned learner
    choose: str | Chooser = "best"  # "best", "one_se" or a callable on cv_results
    final: str = "retrain"  # "retrain", "ensemble" or "keep"
    simplest: Any = None  # what "one_se" calls simple
    error_score: float | str | None = None  # someone else's search: the score of a failed fit, or "raise"
    notes: tuple[str, ...] = ()  # what was noted and ignored, for explain

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What kernels worked out about this search and will ask again, by keys of their own; it is not pickled."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "memo"}

    @property
    def tuned(self) -> bool:
        return self.validation is not None

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *accumulate(len(f.candidates) for f in self.families)]

    def __len__(self) -> int:
        return self._starts[-1]

    def family_of(self, candidate: int) -> Family:
        return self.families[self._place(candidate)[0]]

    def params_of(self, candidate: int) -> Params:
        family, index = self._place(candidate)
        return self.families[family].candidates[index]

    def _place(self, candidate: int) -> tuple[int, int]:
        family = 0
        while candidate >= self._starts[family + 1]:
            family += 1
        return family, candidate - self._starts[family]

    def describe(self, candidate: int) -> str:
        """The candidate in words: ``ridge(alpha=0.1)``."""
        family = self.family_of(candidate)
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.params_of(candidate).items())
        if len(self.families) > 1 or not inside:
            return f"{family.name}({inside})" if inside else family.name
        return inside

    def brief(self, candidate: int) -> str:
        """The same in words so few that what is said of the candidate after them stays in sight."""
        return shortened(self.describe(candidate), BRIEF)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
