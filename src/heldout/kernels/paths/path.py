"""What a path is: one parameter of an estimator, all values of which come from a single fit, bit for bit."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Protocol

from heldout.base.responses import Responses


class Path(Protocol):
    """A parameter that need not be fitted value by value. Tier: identical.

    Use: group estimators that are equal but for the parameter and whose values lie in one lane; ask `refusal`; fit
    ``start(the estimator with the value that order puts first)``; ask `responses`. Whatever raises on the way sends
    the group back to brute force, value by value, so that each candidate keeps its own failure.
    """

    @property
    def name(self) -> str:
        """The rule's name: "forest prefix"."""
        ...

    @property
    def parameter(self) -> str:
        """The parameter that is read off: "n_estimators"."""
        ...

    def takes(self, estimator: Any) -> bool:
        """Whether this path is about estimators of this exact type."""
        ...

    def value_of(self, estimator: Any) -> Any:
        """The parameter's value in an unfitted estimator."""
        ...

    def lane(self, value: Any) -> Hashable:
        """Values of different lanes never come from one fit, and are grouped apart."""
        ...

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        """Why these unfitted estimators, equal but for the parameter, cannot come from one fit; None if they can."""
        ...

    def order(self, values: Sequence[Any]) -> list[int]:
        """Places of the values, the one that must be fitted first."""
        ...

    def start(self, estimator: Any) -> Any:
        """The unfitted estimator to fit, from the one whose value comes first; that one is left as it was."""
        ...

    def responses(
        self, fitted: Any, values: Sequence[Any], X: Any, methods: Sequence[tuple[str, ...]]
    ) -> Iterator[Responses]:
        """For each value in turn, what an estimator fitted with it would answer on X."""
        ...
