"""What a kernel declares to the driver, and readers of estimator parameters with the words of a refusal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.designs.linear import number_responses
from heldout.kernels.step import Held, Training, Work
from heldout.kernels.sums.dataset import Dataset, Layout, MatrixSource
from heldout.kernels.sums.rounding import Bools, Refuse
from heldout.kernels.sums.training_sums import Sums, TrainingSums
from heldout.kernels.threads import Spread
from heldout.search.search import Search
from heldout.task.task import Task


def read_number(name: str, value: Any, most: float = np.inf) -> float:
    """One number from 0 up."""
    if not is_number(value) or float(value) > most:
        raise Refuse(f"{name}={value!r} is no number from 0 up" + ("" if most == np.inf else f" to {most:g}"))
    return float(value)


def is_number(value: Any) -> bool:
    """Whether it is one finite number from 0 up."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 1 up."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def read_flag(name: str, value: Any) -> bool:
    if type(value) not in (bool, np.bool_):
        raise Refuse(f"{name}={value!r} is neither True nor False")
    return bool(value)


def read_priors(priors: Any, task: Task) -> tuple[float, ...] | None:
    """One number above 0 for each class."""
    if priors is None:
        return None
    try:
        numbers = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise Refuse("priors are no numbers") from None
    fits = task.classes is not None and numbers.shape == task.classes.shape
    if not fits or not np.isfinite(numbers).all() or (numbers <= 0).any():
        raise Refuse("priors are not one number above 0 for each class")
    return tuple(numbers.tolist())


Numbers = tuple[NDArray[Any], ...]  # arrays of held-out rows × candidates × …; only their kernel knows what they mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a form asks of a task. The driver checks it and words the refusal."""

    classes: bool = False  # y is one class a row, of at least two
    numbers: bool = False  # y is made of plain numbers
    one_output: bool = False  # y has one column
    weights: bool = True  # whether sample weights are understood
    float32: bool = True  # whether columns of single precision are
    columns: bool = True  # whether picked or scaled columns are
    matrix: MatrixSource | None = None  # how the matrix that is summed is made of X
    largest: int | None = None  # bytes that the sums of one set of rows may take


class HeldOutNumbers(NamedTuple):
    """What candidates answer on one held-out part, and which of them the kernel vouches for."""

    training: Training
    held: Held
    numbers: Numbers
    reliable: Bools  # candidates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Candidates that are answered together: they have one form and the same columns, and differ along the path."""

    form: Any
    columns: Columns
    candidates: tuple[int, ...]
    values: Any  # along the path, one a candidate
    data: Dataset
    sums: TrainingSums
    work: Work
    spread: Spread
    methods: Mapping[str, frozenset[str]]  # response methods that losses ask for, by level
    dtype: np.dtype[Any]  # of predictions that are numbers

    @property
    def all_methods(self) -> frozenset[str]:
        return frozenset().union(*self.methods.values())


class Kernel(ABC):
    """A kernel that answers many training sets of one learner family from sums over rows.

    The class attributes and the abstract methods are its declaration; the other methods have defaults.
    """

    name: ClassVar[str]  # also of the rule that uses the kernel
    tier: ClassVar[str] = "rounding"
    models: ClassVar[Mapping[type, tuple[str, ...]]]  # types of the last step, and the parameters along the path
    words: ClassVar[str]  # the names of the models, for refusals
    response_methods: ClassVar[tuple[str, ...]] = ("predict",)
    leaves_rows_out: ClassVar[bool] = False  # whether it may answer leave-one-out from one decomposition

    @abstractmethod
    def read(self, model: Any, task: Task) -> Any:
        """The form of a candidate: all of its last step but the path parameters, hashable. Raises Refuse."""

    def value(self, form: Any, *raw: Any) -> Any:
        """The value along the path, from the path parameters. Raises Refuse."""
        return 0.0

    @abstractmethod
    def needs(self, form: Any) -> Needs:
        """What the form asks of a task."""

    @abstractmethod
    def layout(self, form: Any) -> Layout:
        """Which sums it needs. Forms, and kernels, of equal layout share them."""

    def methods(self, form: Any) -> tuple[str, ...]:
        """The response methods that an estimator of this form has."""
        return self.response_methods

    def dtype(self, form: Any, columns: Columns, task: Task) -> np.dtype[Any]:
        """The type of predictions that are numbers."""
        return np.dtype(np.float64)

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Any:
        """The predictors of one training set from its sums; `rows` are given where these are about their own means.

        Raises LostDigits where sums about their own means are needed, Undecided where only brute force will do.
        """
        raise NotImplementedError

    def learns_from_rows(self, group: Group, rows: int) -> bool:
        """Whether a training set of so many rows is learned from the rows themselves, not from sums."""
        return False

    def learn_from_rows(self, group: Group, rows: Rows) -> Any:
        """The predictors of one training set from its rows. Raises LostDigits or Undecided where brute force must."""
        raise NotImplementedError

    def respond(self, group: Group, learned: Any, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        """Numbers on held-out rows, and the candidates whose rounding errors stay within the tier."""
        raise NotImplementedError

    def empty(self, group: Group, rows: int) -> Numbers:
        """Numbers of the right shape, for a training set that brute force answers."""
        return (np.zeros((rows, len(group.values), group.data.Y.shape[1])),)

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        """What an estimator answers, one for each candidate. By default numbers are predictions."""
        return number_responses(group.work.task, numbers[0], group.dtype)

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers] | None:
        """All held-out parts of a batch, for a kernel that solves training sets side by side; None: one by one."""
        return None

    def can_leave_one_out(self, group: Group, rows: int) -> bool:
        """Whether leaving out each of so many rows is answered from all of them."""
        return False

    def leave_one_out(
        self, group: Group, total: Sums, rows: Rows | None, held: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        """Numbers on each held row by a fit on all others, and which are reliable: rows × candidates.

        `rows` are given where `total` is about their own means. Raises LostDigits or Undecided as `learn` does.
        """
        raise NotImplementedError

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        """Why training sets of so many rows are left to brute force, or None."""
        return None

    def bytes_of_value(self, group: Group) -> int:
        """Working memory that one candidate takes in one training set, where that may be much."""
        return 0

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        """How many fits a candidate the leave-one-out of so many rows counts as in plans; None: as many as rows."""
        return None

    def ignores_origin(self, form: Any) -> bool:
        """Whether responses stay the same, rounding apart, whatever is added to a column."""
        return False
