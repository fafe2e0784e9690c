"""Paths along a count of members or rounds: the first m of a larger ensemble are the ensemble of m."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from heldout.base.responses import Responses
from heldout.kernels.paths.asking import Methods, ask_member


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPath:
    """A path whose parameter counts what is built one after another, each from the ones before it.

    Law: nothing that is built or drawn before place m depends on how many are to come.
    """

    name: str
    parameter: str
    takes_type: Callable[[type], bool]
    refuses: Callable[[Any], str | None]  # of one unfitted estimator; what it says holds for the whole group
    members: Callable[[Any, Sequence[int], Any, Methods], Iterator[Any]]  # predictors of rising sizes, from the fitted

    def takes(self, estimator: Any) -> bool:
        return self.takes_type(type(estimator))

    def value_of(self, estimator: Any) -> Any:
        return estimator.get_params(deep=False).get(self.parameter)

    def lane(self, value: Any) -> Hashable:
        return "counts" if is_count(value) else ("no count", repr(value))

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        for estimator in estimators:
            if not is_count(self.value_of(estimator)):
                return f"{self.parameter}={self.value_of(estimator)!r} is no count from 1."
        return seed_refusal(estimators[0]) or self.refuses(estimators[0])

    def order(self, values: Sequence[Any]) -> list[int]:
        return sorted(range(len(values)), key=lambda place: -values[place])

    def start(self, estimator: Any) -> Any:
        return estimator

    def responses(self, fitted: Any, values: Sequence[Any], X: Any, methods: Methods) -> Iterator[Responses]:
        sizes = sorted({int(value) for value in values})
        members = dict(zip(sizes, self.members(fitted, sizes, X, methods), strict=True))
        for value in values:
            yield ask_member(members[int(value)], X, methods)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 1.

    >>> is_count(3), is_count(0), is_count(3.0), is_count(True)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def seed_refusal(estimator: Any) -> str | None:
    """A random_state must be a seed, or unset and about to be given one: a generator would be used up by one fit."""
    state = getattr(estimator, "random_state", None)
    if state is None or isinstance(state, Integral):
        return None
    return f"random_state is a {type(state).__name__}, not a seed."


def warm_start_refusal(estimator: Any) -> str | None:
    """A warm start goes on from what was fitted before, so that a fit is not its parameters' alone."""
    return "warm_start=True goes on from an earlier fit." if estimator.warm_start else None


def exactly(*types: type) -> Callable[[type], bool]:
    """Whether a type is one of these, not a subclass, which may do anything."""
    return frozenset(types).__contains__


def named(package: str, *names: str) -> Callable[[type], bool]:
    """Whether a type is one of these classes of a package that need not be installed."""

    def is_one(kind: type) -> bool:
        return kind.__module__.split(".")[0] == package and kind.__qualname__ in names

    return is_one
