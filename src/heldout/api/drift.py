"""Whether a test part differs from its training part: a classifier that tells them apart, judged by `evaluate`."""

from __future__ import annotations

from heldout.api.evaluate import evaluate
from heldout.audit.check_table import Table
from heldout.audit.ledger import MemoryLedger
from heldout.audit.trap import INFO, WARNING, Trap, shown
from heldout.audit.traps.drift import differing, two_parts
from heldout.base.options import Options
from heldout.splits import Holdout

LEVEL = 0.999  # of the interval, so that it lies above one half by chance once in two thousand
LARGE = 0.6  # how often the classifier must be right for a warning


def find_drift(table: Table, *, aside: set[str]) -> list[Trap]:
    """One trap where a test part that was given can be told from its training part; `aside` are columns left out."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    parts = two_parts(table, aside=aside)
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
