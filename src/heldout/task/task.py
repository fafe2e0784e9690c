"""The task: X, y and the roles of rows, declared once and used at every level of splitting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError, RoleError, TargetError, did_you_mean
from heldout.base.rowkeys import Hashes, Rows, index_hashes, key_of
from heldout.base.words import listed
from heldout.task.arrays import (
    Kind,
    column,
    column_names,
    container_kind,
    is_frame,
    is_pandas,
    is_polars,
    refuse_twice,
    take_rows,
    without_columns,
)
from heldout.task.features import accept_features, check_features, freeze_features, read_only
from heldout.task.hashing import row_hashes, target_hashes, task_fingerprint
from heldout.task.roles import END, accept_end, accept_labels, accept_time, accept_weight, split_time
from heldout.task.source import source_of_now
from heldout.task.target import accept_target, check_target


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Holds X, y and the roles of rows, read-only. Made and checked by :func:`heldout.task.task.declare`.

    `X` stays in the user's container (numpy, scipy sparse, pandas, polars, or a 1-d array of objects such as texts), so
    that learners see the feature names and types they expect.
    """

    row_name: ClassVar[str] = "rows"  # what a row stands for, in descriptions of splits

    X: Any
    y: NDArray[Any]  # (n,) or (n, outputs)
    classification: bool  # the learner predicts classes, so zero-one is the natural loss and strata are the classes
    groups: NDArray[np.intp] | None = None  # codes 0..G-1
    group_names: tuple[Any, ...] = ()  # what the codes stand for
    time: NDArray[Any] | None = None  # numbers or datetime64: when a row was seen, or when its outcome begins
    time_end: NDArray[Any] | None = None  # when its outcome ends, where it spans an interval; in the type of `time`
    weight: NDArray[np.float64] | None = None
    strata: NDArray[np.intp] | None = None  # codes; None means the classes of y, where there are any
    columns: tuple[str, ...] | None = None  # names, where X has them
    frame: str = "pandas"  # which library result tables are made with: "pandas" or "polars"
    target: str | None = None  # the name of y, for people, as all below; the fingerprint knows none of it
    source: str | None = None  # the file that was read
    read_as: str = ""  # how it was read, where that is not the usual way

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return len(self.y)

    def __len__(self) -> int:
        return self.size

    @cached_property
    def container(self) -> Kind:
        """The kind of container of X."""
        return container_kind(self.X)

    @cached_property
    def n_columns(self) -> int | None:
        """The number of columns of X, or None for a sequence of objects."""
        shape: tuple[int, ...] = self.X.shape
        return int(shape[1]) if len(shape) > 1 else None

    @cached_property
    def classes(self) -> NDArray[Any] | None:
        """The sorted labels of a single-output classification target, else None."""
        return np.unique(self.y) if self.classification and self.y.ndim == 1 else None

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Results that kernels keep for this task, by their own keys. It is not pickled."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "memo"}

    @cached_property
    def all_rows(self) -> Rows:
        rows = np.arange(self.size, dtype=np.intp)
        rows.setflags(write=False)
        return rows

    @cached_property
    def row_hashes(self) -> Hashes:
        """A 128-bit hash of each row's content (X and y). Seeds depend on it."""
        return row_hashes(self.X, self.y)

    @cached_property
    def index_hashes(self) -> Hashes:
        """A 128-bit hash of each row's number. It identifies sets of rows within this task."""
        return index_hashes(self.size)

    @cached_property
    def fingerprint(self) -> str:
        """A hash, in 32 hex digits, of the content of the whole task, including roles and row order."""
        return task_fingerprint(self)

    def content_key(self, rows: Rows) -> int:
        """Return the key of the content of these rows. It is the same in any task that contains the same rows."""
        return key_of(self.row_hashes, rows)

    def target_key(self, rows: Rows) -> int:
        """Return the key of the targets of these rows. It does not depend on their numbers or columns."""
        return key_of(target_hashes(self.y[rows]), np.arange(len(rows)))

    def take(self, rows: Rows) -> Any:
        """Return a private copy of these rows of X, in the user's container."""
        return take_rows(self.X, rows)


