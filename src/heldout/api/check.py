"""`check`: finds traps in the data that make a risk look better than it is, before any learner is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.draw import sees_classes
from heldout.api.question import strategy_for
from heldout.audit.check_table import MOST_ROWS, Table, open_table, rows_to_look_at
from heldout.audit.run_checks import run_checks
from heldout.audit.trap import EXPLAINED, NOT_SEEN, SEVERITIES, Trap, parse_ignore
from heldout.base.errors import OptionError, TargetError, did_you_mean
from heldout.base.registered import registered
from heldout.base.rowkeys import derive
from heldout.base.shown import Shown, plain
from heldout.data.stream import read_if_named, target_of
from heldout.splits import Given
from heldout.splits.foreign import Pairs
from heldout.study.study import TEST
from heldout.task import Task, declare


@registered
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checked(Shown):
    """What :func:`heldout.check` found.

    `findings` stand by number. Each has `code`, `severity`, `seen`, `why`, `way_out`, `columns` and `evidence`, the
    numbers behind it.
    """

    _shown_as = "check"

    findings: tuple[Trap, ...]
    rows: int
    rows_looked_at: int
    columns: int
    classification: bool
    ignored: tuple[str, ...] = ()
    groups: NDArray[np.intp] | None = field(default=None, repr=False)  # holds copies and near copies together

    def at_least(self, severity: str) -> tuple[Trap, ...]:
        """The findings of this severity or a graver one: "info", "warning" or "error"."""
        if severity not in SEVERITIES:
            raise OptionError(f"There is no severity {severity!r}. {did_you_mean(str(severity), SEVERITIES)}")
        grave = SEVERITIES[SEVERITIES.index(severity) :]
        return tuple(trap for trap in self.findings if trap.severity in grave)

    def summary(self) -> dict[str, Any]:
        """The findings as plain values that JSON can hold."""
        return {
            "rows": self.rows,
            "rows_looked_at": self.rows_looked_at,
            "columns": self.columns,
            "classification": self.classification,
            "counts": {one: sum(trap.severity == one for trap in self.findings) for one in SEVERITIES},
            "findings": [_facts(trap) for trap in self.findings],
            "ignored": list(self.ignored),
            "not_seen": list(NOT_SEEN),
        }


def check(
    X: Any,
    y: Any = None,
    *,
    target: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    test: Any = None,
    classification: bool | None = None,
    ignore: str | Iterable[str] = (),
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> Checked:
    """Look for leaks and traps in the data, before any learner is fitted.

    Parameters
    ----------
    X, y : array-like
        The data as `evaluate` takes them: numpy, scipy sparse, pandas or polars, or the path of a file. With a frame,
        `y` and the roles may name columns.
    target : str, optional
        Another name for `y`, where it names a column.
    groups, time, sample_weight, strata : array-like or column name, optional
        Roles of the rows. What is declared is not reported as undeclared.
    test : int, splitter or pairs of row arrays, optional
        The test parts that are planned; None as in `evaluate`. A test part given by row (``Given``) is compared with
        its training rows.
    classification : bool, optional
        Whether the target is classes; None sees it from the target.
    ignore : str or sequence of str
        Numbers of findings to leave out: "H601,H603" or ["H601", "H603"].
    most_rows : int
        How many rows are looked at, drawn at random where there are more; copies are counted in all rows.
    seed : int
        Decides which rows are drawn, and the classifier that compares parts.

    Returns
    -------
    Checked
        Its `groups` hold a group for each row where rows are copies of one another, to pass as ``groups=``.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ho.check(X, y).at_least("warning")
    ()
    >>> import numpy as np
    >>> ho.check(np.column_stack([X, 10 * y]), y).at_least("warning")[0].seen
    "Column 'column 4' writes the target in other words, one value a class, in every row that was looked at."
    """
    ignored = parse_ignore(ignore)
    _check_numbers(most_rows, seed)
    X, y = read_if_named(X), target_of(y, target)
    if classification is None:
        classification = sees_classes(X, y)
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    task = declare(X, y, classification=classification, **roles)
    if task.y.dtype.kind in "mM":
        raise TargetError("The target holds dates. Turn it into a number, such as days from a date.")
    table = _table(task, strategy_for(test, task), most_rows=int(most_rows), seed=int(seed))
    report = run_checks(table, ignore=frozenset(ignored))
    return Checked(
        findings=report.traps,
        rows=task.size,
        rows_looked_at=len(table),
        columns=task.n_columns or 1,
        classification=classification,
        ignored=ignored,
        groups=report.groups,
    )


def _check_numbers(most_rows: Any, seed: Any) -> None:
    for name, value, least in (("most_rows", most_rows, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise OptionError(f"{name}= is a whole number from {least} on, not {value!r}.")


def _table(task: Task, strategy: Any, *, most_rows: int, seed: int) -> Table:
    return open_table(
        task,
        rows=min(most_rows, rows_to_look_at(task.n_columns or 1)),
        columns=range(task.n_columns or 1),
        splits=strategy.draw(task, task.all_rows, seed=derive(seed, TEST)),
        given=isinstance(strategy, Given | Pairs),
        seed=derive(seed, "check"),
    )


def _facts(trap: Trap) -> dict[str, Any]:
    words = {name: plain(getattr(trap, name)) for name in ("seen", "why", "way_out", "columns", "evidence")}
    return {"code": trap.code, "severity": trap.severity, "title": EXPLAINED[trap.code].title, **words}
