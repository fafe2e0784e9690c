"""`evaluate` and `explain` on files and Dask data frames that are read in passes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.audit.ledger import MemoryLedger
from heldout.base.errors import (
    ColumnError,
    InputError,
    LearnerError,
    LossError,
    OptionError,
    RoleError,
    SplitError,
    TargetError,
)


def make_frame(n=600, columns=4, *, classes=False):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, columns)) + np.arange(columns)
    y = X @ np.arange(1.0, columns + 1) + random.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    return frame.assign(y=np.where(y > y.mean(), "high", "low") if classes else y)


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.parquet"
    make_frame().to_parquet(path)
    return path


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.parquet"
    make_frame(classes=True).to_parquet(path)
    return path


TUNED = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}, validation=ho.KFold(3))


def test_a_result_like_any_other(numbers, tmp_path):
    result = ho.evaluate(TUNED, numbers, target="y", test=ho.KFold(5))
    assert result.risk.method == "t over rows, log scale"
    assert result.risk.low < result.risk.value < result.risk.high
    assert result.risk.n == 600
    assert result.folds["held_rows"].tolist() == [120] * 5
    assert len(result.choices) == 5
    assert len(result.candidates) == 10
    assert "1 pass over numbers.parquet (600 rows, 5 columns, 15 cells of rows)" in str(result.plan)
    (check,) = result.facts.plan["checks"]
    assert check["passed"]
    assert check["difference"] < 1e-9
    with pytest.raises(OptionError, match=r"Options\(rows=True\)"):
        _ = result.predictions
    result.save(tmp_path / "study.heldout")
    assert ho.load(tmp_path / "study.heldout").risk == result.risk


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
    monkeypatch.setattr("heldout.engine.streaming.parquet.ParquetStream.chunks", None)
    assert result.predictor.named_steps["ridge"].alpha in (0.1, 10.0)


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


def width(estimate):
    return estimate.high - estimate.low


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


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.parquet"
    make_frame(20_000).to_parquet(path, row_group_size=3_000)
    return path


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr("heldout.engine.streaming.gather.SAMPLE_NUMBERS", 1 << 13)


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
    monkeypatch.setattr("heldout.engine.streaming.gather.SAMPLE_NUMBERS", 0)
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
    monkeypatch.setattr("heldout.engine.streaming.sampled.MOST_ANSWERS", 10_000)
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


def test_explain_prices_the_losses_of_all_rows(many, labels, small_samples):
    plan = str(ho.explain(Ridge(), many, target="y"))
    assert "a random sample of at most 2,048 rows" in plan
    assert "for 1 more pass and eight bytes or more a row" in plan
    assert "for no further pass and" in str(ho.explain(Ridge(), many, target="y", loss="absolute"))
    assert "interval: none without" in str(ho.explain(Ridge(), many, target="y", test=ho.Holdout(0.2)))
    assert "interval:" not in str(ho.explain(Ridge(), many, target="y", options=ho.Options(rows=True)))


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


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (KNeighborsRegressor(), "KNeighborsRegressor .* needs random access to rows"),
        (Lasso(), "Lasso .* needs random access"),
        (make_pipeline(MinMaxScaler(), Ridge()), "MinMaxScaler stands before the model"),
        (Ridge(solver="saga"), "solver='saga'"),
        (ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, final="ensemble"), "ensemble"),
    ],
)
def test_learners_without_statistics_are_refused_by_name(numbers, learner, words):
    with pytest.raises(LearnerError, match=words):
        ho.evaluate(learner, numbers, "y")


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (QuadraticDiscriminantAnalysis(), "QuadraticDiscriminantAnalysis"),
        (LinearDiscriminantAnalysis(solver="eigen"), "'eigen'"),
        (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "shrinkage='auto'"),
    ],
)
def test_classifiers_without_statistics_are_refused_by_name(labels, learner, words):
    with pytest.raises(LearnerError, match=words):
        ho.evaluate(learner, labels, "y")


@pytest.mark.parametrize("role", ["groups", "time", "sample_weight", "strata"])
def test_roles_are_refused_by_name(numbers, role):
    with pytest.raises(RoleError, match=rf"{role}= is not obeyed in a stream"):
        ho.evaluate(Ridge(), numbers, "y", **{role: "x0"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learning_curve": True}, "learning_curve"),
        ({"interval": "bht"}, "interval"),
        ({"interval": "ratio"}, "interval=.ratio. takes fits"),
        ({"interval": "bayle"}, "cannot be had"),
        ({"pool": True}, "rows=True"),
        ({"rules": {"ridge": False}}, "statistics alone"),
    ],
)
def test_options_that_need_rows_are_refused(numbers, options, words):
    with pytest.raises(OptionError, match=words):
        ho.evaluate(Ridge(), numbers, "y", options=ho.Options(**options))


def test_other_refusals(numbers, labels):
    with pytest.raises(LossError, match="all responses of a held-out part"):
        ho.evaluate(LinearDiscriminantAnalysis(), labels, "y", loss="roc_auc")
    with pytest.raises(SplitError, match="random access"):
        ho.evaluate(Ridge(), numbers, "y", test=ho.LeaveOneOut())
    with pytest.raises(TargetError, match="predicts numbers"):
        ho.evaluate(Ridge(), labels, "y")
    with pytest.raises(TargetError, match="fractions"):
        ho.evaluate(GaussianNB(), numbers, "y")
    with pytest.raises(OptionError, match="journal"):
        ho.evaluate(Ridge(), numbers, "y", journal="study.db")


def test_files_that_are_none(tmp_path, numbers):
    with pytest.raises(InputError, match=r"There is no file .*Did you mean 'numbers\.parquet'"):
        ho.evaluate(Ridge(), tmp_path / "number.parquet", "y")
    (tmp_path / "text.parquet").write_text("no parquet at all")
    with pytest.raises(InputError, match="not a whole Parquet file"):
        ho.evaluate(Ridge(), tmp_path / "text.parquet", "y")
    (tmp_path / "empty.parquet").touch()
    with pytest.raises(InputError, match="is empty"):
        ho.evaluate(Ridge(), tmp_path / "empty.parquet", "y")
    whole = numbers.read_bytes()
    (tmp_path / "torn.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        ho.evaluate(Ridge(), tmp_path / "torn.parquet", "y")
    make_frame().iloc[:0].to_parquet(tmp_path / "rowless.parquet")
    with pytest.raises(InputError, match="no rows"):
        ho.evaluate(Ridge(), tmp_path / "rowless.parquet", "y")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"holds no \.parquet file"):
        ho.evaluate(Ridge(), tmp_path / "folder", "y")


def test_columns_that_cannot_be_read(tmp_path, numbers):
    with pytest.raises(TargetError, match="Which column"):
        ho.evaluate(Ridge(), numbers)
    with pytest.raises(TargetError, match="'z' is no column"):
        ho.evaluate(Ridge(), numbers, "z")
    with pytest.raises(TargetError, match="is named"):
        ho.evaluate(Ridge(), numbers, np.zeros(600))
    path = tmp_path / "bad.parquet"
    make_frame().assign(city="Bern", day=pd.Timestamp("2024-01-01")).to_parquet(path)
    with pytest.raises(ColumnError, match=r"'city' \(.*string\), 'day' \(timestamp"):
        ho.evaluate(Ridge(), path, "y")
    frame = make_frame().assign(x1=pd.array([1, None] * 300, dtype="Int64"))
    frame.to_parquet(path)
    with pytest.raises(ColumnError, match="'x1' is missing in row 1"):
        ho.evaluate(Ridge(), path, "y")
    make_frame()[["y"]].to_parquet(path)
    with pytest.raises(ColumnError, match="no column beside the target"):
        ho.evaluate(Ridge(), path, "y")


@pytest.mark.parametrize(("column", "words"), [("x2", "'x2'"), ("y", "target is NaN or infinite")])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(tmp_path, column, words, value):
    frame = make_frame()
    frame.loc[17, column] = value
    pq.write_table(pa.table({name: frame[name].to_numpy() for name in frame}), tmp_path / "bad.parquet")
    with pytest.raises(InputError, match=words):
        ho.evaluate(Ridge(), tmp_path / "bad.parquet", "y")


def test_a_missing_target_is_named(tmp_path):
    frame = make_frame(classes=True)
    frame.loc[30, "y"] = None
    frame.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(TargetError, match="'y' is missing in row 30"):
        ho.evaluate(GaussianNB(), tmp_path / "bad.parquet", "y")
    make_frame().assign(y="one").to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(TargetError, match="only one class"):
        ho.evaluate(GaussianNB(), tmp_path / "bad.parquet", "y")


def test_more_columns_than_rows_are_refused(tmp_path):
    make_frame(30, 40).to_parquet(tmp_path / "wide.parquet")
    with pytest.raises(InputError, match="30 rows for 40 columns"):
        ho.evaluate(Ridge(), tmp_path / "wide.parquet", "y")


def test_collinear_columns_without_penalty_fail_by_name(tmp_path):
    frame = make_frame()
    frame.assign(x9=frame["x0"] + 1e-9 * frame["x1"]).to_parquet(tmp_path / "same.parquet")
    tuned = ho.Tuned(Ridge(), {"alpha": [1e-12, 1.0]}, validation=ho.KFold(3))
    result = ho.evaluate(tuned, tmp_path / "same.parquet", "y")
    assert result.choices["candidate"].tolist() == [1] * 5
    assert "H203" in {finding.code for finding in result.findings}
    assert result.failures["message"].str.contains("nearly collinear").all()


def test_a_constant_column_changes_nothing(tmp_path):
    frame = make_frame()
    frame.insert(1, "still", 3.25)
    frame.to_parquet(tmp_path / "still.parquet")
    X = frame.drop(columns="y")
    learner = make_pipeline(StandardScaler(), Ridge())
    predictor = ho.evaluate(learner, tmp_path / "still.parquet", "y").predictor
    np.testing.assert_allclose(predictor.predict(X), learner.fit(X, frame["y"]).predict(X), rtol=1e-9)
