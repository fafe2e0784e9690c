"""What a record says against its own interval, and the t that counts at most four degrees of freedom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from heldout.risk import estimate_risk as estimates
from heldout.risk.doubts import interval_warnings
from heldout.risk.estimate_risk import choose_method
from heldout.risk.intervals.t_intervals import cautious_t, corrected_t
from heldout.risk.record import Answers, Elsewhere, Record


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
    found = interval_warnings(record, **options)
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
    record = record_of([np.ones(40)], grouped=True, groups=groups)
    assert codes(record) == [("H303", "warning"), ("H306", "warning")]


def test_bounded_losses_hold_for_any_number_of_rows():
    assert codes(record_of([[0.0, 1.0, 0.0]], high=1.0)) == []


def test_small_folds_are_not_few_test_rows():
    assert codes(record_of([[1.0, 2.0]] * 10)) == []


def test_heavy_tails_are_a_warning_over_folds_too():
    heavy = np.append(squares(99), 400.0)
    assert codes(record_of(np.split(heavy, 5))) == [("H302", "warning")]


@pytest.mark.parametrize(
    ("family", "safer"), [("squared", "the MAE"), ("log", "the Brier score"), ("other", "a bounded loss")]
)
def test_the_safer_loss_is_one_for_the_same_targets(family, safer):
    (found,) = interval_warnings(record_of(np.split(np.exp(2.5 * squares(500) ** 0.5), 5), family=family))
    assert f"; {safer}" in found.message


def test_a_doubt_speaks_of_the_score_that_leads():
    heavy = record_of(np.split(np.append(squares(99), 400.0), 5), family="squared")
    (found,) = interval_warnings(heavy, called="RMSE")
    assert found.message.startswith(
        "A few large errors decide the RMSE: the 2 largest make up 82 % of the sum of all 100 squares."
    )
    assert "squared" not in found.message


def test_resampling_the_same_rows_does_not_hide_a_heavy_tail():
    """A row held out again and again is one row: more resamples must not raise what counts as heavy."""
    losses = np.append(squares(19), 12.0)
    once = record_of([losses], trained=80)
    often = record_of([losses] * 100, trained=80, kind="resample", rows=(np.arange(20),) * 100)
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


@pytest.mark.parametrize("parts", [2, 5, 25])
@pytest.mark.parametrize("stratified", [False, True])
def test_the_default_over_parts_is_the_spread_of_rows(parts, stratified):
    assert choose_method(record_of([squares(20)] * parts, stratified=stratified)).key == "rows"


def test_few_or_uneven_groups_are_a_warning():
    def of_groups(sizes):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        losses = np.tile([0.0, 1.0], len(groups))[: len(groups)]
        return record_of([losses[::2], losses[1::2]], high=1.0, grouped=True, groups=(groups[::2], groups[1::2]))

    assert codes(of_groups([4] * 30)) == []
    assert codes(of_groups([4] * 29)) == [("H306", "warning")]
    assert codes(of_groups([2] * 30 + [200])) == [("H306", "warning")]


def test_a_learner_with_nearly_as_many_parameters_as_rows_is_a_warning():
    rng = np.random.default_rng(0)
    errors = rng.standard_normal(100)
    parts = tuple(np.split(errors, 5))
    answers = Answers(truth=parts, predicted=tuple(np.zeros(20) for _ in parts))
    trained = np.ones((5, 100), dtype=bool)

    def fitting(share):
        elsewhere = Elsewhere(trained=trained, losses=None, predicted=np.tile(errors * share, (5, 1)), truth=errors)
        return record_of(
            [part**2 for part in parts], family="squared", answers=answers, elsewhere=elsewhere, least_squares=True
        )

    assert ("H305", "warning") in codes(fitting(0.8))
    assert ("H305", "warning") not in codes(fitting(0.5))


def test_probabilities_at_the_threshold_are_a_warning():
    def at(p):
        probability = tuple(np.full(20, p) for _ in range(5))
        answers = Answers(truth=(np.zeros(20),) * 5, predicted=(np.zeros(20),) * 5, classes=2, probability=probability)
        losses = [np.tile([0.0, 1.0], 10)] * 5
        return record_of(losses, high=1.0, family="zero_one", answers=answers)

    assert codes(at(0.52)) == [("H307", "warning")]
    assert codes(at(0.7)) == []


def test_the_cautious_t_by_hand():
    """s = 1, J = 10, so the half width is 2.7764·√(1/10 + 1/9)."""
    losses = np.array([-1.0, 1.0] * 5) * np.sqrt(0.9)
    found = cautious_t(losses, test_ratio=1 / 9, level=0.95)
    assert found.high == pytest.approx(2.776445 * np.sqrt(1 / 10 + 1 / 9), rel=1e-6)
    assert found.guarantee == "heuristic"


def of_errors(errors, parts=5):
    """Squared errors of `parts` folds, with what was true and predicted."""
    split = np.split(np.asarray(errors, dtype=float), parts)
    answers = Answers(truth=tuple(split), predicted=tuple(np.zeros(len(part)) for part in split))
    return record_of([part**2 for part in split], family="squared", answers=answers)


def normal(n):
    return np.random.default_rng(n).permutation(ndtri((np.arange(n) + 0.5) / n))


def test_the_kurtosis_of_errors_warns_of_heavy_tails_in_large_samples():
    heavy = np.random.default_rng(0).standard_t(3, size=1_000)
    assert codes(of_errors(heavy)) == [("H302", "warning")]
    assert codes(of_errors(normal(1_000))) == []
    wide = np.where(np.arange(1_000) % 10 == 0, 2.0, 0.5) * normal(1_000)  # a mixture of two spreads: kurtosis above 5
    assert codes(of_errors(wide)) == [("H302", "warning")]
    assert codes(of_errors(1e100 * wide)) == [("H302", "warning")]  # in any unit
    many = np.where(np.arange(100_000) % 10 == 0, 2.0, 0.5) * normal(100_000)  # so many rows that it does no harm
    assert codes(of_errors(many)) == []


@pytest.mark.parametrize("n", [50, 95])
def test_few_squares_without_a_large_one_have_an_interval_that_leans_upwards(n):
    record = of_errors(normal(n))
    plain, tilted = estimate_risk(replace(record, family="absolute", answers=None)), estimate_risk(record)
    assert codes(record) == []
    assert np.log(tilted.high / tilted.value) > 1.2 * np.log(tilted.value / tilted.low)
    assert np.log(plain.high / plain.value) == pytest.approx(np.log(plain.value / plain.low))
    larger = estimate_risk(of_errors(normal(200)))
    assert np.log(larger.high / larger.value) == pytest.approx(np.log(larger.value / larger.low))


def estimate_risk(record):
    return estimates.estimate_risk(record, name="risk", estimand="", level=0.95, interval=None)


@pytest.mark.parametrize(("called", "said"), [(29, [("H308", "warning")]), (30, [])])
def test_f1_of_a_class_that_is_seldom_predicted_is_a_warning(called, said):
    truth = np.repeat([0, 1], 100)
    predicted = np.where(np.arange(200) >= 200 - called, 1, 0)
    answers = Answers(truth=tuple(np.split(truth, [100])), predicted=tuple(np.split(predicted, [100])), classes=2)
    record = record_of([np.zeros(100)] * 2, high=1.0, family="f1", answers=answers)
    assert codes(record) == said


@pytest.mark.parametrize(("positives", "said"), [(9, [("H308", "warning")]), (10, [])])
def test_the_area_of_a_test_set_with_few_rows_of_a_class_is_a_warning(positives, said):
    truth = (np.arange(60) < positives).astype(int)
    answers = Answers(truth=(truth,), predicted=(np.zeros(60, dtype=int),), classes=2, scores=(np.arange(60.0),))
    assert codes(record_of([np.zeros(60)], high=1.0, family="auc", answers=answers)) == said
