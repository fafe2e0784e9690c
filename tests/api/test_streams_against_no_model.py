"""A stream is compared with no model too: by sums where they tell, and by the rows that were sampled or kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import heldout as ho
from heldout.audit.ledger import MemoryLedger
from heldout.risk.comparison.paired_rows import NAME, spread_of_rows

ROWS = 2_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 4)) + np.arange(4)
    y = 50 + X @ np.arange(1.0, 5) + 8 * random.normal(size=ROWS)
    return pd.DataFrame(X, columns=list("abcd")).assign(y=y)


@pytest.fixture(scope="module")
def numbers(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("stream") / "numbers.parquet"
    frame.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def labels(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("stream") / "labels.parquet"
    frame.assign(y=np.where(frame["y"] > 80, "high", "low")).to_parquet(path)
    return path


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.engine.stream_passes.SAMPLE_NUMBERS", 400)  # of four columns: 1,032 rows


def evaluate(learner: Any, path: Any, *, rows: bool = False, **question: Any) -> ho.Result:
    options = ho.Options(rows=rows, ledger=MemoryLedger())
    return ho.evaluate(learner, path, target="y", options=options, progress=False, **question)


def no_model(result: ho.Result) -> Any:
    return result.summary()["verdict"]["no_model"]


def differences(result: ho.Result, constant: Any, loss: Any) -> Any:
    """What the learner loses less what the constant of the other folds loses, a row each, and what each row weighs."""
    found = result.predictions
    ours, weights = np.empty(len(found)), np.empty(len(found))
    for fold in np.unique(found["fold"]):
        held = (found["fold"] == fold).to_numpy()
        ours[held] = loss(found["y"][held], constant(found["y"][~held]))
        weights[held] = 1 / held.sum()  # the risk is the mean of the means of folds
    return found[next(name for name in found if name.startswith("loss_"))].to_numpy() - ours, weights


SQUARED = (np.mean, lambda y, constant: (y - constant) ** 2)
ABSOLUTE = (np.median, lambda y, constant: np.abs(y - constant))
WRONG = (lambda y: y.mode()[0], lambda y, constant: y != constant)
SHARES = (lambda y: y.value_counts(normalize=True), lambda y, shares: -np.log(shares[y].to_numpy()))


@pytest.mark.parametrize(
    ("loss", "by_hand"), [("squared", SQUARED), ("absolute", ABSOLUTE), ("zero_one", WRONG), ("log", SHARES)]
)
@pytest.mark.parametrize("rows", [False, True])
def test_the_paired_difference_is_that_of_all_rows(numbers, labels, loss, by_hand, rows):
    learner, path = (Ridge(), numbers) if loss in ("squared", "absolute") else (GaussianNB(), labels)
    question = {"test": ho.KFold(5), "loss": loss}
    told = no_model(evaluate(learner, path, rows=rows, **question))
    each, weights = differences(evaluate(learner, path, rows=True, **question), *by_hand)
    interval = spread_of_rows(each, weights=weights).interval(0.95, method=NAME)
    assert told["difference"] == pytest.approx(np.average(each, weights=weights), rel=1e-6)
    assert (told["low"], told["high"]) == pytest.approx((interval.low, interval.high), rel=1e-5)
    assert told["verdict"] == ("better" if interval.high < 0 else "not shown")


@pytest.mark.parametrize("loss", ["squared", "r2", "neg_root_mean_squared_error", "zero_one", "brier"])
def test_a_sample_tells_the_spread_and_sums_tell_the_value(numbers, labels, small_samples, loss):
    learner, path = (GaussianNB(), labels) if loss in ("zero_one", "brier") else (Ridge(), numbers)
    some = no_model(evaluate(learner, path, test=ho.KFold(5), loss=loss))
    whole = no_model(evaluate(learner, path, test=ho.KFold(5), loss=loss, rows=loss != "brier"))
    assert some["method"] == "paired sampled rows"
    assert some["value"] == pytest.approx(whole["value"], rel=1e-9)
    assert some["difference"] == pytest.approx(whole["difference"], rel=1e-9)
    assert some["high"] - some["low"] == pytest.approx(whole["high"] - whole["low"], rel=0.15)
    assert some["words"] == whole["words"]


def test_what_sums_do_not_tell_is_of_the_sample_alone(numbers, small_samples):
    some = no_model(evaluate(Ridge(), numbers, test=ho.KFold(5), loss="absolute"))
    whole = no_model(evaluate(Ridge(), numbers, test=ho.KFold(5), loss="absolute", rows=True))
    assert some["words"] == "always answering the median of the training rows, as a sample tells it"
    assert some["method"] == "paired rows"
    assert some["high"] - some["low"] > 1.2 * (whole["high"] - whole["low"])  # half of the rows
    assert some["low"] < whole["difference"] < some["high"]


@pytest.mark.parametrize("loss", ["squared", "r2"])
def test_one_test_set_has_the_value_and_with_its_rows_the_interval(numbers, loss):
    question = {"test": ho.Holdout(0.3), "loss": loss}
    bare, kept = (evaluate(Ridge(), numbers, rows=rows, **question) for rows in (False, True))
    assert no_model(bare)["difference"] == pytest.approx(no_model(kept)["difference"], rel=1e-9)
    assert no_model(bare)["low"] is None
    assert "Options(rows=True) keeps them" in no_model(bare)["reason"]
    assert no_model(kept)["verdict"] == "better"


def test_where_it_is_absent_the_text_says_why(numbers):
    result = evaluate(Ridge(), numbers, test=ho.Holdout(0.3), loss="absolute")
    assert "Not compared with no model. Sums do not tell which constant answer is" in str(result)
    poisson = evaluate(Ridge(), numbers, test=ho.Holdout(0.3), loss="poisson")
    assert "Not compared with no model. Sums do not tell what a constant answer" in str(poisson)


def test_deviances_are_compared_on_the_sample_with_the_mean_of_all_rows(numbers, small_samples):
    told = no_model(evaluate(Ridge(), numbers, test=ho.KFold(5), loss="poisson"))
    assert told["words"] == "always answering the mean of the training rows"
    assert told["verdict"] == "better"
