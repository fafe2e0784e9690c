"""`check`: finds traps in the data that make a risk look better than it is, before any learner is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.draw import sees_classes
from heldout.api.evaluate import evaluate
from heldout.api.question import strategy_for
from heldout.audit.check_table import Table, open_table
from heldout.audit.ledger import MemoryLedger
from heldout.audit.run_checks import run_checks
from heldout.audit.trap import EXPLAINED, INFO, NOT_SEEN, SEVERITIES, WARNING, Trap, shown
from heldout.audit.traps.drift import differing, two_parts
from heldout.base.errors import OptionError, TargetError, did_you_mean
from heldout.base.options import Options
from heldout.base.registered import registered
from heldout.base.rowkeys import derive
from heldout.base.shown import Shown, plain
from heldout.data.stream import table_of, target_of
from heldout.splits import Given, Holdout
from heldout.splits.foreign import Pairs
from heldout.study.study import TEST
from heldout.task import Task, declare

MOST_ROWS = 100_000  # more are sampled


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
    y = target_of(y, target)
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    with table_of(X) as rows:
        if classification is None:
            classification = sees_classes(rows, y)
        task = declare(rows, y, classification=classification, **roles)
    if task.y.dtype.kind in "mM":
        raise TargetError("The target holds dates. Turn it into a number, such as days from a date.")
    table = _table(task, test, most_rows=int(most_rows), seed=int(seed))
    report = run_checks(table, ignore=frozenset(ignored))
    traps = list(report.traps)
    if "H609" not in ignored:
        traps += find_drift(table.without(trap for trap in traps if trap.code == "H603"))
    return Checked(
        findings=tuple(sorted(traps, key=lambda trap: trap.code)),
        rows=task.size,
        rows_looked_at=len(table),
        columns=task.n_columns or 1,
        classification=classification,
        ignored=ignored,
        groups=report.groups,
    )


def parse_ignore(ignore: str | Iterable[str]) -> tuple[str, ...]:
    """Parse finding codes from one comma-separated string or several strings; refuse codes that `check` does not have.

    >>> parse_ignore("h603, H601")
    ('H601', 'H603')
    """
    words = [ignore] if isinstance(ignore, str) else list(ignore)
    if not all(isinstance(word, str) for word in words):
        raise OptionError('ignore= takes numbers of findings, such as "H601" or ["H601", "H603"].')
    codes = sorted({code.strip().upper() for word in words for code in word.split(",") if code.strip()})
    for code in codes:
        if code not in EXPLAINED:
            raise OptionError(f"check has no finding {code!r} to ignore. It has {', '.join(EXPLAINED)}.")
    return tuple(codes)


def _check_numbers(most_rows: Any, seed: Any) -> None:
    for name, value, least in (("most_rows", most_rows, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise OptionError(f"{name}= is a whole number from {least} on, not {value!r}.")


def _table(task: Task, test: Any, *, most_rows: int, seed: int) -> Table:
    strategy = strategy_for(test, task)
    splits = strategy.draw(task, task.all_rows, seed=derive(seed, TEST))
    given = isinstance(strategy, Given | Pairs)
    return open_table(task, most_rows=most_rows, splits=splits, given=given, seed=derive(seed, "check"))


def _facts(trap: Trap) -> dict[str, Any]:
    words = {name: plain(getattr(trap, name)) for name in ("seen", "why", "way_out", "columns", "evidence")}
    return {"code": trap.code, "severity": trap.severity, "title": EXPLAINED[trap.code].title, **words}


LEVEL = 0.999  # of the interval, so that by chance it lies above one half once in two thousand cases
LARGE = 0.6  # accuracy of the classifier from which the finding is a warning


def find_drift(table: Table) -> list[Trap]:
    """Return a trap H609 if a classifier can tell a given test part from its training part; else an empty list."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    parts = two_parts(table)
    if parts is None:
        return []
    learner = HistGradientBoostingClassifier(
        max_iter=50, max_leaf_nodes=15, categorical_features=parts.categories or None, random_state=table.seed
    )
    result = evaluate(
        learner,
        parts.X,
        parts.tested,
        test=Holdout(0.5, stratify=False),
        loss="zero_one",
        level=LEVEL,
        seed=table.seed,
        jobs=1,
        progress=False,
        options=Options(interval="clopper-pearson", ledger=MemoryLedger()),  # no look at the user's test set
    )
    risk = result.risk
    if risk.value is None or risk.high is None or risk.low is None or risk.high >= 0.5:
        return []
    right, low, high = 1 - risk.value, 1 - risk.high, 1 - risk.low
    names = differing(parts)
    most = f"; most different: {shown(names, 3)}" if names else ""
    seen = (
        f"A classifier tells rows of the test part from training rows {right:.1%} of the time "
        f"({100 * LEVEL:.4g}% interval {low:.1%} to {high:.1%}; 50% is chance){most}."
    )
    evidence = {"right": right, "low": low, "high": high, "level": LEVEL, "rows": len(parts.tested)}
    severity = WARNING if right >= LARGE else INFO
    columns = tuple(name for name in names[:3] if name != "the target")
    return [Trap(code="H609", severity=severity, seen=seen, columns=columns, evidence=evidence)]
