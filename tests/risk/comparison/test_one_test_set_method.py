"""Which method compares two learners on one test set."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.risk.comparison.pairs import compare_records
from heldout.risk.record import Record


def record_of(losses, *, high):
    return Record(
        loss="made up",
        sign=1,
        low=0.0,
        high=high,
        fold_losses=np.array([losses.mean()]),
        row_losses=(losses,),
        train_sizes=np.array([100]),
        held_sizes=np.array([len(losses)]),
        kind="holdout",
    )


@pytest.mark.parametrize(("high", "method"), [(np.inf, "Student"), (1.0, "betting")])
def test_unbounded_differences_take_student_though_a_risk_would_take_the_bootstrap_t(high, method):
    rng = np.random.default_rng(0)
    records = {name: record_of(rng.random(40), high=high) for name in ("a", "b")}
    (pair,) = compare_records(records)
    assert (pair.difference.method, pair.p_method) == (method, method)
