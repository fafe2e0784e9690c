"""What a path is: one parameter of an estimator, all values of which come from a single fit, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from heldout.base.responses import Responses


class Path(Protocol):
    """A parameter that need not be fitted value by value. Tier: identical."""

    name: str  # the rule's name: "forest prefix"
    parameter: str  # "n_estimators"

    def takes(self, estimator: Any) -> bool:
        """Whether this path is about estimators of this exact type."""
        ...

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        """Why these unfitted estimators, equal but for the parameter, cannot come from one fit; None if they can."""
        ...

    def order(self, values: Sequence[Any]) -> list[int]:
        """Places of the values, the one that must be fitted first."""
        ...

    def responses(
        self, fitted: Any, values: Sequence[Any], X: Any, methods: Sequence[tuple[str, ...]]
    ) -> Iterator[Responses]:
        """For each value in turn, what an estimator fitted with it would answer on X."""
        ...
