"""`draw`: draws the splits of a task without a study, to look at, save and use again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.api.question import seed_of_test, strategy_for
from heldout.base.errors import InputError, OptionError
from heldout.base.findings import Finding
from heldout.base.registered import registered
from heldout.data.stream import is_stream, table_of
from heldout.report.show import as_html, as_text
from heldout.results.storage import SplitsDescription, read_splits, save_splits
from heldout.results.tables import as_frame
from heldout.splits import Splits
from heldout.splits.saved import SavedSplits, TaskIdentity
from heldout.task import Task, declare
from heldout.task.arrays import column, is_frame
from heldout.task.features import accept_features
from heldout.task.target import accept_target, looks_like_classes

RowNumbers = NDArray[np.intp]


class SplitsSummary:
    """Drawn splits in numbers. Print it to read it.

    Attributes
    ----------
    frame : data frame
        A row for each part: rows trained on, held out, unused and of these taken by a buffer; the effective training
        size, which is below the number of rows where weights differ; groups and times of both sides where declared.
    shares : data frame
        A row for each part, side and class (or stratum): its rows, its share, and its share of all rows.
    totals : dict
        The same over all parts, as plain values.
    """

    def __init__(self, description: SplitsDescription) -> None:
        self._description = description

    @cached_property
    def frame(self) -> Any:
        return as_frame(self._description.summary.parts, library=self._description.frame)

    @cached_property
    def shares(self) -> Any:
        return as_frame(self._description.summary.shares, library=self._description.frame)

    @property
    def totals(self) -> dict[str, Any]:
        return dict(self._description.summary.totals)

    def __str__(self) -> str:
        return as_text("splits summary", self._values())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html("splits summary", self._values())

    def _values(self) -> dict[str, Any]:
        summary = self._description.summary
        return {"words": summary.words, "parts": summary.parts, "totals": summary.totals}


@registered
class DrawnSplits:
    """The rows that were drawn from one task: immutable, saved as plain data, and refused for any other task.

    Made by :func:`heldout.draw` and :func:`heldout.load_splits`; those of a study are ``result.splits``. Pass them as
    ``test=`` to hold out the same rows again. To scikit-learn they are an iterable of pairs, so they serve as ``cv=``.

    Attributes
    ----------
    words : str
        How they were drawn.
    fingerprint, task_fingerprint : str
        What tells these rows, and their task, from others.
    """

    inner_ok_under_partition: ClassVar[bool] = False

    def __init__(
        self, saved: SavedSplits, *, task: Task | None = None, description: SplitsDescription | None = None
    ) -> None:
        self.saved = saved
        self._task = task
        if description is not None:
            self.description = description

    @classmethod
    def of(cls, task: Task, splits: Splits) -> DrawnSplits:
        """Return splits that were just drawn from this task."""
        return cls(SavedSplits(splits=splits, origin=TaskIdentity.of(task)), task=task)

    @cached_property
    def description(self) -> SplitsDescription:
        """The summary and the picture as plain data: counted when first asked for, or read from a file."""
        assert self._task is not None  # without a task the description was given
        return SplitsDescription.of(self._task, self.saved.splits)

    @property
    def words(self) -> str:
        return self.saved.splits.recipe.words

    @property
    def fingerprint(self) -> str:
        return self.saved.splits.fingerprint

    @property
    def task_fingerprint(self) -> str:
        return self.saved.origin.fingerprint

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Classes or strata that the parts cannot all have in their shares, as warnings with the code H101."""
        notes = self.description.summary.totals.get("notes", ())
        return tuple(Finding(code="H101", severity="warning", message=str(note)) for note in notes)

    def __len__(self) -> int:
        return len(self.saved.splits)

    def __iter__(self) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """Pairs of training rows and held-out rows, as row numbers."""
        return ((self.train_rows(part), self.held_rows(part)) for part in range(len(self)))

    def train_rows(self, part: int) -> RowNumbers:
        """The rows that part number `part` trains on."""
        return self.saved.splits.train_rows(self._checked(part))

    def held_rows(self, part: int) -> RowNumbers:
        """The rows that part number `part` holds out."""
        return self.saved.splits.held_rows(self._checked(part))

    def draw(self, task: Task, rows: RowNumbers, *, seed: int) -> Splits:
        """The same rows again, as any strategy is asked for them; refused for another task."""
        return self.saved.draw(task, rows, seed=seed)

    def summary(self) -> SplitsSummary:
        """Rows, groups and class shares of every part, what buffers threw away, and the training size that is left."""
        return SplitsSummary(self.description)

    def plot(self, ax: Any = None) -> Any:
        """A picture of who is held out when, on matplotlib axes, which are returned. Needs matplotlib."""
        from heldout.report.figures.splits import draw_picture

        return draw_picture(self.description.picture, ax)

    def save(self, path: str | Path) -> None:
        """Write the rows, with the fingerprint of their task, to one file that :func:`heldout.load_splits` reads."""
        save_splits(self.saved, self.description, path)

    def _checked(self, part: int) -> int:
        if not 0 <= part < len(self):
            raise OptionError(f"There is no part {part!r}: these splits have parts 0 to {len(self) - 1}.")
        return part

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DrawnSplits):
            return NotImplemented
        return (self.fingerprint, self.task_fingerprint) == (other.fingerprint, other.task_fingerprint)

    def __hash__(self) -> int:
        return hash((self.fingerprint, self.task_fingerprint))

    def __repr__(self) -> str:
        return f"<DrawnSplits: {self.words}; {len(self)} part{'s' if len(self) > 1 else ''}>"

    def _repr_html_(self) -> str:
        splits = self.saved.splits
        return as_html(
            "splits",
            {
                "words": self.words,
                "train_rows": splits.train_sizes.tolist(),
                "held_rows": splits.held_sizes.tolist(),
                "fingerprint": self.fingerprint,
                "task_fingerprint": self.task_fingerprint,
            },
        )


