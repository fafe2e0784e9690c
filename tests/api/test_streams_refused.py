"""What a stream cannot do, and files that cannot be read, are refused in one line that names them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import Lasso, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from stream_files import make_frame

import heldout as ho
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
