"""A search as a plain value: families of candidates, their validation, the choice between them and the final predictor.

The candidates of a space are counted before they are built. Each is built when it is asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import inf, prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid, ParameterSampler

from heldout.base.errors import SpaceError
from heldout.base.registered import registered
from heldout.base.words import shortened
from heldout.losses import Loss

Params = dict[str, Any]
MOST_CANDIDATES = 10_000_000
BRIEF = 80  # characters of a candidate in a message: terminals and notebooks show some 300 of the whole


def log_grid(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Values that are uniform on the log scale, from 10**low to 10**high: what regularisation wants.

    Parameters
    ----------
    low, high : float
        Exponents of ten.
    count : int
        How many values.

    Examples
    --------
    >>> import heldout as ho
    >>> ho.log_grid(-2, 2, 5).tolist()
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    if isinstance(count, bool) or int(count) != count or count < 1:
        raise SpaceError(f"log_grid needs a whole number of values, at least 1, not {count!r}.")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise SpaceError(f"log_grid needs finite exponents of ten, not {low!r} and {high!r}.")
    return np.logspace(low, high, int(count))


@registered
@dataclass(frozen=True, slots=True)
class Sample:
    """A space of `n` candidates drawn at random, with the seed of the `Tuned` that holds it.

    Parameters
    ----------
    n : int
        How many candidates to draw.
    space : mapping, or list of mappings
        From parameter names to scipy distributions (anything with `rvs`) or lists of values.

    Examples
    --------
    >>> import heldout as ho
    >>> from scipy.stats import loguniform
    >>> ho.Sample(20, {"alpha": loguniform(1e-6, 1e2)}).n
    20
    """

    n: int
    space: Any

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 1:
            raise SpaceError(f"Sample needs a whole number of candidates, at least 1, not {self.n!r}.")
        if self.n > MOST_CANDIDATES:
            raise SpaceError(f"Sample({self.n:,}) asks for more than {MOST_CANDIDATES:,} candidates. Draw fewer.")


class Candidates(Sequence[Params]):
    """The candidates of one space in order. Each is built when it is asked for."""

    def __init__(
        self, source: Sequence[Params] | ParameterGrid, names: tuple[str, ...], always: tuple[str, ...] | None = None
    ) -> None:
        self._source = source
        self._count = len(source)  # a ParameterGrid counts its candidates in each call, and calls are many
        self._at = lru_cache(maxsize=4096)(self._build)
        self.names = names  # every parameter that some candidate sets
        self.always = names if always is None else always  # every parameter that each candidate sets

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Params: ...
    @overload
    def __getitem__(self, index: slice) -> list[Params]: ...
    def __getitem__(self, index: int | slice) -> Params | list[Params]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return dict(self._at(index % self._count))

    def _build(self, index: int) -> Params:
        params = self._source[index]
        return dict(sorted(params.items())) if isinstance(self._source, ParameterGrid) else params  # as iterating gives

    def __iter__(self) -> Iterator[Params]:
        return map(dict, self._source)  # quicker than by indexes

    def __reduce__(self) -> tuple[Any, ...]:
        return (Candidates, (self._source, self.names, self.always))

    @property
    def is_grid(self) -> bool:
        """Whether the candidates are all combinations of listed values, not drawn at random."""
        return isinstance(self._source, ParameterGrid)

    @property
    def surely_differ(self) -> bool:
        """Whether no two candidates are equal. False where simple values in a single grid do not show it."""
        if not isinstance(self._source, ParameterGrid) or len(self._source.param_grid) > 1:
            return False
        plain = (bool, int, float, str, type(None))
        return all(
            all(type(value) in plain for value in values) and len({(type(v), v) for v in values}) == len(values)
            for values in self._source.param_grid[0].values()
        )


def build_candidates(space: Any, *, seed: int) -> Candidates:
    """Build the candidates of a dict of lists, a list of such dicts, a `Sample`, or None (the learner as it is)."""
    if space is None or (isinstance(space, Mapping | list | tuple) and not space):
        return Candidates([{}], ())
    sample = space if isinstance(space, Sample) else None
    several = space if sample is None else sample.space
    grids = list(several) if isinstance(several, list | tuple) else [several]
    for grid in grids:
        _check_grid(grid, sampled=sample is not None)
    names = tuple(dict.fromkeys(name for grid in grids for name in sorted(grid)))
    always = tuple(name for name in names if all(name in grid for grid in grids))
    finite = not any(hasattr(values, "rvs") for grid in grids for values in grid.values())
    count = sum(prod(map(len, grid.values())) for grid in grids) if finite else inf
    if sample is not None and sample.n < count:  # a sample as large as the grid is the grid
        return Candidates(list(ParameterSampler(sample.space, int(sample.n), random_state=seed)), names, always)
    if count > MOST_CANDIDATES:
        raise SpaceError(
            f"This grid has {count:,} candidates, more than the {MOST_CANDIDATES:,} heldout takes. "
            "Give fewer values, or draw from it with Sample(n, …)."
        )
    listed = [{name: _listed(values) for name, values in grid.items()} for grid in grids]
    return Candidates(ParameterGrid(listed), names, always)


def _check_grid(grid: Any, *, sampled: bool) -> None:
    if not isinstance(grid, Mapping) or (sampled and not grid):
        raise SpaceError(
            "A space is a dict from parameter names to lists of values (in a Sample to distributions too), a list of "
            f"such dicts, or Sample(n, …), not {type(grid).__name__}."
        )
    for name, values in grid.items():
        if not isinstance(name, str):
            raise SpaceError(f"Parameter names are strings, not {name!r}.")
        if hasattr(values, "rvs"):
            if sampled:
                continue
            raise SpaceError(f"{name!r} is a distribution; wrap the space in Sample(n, …) to draw from it.")
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise SpaceError(f"{name!r} needs a list of values, not {values!r}. For one value write [{values!r}].")
        if isinstance(values, np.ndarray) and values.ndim > 1:
            raise SpaceError(f"{name!r} needs a one-dimensional list of values, not shape {values.shape}.")
        if len(values) == 0:
            raise SpaceError(f"{name!r} has no values, so the space is empty.")


def _listed(values: Any) -> list[Any]:
    """Return values as a list. Numbers of an array become Python's own, which print and compare as users write them."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """Holds one estimator and its candidates."""

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
    choose: str | Callable[[Mapping[str, Any]], int] = "best"  # "best", "one_se" or a callable on cv_results
    final: str = "retrain"  # "retrain", "ensemble" or "keep"
    simplest: Any = None  # which candidates "one_se" takes as simpler
    error_score: float | str | None = None  # of a scikit-learn search: the score of a failed fit, or "raise"
    notes: tuple[str, ...] = ()  # which settings were ignored, for explain

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Results about this search that kernels keep to use again, by keys of their own; not pickled."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "memo"}

    @cached_property
    def tuned(self) -> bool:
        return self.validation is not None

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *accumulate(len(family.candidates) for family in self.families)]

    @cached_property
    def size(self) -> int:
        """The number of candidates."""
        return self._starts[-1]

    def __len__(self) -> int:
        return self.size

    def family_of(self, candidate: int) -> Family:
        return self.families[bisect_right(self._starts, candidate) - 1]

    def params_of(self, candidate: int) -> Params:
        family = bisect_right(self._starts, candidate) - 1
        return self.families[family].candidates[candidate - self._starts[family]]

    def each(self, candidates: Sequence[int]) -> list[tuple[Family, Params]]:
        """Return the family and the parameters of each of these candidates."""
        return [(self.family_of(candidate), self.params_of(candidate)) for candidate in candidates]

    def describe(self, candidate: int) -> str:
        """Return the candidate in words: ``ridge(alpha=0.1)``."""
        name = self.family_of(candidate).name
        params = ", ".join(f"{name}={_short(value)}" for name, value in self.params_of(candidate).items())
        if len(self.families) > 1 and params:
            return f"{name}({params})"
        return params or name

    def brief(self, candidate: int) -> str:
        """Return the candidate in words, shortened so that the rest of a message stays in sight."""
        return shortened(self.describe(candidate), BRIEF)


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
