"""Boosted trees that share their binned data: candidates of one training set, equal in all that bins depend on.

Law: LightGBM and XGBoost sort columns into bins before the first round, by the training rows and a few parameters.
Parameters in `free` are not among them and are read only while trees grow, so one binned table serves every value.
Growing trees writes nothing into it. Tier: identical.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from heldout.base.responses import Responses
from heldout.kernels.paths.asking import Methods, ask_member
from heldout.kernels.paths.counting import CountPath, seed_refusal

MOST_FITS = 6  # that share their bins: five sixths of what could be saved is saved
Values = tuple[tuple[str, Any], ...]  # parameters and their values, in the order of `free`


@dataclass(frozen=True, slots=True, kw_only=True)
class Binned:
    """Estimators of one library that differ in free parameters alone, fitted one after another on one binned table.

    Those that differ in the number of rounds alone are read off one fit, where the library's prefix allows it.
    """

    name: str
    prefix: CountPath  # which estimators, and whether smaller numbers of rounds can be read off
    free: tuple[str, ...]
    refuses: Callable[[Any], str | None]
    fit_all: Callable[[Sequence[Any], Any, Any, Mapping[str, Any]], list[Any]]  # unfitted ones, X, y, weights
    values: tuple[Values, ...] = ()  # of a group, where it is known

    @property
    def parameter(self) -> str:
        return " or ".join(self.free)

    def takes(self, estimator: Any) -> bool:
        return self.prefix.takes(estimator)

    def value_of(self, estimator: Any) -> Values:
        params = estimator.get_params(deep=False)
        return tuple((name, params.get(name)) for name in self.free)

    def lane(self, value: Values) -> Hashable:
        return "binned"

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        first = estimators[0]
        for estimator in estimators:
            for name, value in self.value_of(estimator):
                if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                    return f"{name}={value!r} is no plain number."
        return seed_refusal(first) or self.refuses(first) or self.prefix.refuses(first)

    def order(self, values: Sequence[Values]) -> list[int]:
        return list(range(len(values)))

    def cut(self, values: Sequence[Values]) -> Iterator[tuple[Binned, list[int]]]:
        """Groups of places that share their bins, of a few fits each, so that processes have something to divide."""
        keys = list(self.fits_of(values))
        for start in range(0, len(keys), MOST_FITS):
            some = set(keys[start : start + MOST_FITS])
            places = [place for place, value in enumerate(values) if self._key(value) in some]
            yield replace(self, values=tuple(values[place] for place in places)), places

    def start(self, estimator: Any) -> Any:
        longest = self.fits_of(self.values)
        return Members(binned=self, estimator=estimator, keys=tuple(longest), values=tuple(longest.values()))

    def responses(self, fitted: Any, values: Sequence[Values], X: Any, methods: Methods) -> Iterator[Responses]:
        for value in values:
            own = fitted.fitted[self._key(value)]
            rounds = dict(value)[self.prefix.parameter]
            if rounds != own.get_params(deep=False)[self.prefix.parameter]:
                (own,) = self.prefix.members(own, [rounds], X, methods)
            yield ask_member(own, X, methods)

    def _key(self, value: Values) -> Hashable:
        """Members of one key are read off one fit: they differ in the number of rounds alone."""
        return tuple((name, type(one), one) for name, one in value if name != self.prefix.parameter)

    def places_by_fit(self) -> list[list[int]]:
        """The places of its values that are read off one fit, fit by fit."""
        found: dict[Hashable, list[int]] = {}
        for place, value in enumerate(self.values):
            found.setdefault(self._key(value), []).append(place)
        return list(found.values())

    def fits_of(self, values: Sequence[Values]) -> dict[Hashable, Values]:
        """The values that are fitted, by what is read off each."""
        found: dict[Hashable, Values] = {}
        for value in values:
            known = found.get(self._key(value))
            if known is None or dict(value)[self.prefix.parameter] > dict(known)[self.prefix.parameter]:
                found[self._key(value)] = value
        return found


@dataclass(slots=True, kw_only=True, eq=False)
class Members:
    """What is fitted: every member of a group."""

    binned: Binned
    estimator: Any  # the first member, with its seeds
    keys: tuple[Hashable, ...]
    values: tuple[Values, ...]
    fitted: dict[Hashable, Any] = field(default_factory=dict)

    def fit(self, X: Any, y: Any, **arguments: Any) -> Members:
        own = [clone(self.estimator).set_params(**dict(value)) for value in self.values]
        self.fitted = dict(zip(self.keys, self.binned.fit_all(own, X, y, arguments), strict=True))
        return self
