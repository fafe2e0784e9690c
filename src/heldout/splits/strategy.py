"""What every strategy is: a frozen value that can draw splits from a task, and says in its repr how it was asked."""

from __future__ import annotations

from dataclasses import MISSING, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, runtime_checkable

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.task import Task

AUTO = "auto"


@runtime_checkable
class Strategy(Protocol):
    """A way to hold rows out. The rows it gives for one task are :class:`~heldout.splits.drawn.Splits`."""

    inner_ok_under_partition: ClassVar[bool]
    """False where the strategy names rows of the whole task, so that it cannot follow an outer K-fold inside."""

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Hold out some of `rows` (ascending row numbers of the task), by `seed` in [0, 2**32) alone."""
        ...


def takes_seed(strategy: Strategy) -> bool:
    """Whether `seed` has a say in what a strategy draws: one that has none need not wait for the rows to be hashed.

    A strategy says so by `seeded = False`; of one that says nothing it is taken that chance has a part.
    """
    return bool(getattr(strategy, "seeded", True))


def shown(strategy: Any) -> str:
    """The call that makes this strategy, without the arguments left at their defaults.

    >>> from heldout.splits import KFold
    >>> KFold(5, repeats=3)
    KFold(5, repeats=3)
    """
    said = []
    for place, field in enumerate(fields(strategy)):
        value = getattr(strategy, field.name)
        if place == 0 and not field.kw_only and value is not None:
            said.append(repr(value))
        elif field.default is MISSING or value != field.default:
            said.append(f"{field.name}={value!r}")
    return f"{type(strategy).__name__}({', '.join(said)})"


def whole_number(value: object, *, least: int, what: str) -> int:
    """`value` as an int, refused when it is a bool, a fraction or below `least`.

    >>> whole_number(5, least=2, what="KFold(k=…)")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SplitError(f"{what} must be a whole number, but is {value!r}. Pass one that is at least {least}.")
    if value < least:
        raise SplitError(f"{what} must be at least {least}, but is {value}.")
    return int(value)


def share_of_rows(value: object, *, what: str) -> float:
    """`value` as a share strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise SplitError(f"{what} must be a share between 0 and 1, but is {value!r}. For 20% pass 0.2.")
    return float(value)


def check_stratify(value: object, *, who: str) -> None:
    """`stratify` is "auto", True or False."""
    if not isinstance(value, bool) and value != AUTO:
        raise SplitError(f"{who}: stratify must be 'auto', True or False, but is {value!r}.")


def check_shuffle(value: object, *, who: str) -> None:
    """`shuffle` is None (the default, which time turns off), True or False."""
    if value is not None and not isinstance(value, bool):
        raise SplitError(f"{who}: shuffle must be True or False, but is {value!r}.")
