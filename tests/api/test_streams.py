"""`evaluate` and `explain` on files and Dask data frames that are read in passes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stream_files import TUNED, make_frame

import heldout as ho
from heldout.api.call_text import asked_by
from heldout.base.errors import ColumnError, InputError, OptionError, TargetError


def test_a_result_like_any_other(numbers, tmp_path):
    result = ho.evaluate(TUNED, numbers, target="y", test=ho.KFold(5))
    assert result.risk.method == "t over rows, log scale"
    assert result.risk.low < result.risk.value < result.risk.high
    assert result.risk.n == 600
    assert result.folds["held_rows"].tolist() == [120] * 5
    assert len(result.choices) == 5
    assert len(result.candidates) == 10
    assert "1 pass over numbers.parquet (600 rows, 5 columns, 15 cells of rows)" in str(result.plan)
    (check,) = result.record.plan["checks"]
    assert check["passed"]
    assert check["difference"] < 1e-9
    with pytest.raises(OptionError, match=r"Options\(rows=True\)"):
        _ = result.predictions
    result.save(tmp_path / "study.heldout")
    assert ho.load(tmp_path / "study.heldout").risk == result.risk


def test_the_command_that_asked_is_known(numbers):
    with asked_by("heldout evaluate numbers.parquet --target y"):
        result = ho.evaluate(Ridge(), numbers, target="y", test=ho.KFold(5))
    assert result.summary()["about"]["command"] == "heldout evaluate numbers.parquet --target y"


def test_near_the_number_in_memory(numbers):
    streamed = ho.evaluate(TUNED, numbers, "y", test=ho.KFold(5))
    memory = ho.evaluate(TUNED, make_frame(), "y", test=ho.KFold(5))
    assert abs(streamed.risk.value - memory.risk.value) < 0.1 * memory.risk.value


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(), Ridge(alpha=3.0)),
        Ridge(fit_intercept=False),
        make_pipeline(StandardScaler(with_mean=False), LinearRegression()),
    ],
)
def test_the_final_regressor_is_the_one_that_scikit_learn_fits(numbers, learner):
    frame = make_frame()
    X = frame.drop(columns="y")
    predictor = ho.evaluate(learner, numbers, "y").predictor
    np.testing.assert_allclose(predictor.predict(X), learner.fit(X, frame["y"]).predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(), RidgeClassifier()),
        GaussianNB(priors=[0.3, 0.7]),
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    ],
)
def test_the_final_classifier_is_the_one_that_scikit_learn_fits(labels, learner):
    frame = make_frame(classes=True)
    X = frame.drop(columns="y")
    predictor = ho.evaluate(learner, labels, "y").predictor
    fitted = learner.fit(X, frame["y"])
    method = "decision_function" if hasattr(fitted, "decision_function") else "predict_proba"
    ours, theirs = getattr(predictor, method)(X), getattr(fitted, method)(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9 * np.abs(theirs).max())
    assert (predictor.predict(X) == fitted.predict(X)).all()


def test_the_final_predictor_of_a_tuned_learner_takes_no_pass(numbers, monkeypatch):
    result = ho.evaluate(TUNED, numbers, "y")
    monkeypatch.setattr("heldout.data.parquet.ParquetStream.chunks", None)
    assert result.predictor.named_steps["ridge"].alpha in (0.1, 10.0)


def test_looks_at_a_test_set_are_entered_in_the_ledger(numbers, fresh_ledger):
    ho.evaluate(Ridge(), numbers, "y", test=ho.Holdout(0.2), options=ho.Options(rows=True))
    second = ho.evaluate(Ridge(alpha=7.0), numbers, "y", test=ho.Holdout(0.2), options=ho.Options(rows=True))
    assert "H402" in {finding.code for finding in second.findings}
    memory = ho.evaluate(Ridge(), make_frame(), "y", test=ho.Given(np.arange(300)))
    assert "H402" in {finding.code for finding in memory.findings}


def test_explain_counts_passes(numbers, labels):
    assert "1 pass over" in str(ho.explain(TUNED, numbers, target="y"))
    assert "2 passes over" in str(ho.explain(TUNED, numbers, target="y", loss="absolute"))
    assert "2 passes over" in str(ho.explain(GaussianNB(), labels, target="y"))
    assert "2 passes over" in str(ho.explain(Ridge(), numbers, target="y", options=ho.Options(rows=True)))


def test_a_csv_file_is_read(tmp_path):
    make_frame(60).to_csv(tmp_path / "few.csv", index=False)
    result = ho.evaluate(KNeighborsRegressor(), tmp_path / "few.csv", target="y")
    assert result.risk.n == 60
    with pytest.raises(OptionError, match="same thing"):
        ho.evaluate(Ridge(), tmp_path / "few.csv", "y", target="y")


@pytest.fixture
def dask_frames():
    dd = pytest.importorskip("dask.dataframe")
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield lambda frame: dd.from_pandas(frame, npartitions=3)


def test_a_dask_frame_is_a_stream(dask_frames):
    frame = make_frame()
    result = ho.evaluate(TUNED, dask_frames(frame), target="y")
    assert result.folds["held_rows"].sum() == 600
    assert abs(result.risk.value - ho.evaluate(TUNED, frame, "y").risk.value) < 0.1 * result.risk.value
    X = frame.drop(columns="y")
    tuned = TUNED.fit(X, frame["y"])
    np.testing.assert_allclose(result.predictor.predict(X), tuned.predict(X), rtol=1e-2)


def test_classes_of_a_dask_frame_are_spread_over_folds(dask_frames):
    frame = make_frame(classes=True).sort_values("y").reset_index(drop=True)
    result = ho.evaluate(GaussianNB(), dask_frames(frame), target="y", options=ho.Options(rows=True))
    by_fold = result.predictions.assign(high=result.predictions["y"] == "high").groupby("fold")["high"].sum()
    assert by_fold.max() - by_fold.min() <= 1
    np.testing.assert_array_equal(np.sort(result.predictions["row"]), np.arange(600))
    np.testing.assert_array_equal(frame["y"].to_numpy()[result.predictions["row"]], result.predictions["y"])


def test_a_dask_frame_that_cannot_be_read(dask_frames):
    frame = make_frame()
    with pytest.raises(TargetError, match="Did you mean"):
        ho.evaluate(Ridge(), dask_frames(frame), target="yy")
    with pytest.raises(ColumnError, match="'city'"):
        ho.evaluate(Ridge(), dask_frames(frame.assign(city="Bern")), target="y")
    frame.loc[400, "x1"] = np.nan
    with pytest.raises(InputError, match="'x1'"):
        ho.evaluate(Ridge(), dask_frames(frame), target="y")


def test_a_constant_column_changes_nothing(tmp_path):
    frame = make_frame()
    frame.insert(1, "still", 3.25)
    frame.to_parquet(tmp_path / "still.parquet")
    X = frame.drop(columns="y")
    learner = make_pipeline(StandardScaler(), Ridge())
    predictor = ho.evaluate(learner, tmp_path / "still.parquet", "y").predictor
    np.testing.assert_allclose(predictor.predict(X), learner.fit(X, frame["y"]).predict(X), rtol=1e-9)