def draw(
    test: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    classification: bool | None = None,
    seed: int = 0,
) -> DrawnSplits:
    """Draw splits from a task on their own: to look at, to save, to use in several studies.

    They are the splits that :func:`heldout.evaluate` draws from the same data with the same `test` and `seed`.

    Parameters
    ----------
    test : int, splitter or pairs of row arrays; or None
        How rows are held out, as ``evaluate(test=…)`` takes it. None: ``KFold(5)``, or ``Forward(5)`` with time.
    X, y, groups, time, sample_weight, strata
        The data and the roles of rows, as in :func:`heldout.evaluate`.
    classification : bool, optional
        Whether y is classes, which are kept in their shares. None decides by what y looks like: text, booleans and a
        few whole numbers are classes.
    seed : int
        Decides what is left to chance.

    Returns
    -------
    DrawnSplits

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> splits = ho.draw(ho.KFold(5), X, y)
    >>> print(splits.summary())
    5-fold, stratified, shuffled: 5 parts of 150 rows
      part  trains on  holds out  unused
         0        120         30       0
         1        120         30       0
         2        120         30       0
         3        120         30       0
         4        120         30       0
    training size 120, 80.0% of the rows
    3 classes: held-out shares are those of all rows to within 0.0 points, training shares to within 0.0
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise OptionError(f"seed is a whole number, but it is {seed!r}.")
    if is_stream(X):
        raise InputError("A stream has no rows to draw: they are dealt into folds as they pass. Load the data.")
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    with table_of(X) as rows:
        if classification is None:
            classification = sees_classes(rows, y)
        task = declare(rows, y, classification=bool(classification), **roles)
    strategy = strategy_for(test, task)
    return DrawnSplits.of(task, strategy.draw(task, task.all_rows, seed=seed_of_test(task, int(seed))))


def load_splits(path: str | Path) -> DrawnSplits:
    """Read splits that :meth:`heldout.DrawnSplits.save` wrote. No code in the file can run.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    DrawnSplits
        Usable as ``test=`` with the data they were drawn from; other data are refused, with what differs.
    """
    saved, description = read_splits(path)
    return DrawnSplits(saved, description=description)


def sees_classes(X: Any, y: Any) -> bool:
    """Return whether the target looks like classes; False for an unknown column name, which the task refuses later."""
    if isinstance(y, str):
        X = accept_features(X)
        if not is_frame(X) or list(X.columns).count(y) != 1:
            return False
        y = column(X, list(X.columns).index(y))
    return looks_like_classes(accept_target(y))
