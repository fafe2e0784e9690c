"""What a record says against its own interval, and the t that counts at most four degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from heldout.base.finding import CODES
from heldout.risk.choose import choose_method
from heldout.risk.doubt import doubts
from heldout.risk.intervals.cautious_t import cautious_t
from heldout.risk.intervals.corrected_t import corrected_t
from heldout.risk.record import Record


def record_of(parts, *, high=np.inf, trained=80, **changed):
    rows = tuple(np.asarray(part, dtype=float) for part in parts)
    return Record(
        loss="squared",
        sign=1,
        low=0.0,
        high=high,
        fold_losses=np.array([part.mean() for part in rows]),
        row_losses=rows,
        train_sizes=np.full(len(rows), trained),
        held_sizes=np.array([len(part) for part in rows]),
        **{"kind": "holdout" if len(rows) == 1 else "kfold", **changed},
    )


def codes(record, **options):
    found = doubts(record, **options)
    assert all(finding.code in CODES for finding in found)
    return [(finding.code, finding.severity) for finding in found]


def squares(n):
    """The squares of n normal errors, as evenly spread as they can be."""
    return ndtri((np.arange(n) + 0.5) / n) ** 2


def test_ordinary_losses_raise_no_doubt():
    assert codes(record_of([squares(40)]), columns=5) == []
    assert codes(record_of([squares(20)] * 5), columns=5) == []


@pytest.mark.parametrize(("rows", "said"), [(1, []), (19, [("H303", "warning")]), (20, [])])
def test_fewer_test_rows_than_the_bootstrap_takes_are_a_warning(rows, said):
    assert codes(record_of([squares(rows)])) == said


def test_few_groups_are_counted_instead_of_rows():
    groups = (np.repeat(np.arange(10), 4),)
    assert codes(record_of([np.ones(40)], grouped=True, groups=groups)) == [("H303", "warning")]


def test_bounded_losses_hold_for_any_number_of_rows():
    assert codes(record_of([[0.0, 1.0, 0.0]], high=1.0)) == []


def test_small_folds_are_not_few_test_rows():
    assert codes(record_of([[1.0, 2.0]] * 10)) == []


def test_heavy_tails_are_a_warning_over_folds_too():
    heavy = np.append(squares(99), 400.0)
    assert codes(record_of(np.split(heavy, 5))) == [("H302", "warning")]


def test_resampling_the_same_rows_does_not_hide_a_heavy_tail():
    """A row held out again and again is one row: more resamples must not raise what counts as heavy."""
    losses = np.append(squares(19), 12.0)
    once, often = record_of([losses], trained=80), record_of([losses] * 100, trained=80, kind="resample")
    assert codes(once) == codes(often) == [("H302", "warning")]


def test_more_columns_than_training_rows_are_a_caution_where_there_are_folds():
    assert codes(record_of([squares(20)] * 5, trained=80), columns=81) == [("H304", "info")]
    assert codes(record_of([squares(20)] * 5, trained=80), columns=80) == []
    assert codes(record_of([squares(20)], trained=80), columns=81) == []
    assert codes(record_of([squares(20)] * 5, trained=0), columns=81) == []


def test_a_failed_part_raises_no_doubt():
    record = record_of([[1.0, np.nan]] * 5)
    assert codes(record) == []


@given(st.lists(st.floats(0, 100), min_size=2, max_size=40), st.floats(0.05, 1.0), st.floats(0.5, 0.999))
def test_the_cautious_t_is_the_corrected_t_up_to_five_parts_and_contains_it_beyond(losses, ratio, level):
    array = np.array(losses)
    plain = corrected_t(array, test_ratio=ratio, level=level)
    careful = cautious_t(array, test_ratio=ratio, level=level)
    if len(losses) <= 5:
        assert (careful.low, careful.high) == (plain.low, plain.high)
    else:
        assert careful.low <= plain.low <= plain.high <= careful.high
        assert (careful.high - careful.low > plain.high - plain.low) == (plain.high > plain.low)


@pytest.mark.parametrize(("parts", "name"), [(5, "corrected t"), (6, "cautious t"), (25, "cautious t")])
def test_the_default_counts_no_more_degrees_of_freedom_than_five_parts_have(parts, name):
    record = record_of([squares(20)] * parts)
    assert choose_method(record).name == name


def test_the_cautious_t_by_hand():
    """s = 1, J = 10, so the half width is 2.7764·√(1/10 + 1/9)."""
    losses = np.array([-1.0, 1.0] * 5) * np.sqrt(0.9)
    found = cautious_t(losses, test_ratio=1 / 9, level=0.95)
    assert found.high == pytest.approx(2.776445 * np.sqrt(1 / 10 + 1 / 9), rel=1e-6)
    assert found.guarantee == "heuristic"
