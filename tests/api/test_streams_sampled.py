"""Intervals of streams: from a sample of the rows that pass, or from all of them where they are kept."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from stream_files import TUNED, make_frame

import heldout as ho
from heldout.audit.ledger import MemoryLedger
from heldout.base.errors import OptionError


def width(estimate):
    return estimate.high - estimate.low


def test_a_holdout_has_an_interval_once_rows_are_kept(numbers, labels):
    without = ho.evaluate(Ridge(), numbers, "y", test=ho.Holdout(0.2))
    assert without.risk.low is None
    assert "Options(rows=True)" in without.risk.reason
    result = ho.evaluate(Ridge(), numbers, "y", test=ho.Holdout(0.2), options=ho.Options(rows=True))
    assert result.risk.value == pytest.approx(without.risk.value, rel=1e-9)
    assert result.risk.low < result.risk.value < result.risk.high
    assert len(result.predictions) == 120
    frame, shown = make_frame(), result.predictions
    np.testing.assert_array_equal(frame["y"].to_numpy()[shown["row"]], shown["y"])
    np.testing.assert_allclose((shown["y"] - shown["predict"]) ** 2, shown["loss_squared"])
    own = ho.Options(rows=True, ledger=MemoryLedger())  # the rows are those of the numbers, whatever their labels
    counted = ho.evaluate(GaussianNB(), labels, "y", test=ho.Holdout(0.2), options=own)
    fresh = ho.Options(ledger=MemoryLedger())  # the ledger knows the rows of a stream in memory too
    memory = ho.evaluate(GaussianNB(), make_frame(classes=True), "y", test=ho.Holdout(0.2), options=fresh)
    assert (counted.risk.method, counted.risk.guarantee) == (memory.risk.method, memory.risk.guarantee)
    assert counted.risk.low < counted.risk.value < counted.risk.high


@pytest.mark.parametrize("loss", ["squared", "absolute", "r2", "neg_root_mean_squared_error"])
def test_one_pass_tells_as_much_as_all_rows_in_memory(numbers, loss):
    streamed = ho.evaluate(TUNED, numbers, "y", test=ho.KFold(5), loss=loss).risk
    memory = ho.evaluate(TUNED, make_frame(), "y", test=ho.KFold(5), loss=loss).risk
    assert streamed.method == memory.method
    assert streamed.value == pytest.approx(memory.value, rel=0.1)
    assert width(streamed) == pytest.approx(width(memory), rel=0.15)  # other folds


def test_stratified_folds_have_the_interval_of_their_rows(labels):
    streamed = ho.evaluate(GaussianNB(), labels, "y", test=ho.KFold(5)).risk
    memory = ho.evaluate(GaussianNB(), make_frame(classes=True), "y", test=ho.KFold(5)).risk
    assert (streamed.method, streamed.guarantee) == (memory.method, memory.guarantee)
    assert width(streamed) == pytest.approx(width(memory), rel=0.15)


@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error"])
def test_scores_of_whole_sets_are_of_all_held_out_rows(numbers, scoring):
    recipe = ho.KFold(5, repeats=2)
    result = ho.evaluate(Ridge(), numbers, "y", test=recipe, loss=scoring, options=ho.Options(rows=True))
    y, predicted = result.predictions["y"], result.predictions["predict"]
    errors = ((y - predicted) ** 2).sum()
    by_hand = 1 - errors / ((y - y.mean()) ** 2).sum() if scoring == "r2" else (errors / len(y)) ** 0.5
    assert abs(result.risk.value) == pytest.approx(by_hand, rel=1e-9)
    assert result.risk.low < result.risk.value < result.risk.high
    one = ho.evaluate(Ridge(), numbers, "y", test=ho.Holdout(0.2), loss=scoring, options=ho.Options(rows=True)).risk
    assert one.low < one.value < one.high


@pytest.mark.parametrize("loss", ["squared", "absolute", "r2"])
def test_a_sample_tells_the_spread_of_all_rows(many, small_samples, loss):
    some = ho.evaluate(TUNED, many, "y", test=ho.KFold(5), loss=loss).risk
    every = ho.evaluate(TUNED, make_frame(20_000), "y", test=ho.KFold(5), loss=loss).risk
    assert "over sampled rows" in some.method
    assert some.n == 20_000
    assert width(some) == pytest.approx(width(every), rel=0.15)


@pytest.mark.parametrize("test", [ho.KFold(5), ho.KFold(5, repeats=3), ho.Resample(10, 0.2)])
@pytest.mark.parametrize("learner", [Ridge(), GaussianNB()])
def test_the_sample_changes_no_value_and_no_choice(tmp_path, monkeypatch, test, learner):
    path = tmp_path / "some.parquet"
    make_frame(6_000, classes=isinstance(learner, GaussianNB)).to_parquet(path)
    whole = ho.evaluate(learner, path, "y", test=test)
    monkeypatch.setattr("heldout.engine.stream_passes.SAMPLE_NUMBERS", 0)
    sampled = ho.evaluate(learner, path, "y", test=test)
    assert sampled.risk.value == whole.risk.value
    assert sampled.risk.method != whole.risk.method
    assert width(sampled.risk) == pytest.approx(width(whole.risk), rel=0.2)


def test_rows_that_are_held_out_again_are_no_further_rows(many):
    options = ho.Options(rows=True)
    once = ho.evaluate(Ridge(), many, "y", test=ho.KFold(5), options=options).risk
    again = ho.evaluate(Ridge(), many, "y", test=ho.KFold(5, repeats=8), options=options).risk
    assert width(again) == pytest.approx(width(once), rel=0.1)


def test_all_rows_have_the_interval_of_memory(many, small_samples):
    every = ho.evaluate(Ridge(), many, "y", test=ho.KFold(5), options=ho.Options(rows=True)).risk
    memory = ho.evaluate(Ridge(), make_frame(20_000), "y", test=ho.KFold(5)).risk
    assert every.method == memory.method
    # Other rows tell by how much to widen; a fixed factor would make it 17 % wider.
    assert width(every) == pytest.approx(width(memory), rel=0.05)


def test_many_parts_are_answered_by_fewer_rows(many, monkeypatch):
    usual = ho.evaluate(Ridge(), many, "y", test=ho.Resample(10, 0.2)).risk
    monkeypatch.setattr("heldout.engine.stream_sample.MOST_ANSWERS", 10_000)
    fewer = ho.evaluate(Ridge(), many, "y", test=ho.Resample(10, 0.2)).risk
    assert fewer.value == usual.value
    assert (usual.method, fewer.method) == ("t over rows, log scale", "t over sampled rows, log scale")
    assert width(fewer) == pytest.approx(width(usual), rel=0.15)


def test_a_loss_that_fails_in_one_fold_has_no_value_and_no_interval(tmp_path):
    frame = make_frame().assign(y=lambda frame: frame["y"].clip(lower=1.0))
    frame.loc[17, "x0"] = -1e3  # where the fold predictor answers a negative number, which Poisson's deviance refuses
    frame.to_parquet(tmp_path / "counts.parquet")
    risk = ho.evaluate(Ridge(), tmp_path / "counts.parquet", "y", loss="poisson").risk
    assert (risk.value, risk.low) == (None, None)
    assert "1 of 5 parts failed" in risk.reason


def test_heavy_tails_are_told_from_the_sample(tmp_path, small_samples):
    frame = make_frame(6_000)
    frame["y"] += np.random.default_rng(1).standard_t(1.5, size=len(frame))
    frame.to_parquet(tmp_path / "tails.parquet")
    result = ho.evaluate(Ridge(), tmp_path / "tails.parquet", "y", test=ho.KFold(5))
    assert "H302" in {finding.code for finding in result.findings}


def test_the_spread_of_rows_can_be_asked_for_by_name(numbers):
    usual = ho.evaluate(Ridge(), numbers, "y", test=ho.KFold(5)).risk
    named = ho.evaluate(Ridge(), numbers, "y", test=ho.KFold(5), options=ho.Options(interval="rows")).risk
    assert named == usual
    with pytest.raises(OptionError, match="cannot be had"):
        ho.evaluate(Ridge(), numbers, "y", test=ho.Holdout(0.2), options=ho.Options(interval="rows"))


def test_explain_prices_the_losses_of_all_rows(many, labels, small_samples):
    plan = str(ho.explain(Ridge(), many, target="y"))
    assert "a random sample of at most 2,048 rows" in plan
    assert "for 1 more pass and eight bytes or more a row" in plan
    assert "for no further pass and" in str(ho.explain(Ridge(), many, target="y", loss="absolute"))
    assert "interval: none without" in str(ho.explain(Ridge(), many, target="y", test=ho.Holdout(0.2)))
    assert "interval:" not in str(ho.explain(Ridge(), many, target="y", options=ho.Options(rows=True)))
