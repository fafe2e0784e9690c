"""Spaces: the candidates of one family, counted before they are built and built one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid, ParameterSampler

from heldout.base.errors import SpaceError
from heldout.base.registered import registered

Params = dict[str, Any]
MOST_CANDIDATES = 10_000_000


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
    """The candidates of one space in order, each built when it is asked for."""

    def __init__(
        self, source: Sequence[Params] | ParameterGrid, names: tuple[str, ...], always: tuple[str, ...] | None = None
    ) -> None:
        self._source = source
        self._count = len(source)  # a ParameterGrid counts its candidates anew each time, and is asked often
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
            return [self[i] for i in range(*index.indices(len(self)))]
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
    def surely_differ(self) -> bool:
        """Whether no two candidates are equal, as a glance at the values tells. False where it does not tell."""
        if not isinstance(self._source, ParameterGrid) or len(self._source.param_grid) > 1:
            return False
        plain = (bool, int, float, str, type(None))
        return all(
            all(type(value) in plain for value in values) and len({(type(v), v) for v in values}) == len(values)
            for values in self._source.param_grid[0].values()
        )


def build_candidates(space: Any, *, seed: int) -> Candidates:
    """The candidates of a dict of lists, a list of such dicts, a `Sample`, or None (the learner as it is)."""
    if space is None or (isinstance(space, Mapping | list | tuple) and not space):
        return Candidates([{}], ())
    if isinstance(space, Sample):
        return _drawn(space, seed)
    dicts = list(space) if isinstance(space, list | tuple) else [space]
    for grid_of_one in dicts:
        _check_grid(grid_of_one)
    count = sum(prod(len(values) for values in grid_of_one.values()) for grid_of_one in dicts)
    if count > MOST_CANDIDATES:
        raise SpaceError(
            f"This grid has {count:,} candidates, more than the {MOST_CANDIDATES:,} heldout takes. "
            "Give fewer values, or draw from it with Sample(n, …)."
        )
    grid = ParameterGrid([{name: _listed(values) for name, values in grid_of_one.items()} for grid_of_one in dicts])
    names = tuple(dict.fromkeys(name for grid_of_one in dicts for name in sorted(grid_of_one)))
    return Candidates(grid, names, _in_all(dicts, names))


def _check_grid(one: Any) -> None:
    if not isinstance(one, Mapping):
        raise SpaceError(
            f"A space is a dict from parameter names to lists of values, a list of such dicts, or Sample(n, …), "
            f"not {type(one).__name__}."
        )
    for name, values in one.items():
        if not isinstance(name, str):
            raise SpaceError(f"Parameter names are strings, not {name!r}.")
        if hasattr(values, "rvs"):
            raise SpaceError(f"{name!r} is a distribution; wrap the space in Sample(n, …) to draw from it.")
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise SpaceError(f"{name!r} needs a list of values, not {values!r}. For one value write [{values!r}].")
        if isinstance(values, np.ndarray) and values.ndim > 1:
            raise SpaceError(f"{name!r} needs a one-dimensional list of values, not shape {values.shape}.")
        if len(values) == 0:
            raise SpaceError(f"{name!r} has no values, so the space is empty.")


def _drawn(sample: Sample, seed: int) -> Candidates:
    dicts = list(sample.space) if isinstance(sample.space, list | tuple) else [sample.space]
    for part in dicts:
        if not isinstance(part, Mapping) or not part:
            raise SpaceError("Sample needs a dict from parameter names to distributions or lists of values.")
        for name, values in part.items():
            if not hasattr(values, "rvs") and (isinstance(values, str) or not hasattr(values, "__len__")):
                raise SpaceError(f"{name!r} needs a distribution with rvs, or a list of values, not {values!r}.")
    names = tuple(dict.fromkeys(name for part in dicts for name in sorted(part)))
    finite = all(not hasattr(values, "rvs") for part in dicts for values in part.values())
    if finite:
        count = sum(prod(len(values) for values in part.values()) for part in dicts)
        if sample.n >= count:  # a sample as large as the grid is the grid
            return build_candidates(dicts, seed=seed)
    drawn = list(ParameterSampler(sample.space, int(sample.n), random_state=seed))
    return Candidates(drawn, names, _in_all(dicts, names))


def _in_all(dicts: list[Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if all(name in part for part in dicts))


def _listed(values: Any) -> list[Any]:
    """Values as a list; an array's numbers become Python's own, which print and compare as people write them."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
