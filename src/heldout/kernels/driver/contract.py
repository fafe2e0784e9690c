"""The base class of the driver's kernels, and readers of estimator parameters that word refusals."""

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
    """Return one finite number from 0 to `most`. Raise Refuse for any other value."""
    if not is_number(value) or float(value) > most:
        raise Refuse(f"{name}={value!r} is no number from 0 up" + ("" if most == np.inf else f" to {most:g}"))
    return float(value)


def is_number(value: Any) -> bool:
    """Return whether a value is one finite number from 0 up."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number from 1 up."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def read_flag(name: str, value: Any) -> bool:
    if type(value) not in (bool, np.bool_):
        raise Refuse(f"{name}={value!r} is neither True nor False")
    return bool(value)


def read_priors(priors: Any, task: Task) -> tuple[float, ...] | None:
    """Return a number above 0 for each class, or None if `priors` is None. Raise Refuse for anything else."""
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
    """Declares what a form requires of a task. The driver checks it and words the refusal."""

    classes: bool = False  # y is one class a row, of at least two
    numbers: bool = False  # y is made of plain numbers
    one_output: bool = False  # y has one column
    weights: bool = True  # whether sample weights are understood
    float32: bool = True  # whether float32 columns are answered
    columns: bool = True  # whether picked or scaled columns are answered
    matrix: MatrixSource | None = None  # how the matrix that is summed is made of X
    largest: int | None = None  # bytes that the sums of one set of rows may take


class HeldOutNumbers(NamedTuple):
    """Holds what candidates answer on one held-out part, and for which of them the kernel is reliable."""

    training: Training
    held: Held
    numbers: Numbers
    reliable: Bools  # candidates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Candidates that are answered together: they share form and columns, and differ in path parameters."""

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
    """Base class of kernels that answer many training sets of one learner family from sums over rows.

    The class attributes and the abstract methods are its declaration; the other methods have defaults.
    """

    name: ClassVar[str]  # also the name of the rule that uses the kernel
    tier: ClassVar[str] = "rounding"
    models: ClassVar[Mapping[type, tuple[str, ...]]]  # types of the last step, and the parameters along the path
    words: ClassVar[str]  # the names of the models, for refusals
    response_methods: ClassVar[tuple[str, ...]] = ("predict",)
    leaves_rows_out: ClassVar[bool] = False  # whether it may answer leave-one-out from one decomposition

    @abstractmethod
    def read(self, model: Any, task: Task) -> Any:
        """Return a candidate's form: its model without the path parameters, hashable. Raise Refuse if not answered."""

    def value(self, form: Any, *raw: Any) -> Any:
        """Return the place on the path that the path parameters give. Raise Refuse if they are not answered."""
        return 0.0

    @abstractmethod
    def needs(self, form: Any) -> Needs:
        """Return what the form requires of a task."""

    @abstractmethod
    def layout(self, form: Any) -> Layout:
        """Return which sums the form needs. Forms of equal layout share them, also across kernels."""

    def methods(self, form: Any) -> tuple[str, ...]:
        """Return the response methods that an estimator of this form has."""
        return self.response_methods

    def dtype(self, form: Any, columns: Columns, task: Task) -> np.dtype[Any]:
        """Return the dtype of numeric predictions."""
        return np.dtype(np.float64)

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Any:
        """Return the predictors of one training set from its sums; `rows` are given if these are about their own means.

        Raise LostDigits if sums about their own means are needed, Undecided if only brute force can answer.
        """
        raise NotImplementedError

    def learns_from_rows(self, group: Group, rows: int) -> bool:
        """Return whether training sets of this many rows are learned from the rows, instead of from sums."""
        return False

    def learn_from_rows(self, group: Group, rows: Rows) -> Any:
        """Return the predictors of one training set from its rows. Raise LostDigits or Undecided for brute force."""
        raise NotImplementedError

    def respond(self, group: Group, learned: Any, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        """Return numbers on held-out rows, and the candidates whose rounding errors stay within the tier."""
        raise NotImplementedError

    def empty(self, group: Group, rows: int) -> Numbers:
        """Return placeholder numbers of the right shape, for a training set that brute force answers."""
        return (np.zeros((rows, len(group.values), group.data.Y.shape[1])),)

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        """Return what an estimator answers, one for each candidate. By default the numbers are the predictions."""
        return number_responses(group.work.task, numbers[0], group.dtype)

    def solve(self, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers] | None:
        """Return all held-out parts of a batch if its training sets are solved together; None: one at a time."""
        return None

    def can_leave_one_out(self, group: Group, rows: int) -> bool:
        """Return whether leave-one-out of this many rows is answered from the sums of all of them."""
        return False

    def leave_one_out(
        self, group: Group, total: Sums, rows: Rows | None, held: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        """Return numbers on each held row by a fit on all others, and which are reliable: rows × candidates.

        `rows` are given if `total` is about their own means. Raise LostDigits or Undecided as `learn` does.
        """
        raise NotImplementedError

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        """Return why training sets of this many rows are left to brute force, or None."""
        return None

    def bytes_of_value(self, group: Group) -> int:
        """Return the bytes of memory that one candidate takes in one training set; 0 if they are few."""
        return 0

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        """Return how many fits a candidate plans count for leave-one-out of this many rows; None: one a row."""
        return None

    def ignores_origin(self, form: Any) -> bool:
        """Return whether responses stay the same, apart from rounding, if a constant is added to a column."""
        return False