def declare(
    X: Any,
    y: Any,
    *,
    classification: bool,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
) -> Task:
    """Check X, y and the roles of rows, and bind them into a task.

    Parameters
    ----------
    X : array, scipy sparse matrix, pandas or polars data frame, pyarrow table, list of rows, or texts
        What is learned from. It is not copied, and stays in the user's own container, except that sparse
        matrices become CSR, pyarrow tables pandas frames, and lists arrays. Missing values are allowed.
    y : array, list, series or name of a column of X
        What is learned, one value a row, or one row of outputs a row.
    classification : bool
        Whether the learner predicts classes.
    groups, time, sample_weight, strata : array, list, series or name of a column of X, optional
        The roles of rows. A column that is named leaves X. `time` may be a pair (start, end) of those, or a frame or
        array with two columns, where an outcome spans an interval.

    Its arrays are read-only views; the user's own arrays keep their flags.

    Examples
    --------
    >>> task = declare([[1.0], [2.0], [3.0]], ["no", "yes", "no"], classification=True, groups=["a", "a", "b"])
    >>> len(task), task.groups.tolist(), task.group_names
    (3, [0, 0, 1], ('a', 'b'))
    """
    if strata is not None and time is not None and groups is None:
        raise RoleError(
            "strata= cannot be kept together with time=: a block of time holds what its time holds. Leave strata out, "
            "or time; with groups= declared too, groups are dealt by their strata."
        )
    target, source = _name_of(y), source_of_now()
    start, end = (None, None) if time is None else split_time(time)
    given = {"y": y, "groups": groups, "time": start, END: end, "sample_weight": sample_weight, "strata": strata}
    _check_indexes({"X": X, **given})
    X, given = named_columns_out(accept_features(X), given)
    check_features(X)
    values: dict[str, Any] = {"y": accept_target(given["y"])}
    names: tuple[Any, ...] = ()
    if groups is not None:
        values["groups"], names = accept_labels("groups", given["groups"])
    if time is not None:
        values["time"] = accept_time(given["time"])
    if sample_weight is not None:
        values["weight"] = accept_weight(given["sample_weight"])
    if strata is not None:
        values["strata"], _ = accept_labels("strata", given["strata"])
    if end is not None:
        values["time"], values["time_end"] = accept_end(given[END], values["time"])
    _check_lengths(X.shape[0], values)
    check_target(values["y"], classification=classification, weight=values.get("weight"))
    return Task(
        X=freeze_features(X),
        classification=classification,
        group_names=names,
        columns=column_names(X),
        frame="polars" if is_polars(X, "DataFrame") else "pandas",
        target=target,
        source=source.name,
        read_as=source.read_as,
        **{name: read_only(value) for name, value in values.items()},
    )


def _name_of(y: Any) -> str | None:
    """Return the name of a target: the column that it names or is, if any."""
    if is_frame(y):
        return listed(list(map(str, y.columns)), 3)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def named_columns_out(X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Replace column names by the columns themselves, and remove these columns from X."""
    named = {role: name for role, name in given.items() if isinstance(name, str)}
    if not named:
        return X, given
    for role, name in named.items():
        error = TargetError if role == "y" else RoleError
        if not is_frame(X):
            raise error(f"{role}={name!r} names a column, but X has no column names. Pass {role} as an array.")
        if name not in X.columns:
            hint = did_you_mean(name, [str(known) for known in X.columns])
            raise error(f"{role}={name!r} is no column of X. {hint}")
        refuse_twice([known for known in X.columns if known == name], "X")
    places = {name: list(X.columns).index(name) for name in named.values()}
    columns = {role: column(X, places[name]) for role, name in named.items()}
    return without_columns(X, set(places)), given | columns


def _check_indexes(given: dict[str, Any]) -> None:
    """Raise an InputError if pandas objects of equal length have different indexes, so that their order is unclear."""
    labelled = {role: v for role, v in given.items() if is_pandas(v, "Series", "DataFrame")}
    if len(labelled) < 2:
        return
    (first, reference), *others = labelled.items()
    for role, values in others:
        if len(values) == len(reference) and not reference.index.equals(values.index):
            raise InputError(
                f"{first} and {role} have different indexes (first labels {reference.index[:3].tolist()} and "
                f"{values.index[:3].tolist()}), so it is unclear which rows belong together. Align them with "
                f"{role} = {role}.loc[{first}.index], or pass {role}.to_numpy() if they are in the same order."
            )


def _check_lengths(n: int, values: dict[str, Any]) -> None:
    for name, v in values.items():
        if len(v) != n:
            error = TargetError if name == "y" else RoleError
            role = {"weight": "sample_weight", "time_end": END}.get(name, name)
            raise error(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows, but {role} has {len(v)}."
            )
