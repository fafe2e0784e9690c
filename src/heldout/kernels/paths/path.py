"""A path: one parameter of an estimator for which a single fit gives all values, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from heldout.base.responses import Responses
from heldout.kernels.scoring import ask_responses

Methods = Sequence[tuple[str, ...]]
Members = Callable[[Any, Sequence[Any], Any, Methods], Iterable[Any]]  # the fitted, values, rows, what will be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Declares a parameter for which one fit answers many values. Tier: identical.

    Use: group estimators that are equal but for the parameter and whose values have one `lane`; ask `refusal`; fit
    `start` of the estimator that `cut` puts first; ask `responses`. If any of these raises, brute force answers the
    group value by value, so that each candidate keeps its own failure.
    """

    name: str  # the rule's name: "forest prefix"
    parameter: str
    takes_type: Callable[[type], bool]
    shares: Callable[[Any], bool]  # whether a value can be read off the fit of another
    other_value: str  # what a value is that cannot
    rank: Callable[[Any], float]  # the value of lowest rank is fitted
    members: Members  # a predictor for each value, by rising rank
    refuses: Callable[[Any], str | None] = lambda estimator: None  # of one unfitted estimator, for the whole group
    grow: Callable[[Any], Any] = lambda estimator: estimator  # the estimator to fit, from that of lowest rank

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters in which estimators of a group may differ."""
        return (self.parameter,)

    def takes(self, estimator: Any) -> bool:
        """Return whether this path is for estimators of this exact type."""
        return self.takes_type(type(estimator))

    def value_of(self, estimator: Any) -> Any:
        """Return the parameter's value in an unfitted estimator."""
        return estimator.get_params(deep=False).get(self.parameter)

    def lane(self, value: Any) -> Hashable:
        """Return a key for the value. Values with different keys never come from one fit and are grouped apart."""
        return "shared" if self.shares(value) else ("apart", repr(value))

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        """Return why these unfitted estimators, equal but for the parameter, cannot share a fit; None if they can."""
        for value in map(self.value_of, estimators):
            if not self.shares(value):
                return f"{self.parameter}={value!r} {self.other_value}."
        return seed_refusal(estimators[0]) or self.refuses(estimators[0])

    def cut(self, values: Sequence[Any]) -> list[list[int]]:
        """Group the positions of values that are answered together. The value to fit comes first in its group."""
        return [sorted(range(len(values)), key=lambda place: self.rank(values[place]))]

    def by_fit(self, values: Sequence[Any]) -> list[list[int]]:
        """Group the positions of values that are read off the same fit."""
        return [list(range(len(values)))]

    def start(self, estimator: Any, values: Sequence[Any]) -> Any:
        """Return an unfitted estimator to fit, made from the one whose value comes first, which stays unchanged."""
        return self.grow(estimator)

    def responses(self, fitted: Any, values: Sequence[Any], X: Any, methods: Methods) -> Iterator[Responses]:
        """Yield, for each value in turn, what an estimator fitted with it would answer on X."""
        ordered = sorted(set(values), key=self.rank)
        found = dict(zip(ordered, self.members(fitted, ordered, X, methods), strict=True))
        for value in values:
            yield ask_member(found[value], X, methods)


def count_path(
    name: str,
    parameter: str,
    takes_type: Callable[[type], bool],
    members: Members,
    refuses: Callable[[Any], str | None] = lambda estimator: None,
) -> Path:
    """Return a path over the number of members or rounds: the first m of a larger ensemble are the ensemble of m.

    Law: nothing that is built or drawn before position m depends on how many are to come. `members` takes rising sizes.
    """

    def by_falling_size(fitted: Any, values: Sequence[Any], X: Any, methods: Methods) -> list[Any]:
        return [*members(fitted, [int(value) for value in reversed(values)], X, methods)][::-1]

    return Path(
        name=name,
        parameter=parameter,
        takes_type=takes_type,
        shares=is_count,
        other_value="is no count from 1",
        rank=lambda value: -value,
        members=by_falling_size,
        refuses=refuses,
    )


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number from 1 up.

    >>> is_count(3), is_count(0), is_count(3.0), is_count(True)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def seed_refusal(estimator: Any) -> str | None:
    """Return why one fit cannot serve if random_state is a generator, which each fit would change; else None."""
    state = getattr(estimator, "random_state", None)
    if state is None or isinstance(state, Integral):
        return None
    return f"random_state is a {type(state).__name__}, not a seed."


def exactly(*types: type) -> Callable[[type], bool]:
    """Return a function that tells if a type is exactly one of these: a subclass may do anything."""
    return frozenset(types).__contains__


def ask_member(member: Any, X: Any, methods: Methods) -> Responses:
    """Return what a member answers, by the same rules as for any predictor."""
    return ask_responses(member, X, methods, np.arange(X.shape[0] if hasattr(X, "shape") else len(X)))


def stand_in(fitted: Any, replaced: Mapping[str, Any]) -> Any:
    """Return a shallow copy of a fitted estimator, with some attributes or methods replaced.

    The rest of it, such as how probabilities become classes, stays scikit-learn's own code.
    """
    member = copy(fitted)
    for name, value in replaced.items():
        setattr(member, name, value)
    return member


class Answering:
    """A method that returns a known answer, whatever its arguments."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, *_: Any, **__: Any) -> Any:
        # Callers may write into what they get.
        return self._answer.copy() if isinstance(self._answer, np.ndarray) else self._answer
