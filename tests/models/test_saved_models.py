"""Saved models: the same predictions bit for bit, new rows arranged or refused by name, versions compared."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.base.errors import ColumnError, InputError, LearnerError, OptionError, PredictionError, StoredError
from heldout.catalogue.learners import learner_named, learner_names
from heldout.models import model as models
from heldout.models.file import check_packable

EVERY = [(name, c) for c in (True, False) for name in learner_names(classification=c)]
BOOSTERS = ("lightgbm", "xgboost", "catboost")
FEWER = {
    "forest": "n_estimators",
    "extra_trees": "n_estimators",
    "boosting": "max_iter",
    "lightgbm": "n_estimators",
    "catboost": "iterations",
}
ROWS = 60


def table(seed: int = 0) -> pd.DataFrame:
    """Every kind of column: numbers, categories of few and many values, yes or no, dates, prose, with gaps."""
    rng = np.random.default_rng(seed)
    words = np.array(["good", "bad", "cheap", "dear", "quiet", "noisy"])
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=ROWS),
            "rooms": pd.array(rng.integers(0, 9, ROWS), dtype="Int64"),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "street": [f"street {i}" for i in rng.integers(0, 45, ROWS)],
            "garden": pd.array(rng.random(ROWS) < 0.5, dtype="boolean"),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, ROWS), unit="D"),
            "review": [" ".join(rng.choice(words, 5)) for _ in range(ROWS)],
            "shop_id": rng.integers(1, 9, ROWS),
        }
    )
    for name in ("size", "rooms", "colour", "garden", "seen", "review"):
        frame.loc[rng.random(ROWS) < 0.2, name] = None
    return frame


def outcome(*, classification: bool) -> Any:
    rng = np.random.default_rng(1)
    return rng.choice(["no", "yes"], ROWS) if classification else rng.normal(10.0, 2.0, ROWS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.skops"


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A saved ridge over every kind of column, and its predictor."""
    place = tmp_path_factory.mktemp("models") / "priced.skops"
    result = ho.evaluate(
        learner_named("ridge", table(), classification=False)[0], table(), outcome(classification=False), test=3, jobs=1
    )
    ho.save_model(result, place, target="price")
    return place, result


@pytest.mark.parametrize(("name", "classification"), EVERY)
def test_every_learner_answers_the_same_from_its_file(name: str, classification: bool, file: Path) -> None:
    estimator, _ = learner_named(name, table(), classification=classification)
    if name in FEWER:  # for the sake of time
        estimator.set_params(**{f"{name}__{FEWER[name]}": 5})
    fitted = estimator.fit(table(), outcome(classification=classification))
    trust = ho.save_model(fitted, file, X=table())
    assert trust == ((name,) if name in BOOSTERS else ())
    model = ho.load_model(file, trust=trust)
    new = table(seed=3)
    new.loc[:4, ["size", "colour", "seen", "review"]] = None
    with pytest.warns(UserWarning, match="street: .* never seen in training"):
        answers = model.predict(new)
    expected = fitted.predict(new)
    assert answers.dtype == expected.dtype
    assert np.array_equal(answers, expected)
    if hasattr(fitted, "predict_proba"):
        with pytest.warns(UserWarning, match="never seen"):
            assert np.array_equal(model.predict_proba(new), fitted.predict_proba(new))
        assert model.classes == ("no", "yes")


@pytest.mark.parametrize("name", ["ridge", "knn", "tree", "svm", "bayes"])
def test_plain_numbers_go_without_preparation(name: str, file: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = learner_named(name, X, classification=True)[0].fit(X, y)
    ho.save_model(fitted, file, X=X)
    model = ho.load_model(file)
    assert np.array_equal(model.predict(X), fitted.predict(X))
    assert model.classes == (0, 1, 2)


@pytest.mark.parametrize("final", ["retrain", "ensemble", "keep"])
def test_a_result_brings_its_columns_and_the_estimate_that_covers_it(final: str, file: Path) -> None:
    data = load_diabetes(as_frame=True)
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.Holdout(0.3), final=final)
    result = ho.evaluate(learner, data.data, data.target, test=ho.Holdout(0.3), jobs=1)
    ho.save_model(result, file, target="progression", missing=["?"])
    model = ho.load_model(file)
    assert np.array_equal(model.predict(data.data), result.predictor.predict(data.data))
    assert model.estimate == result.risk
    assert model.covers == result.covers.sentence
    assert model.schema.names == list(data.data.columns)
    assert {column.kind for column in model.schema.columns} == {"number"}
    assert (model.schema.target, model.schema.missing, model.classes) == ("progression", ("?",), None)
    assert model.versions["heldout"] == ho.__version__
    assert repr(model) == "<SavedModel of progression from 10 columns>"


def test_a_fitted_tuned_brings_its_own_estimate(file: Path) -> None:
    X, y = load_iris(return_X_y=True)
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, jobs=1).fit(X, y)
    ho.save_model(tuned, file)
    model = ho.load_model(file)
    assert model.estimate == tuned.estimates_[tuned.covers_.estimate]
    assert np.array_equal(model.predict_proba(X), tuned.predict_proba(X))
    assert (model.schema.columns, model.schema.width) == ((), 4)


@pytest.mark.parametrize("learner", [GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=3), DecisionTreeRegressor(max_depth=2)])
def test_searches_of_scikit_learn_and_arrays(learner: Any, file: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    result = ho.evaluate(learner, X, y, test=ho.Holdout(0.3), jobs=1)
    ho.save_model(result, file)
    model = ho.load_model(file)
    assert np.array_equal(model.predict(X), result.predictor.predict(X))
    with pytest.raises(ColumnError, match=r"shape \(442, 9\), but the model learned from 10 columns"):
        model.predict(X[:, :9])
    with pytest.warns(UserWarning, match="taken in order"):
        assert np.array_equal(model.predict(pd.DataFrame(X).rename(columns=str)), result.predictor.predict(X))


def test_polars_texts_and_sparse_rows(file: Path) -> None:
    data = load_diabetes(as_frame=True)
    frame = pl.DataFrame({name: data.data[name].to_numpy() for name in data.data.columns})
    result = ho.evaluate(Ridge(), frame, data.target.to_numpy(), test=ho.Holdout(0.3), jobs=1)
    ho.save_model(result, file)
    assert np.array_equal(ho.load_model(file).predict(frame), result.predictor.predict(frame))
    texts = np.array(["good and cheap", "bad and dear", "good", "dear", "cheap", "bad"] * 5, dtype=object)
    y = np.array([1, 0, 1, 0, 1, 0] * 5)
    for classifier in (LogisticRegression(), SVC()):  # the latter keeps sparse rows
        fitted = make_pipeline(TfidfVectorizer(), classifier).fit(texts, y)
        ho.save_model(fitted, file, X=texts)
        assert np.array_equal(ho.load_model(file).predict(texts), fitted.predict(texts))


def test_reordered_and_extra_columns(priced: tuple[Path, Any]) -> None:
    model, predictor = ho.load_model(priced[0]), priced[1].predictor
    new = table()
    mixed = new[new.columns[::-1]].assign(price=1.0, note="hello")
    with pytest.warns(UserWarning, match="not used") as caught:
        answers = model.predict(mixed)
    assert np.array_equal(answers, predictor.predict(new))
    said = str(caught[0].message)
    assert "Not used, since the model did not learn from them: note." in said
    assert "The target price is among the columns; it is not used." in said


def test_types_that_a_file_reads_otherwise_are_turned_back(priced: tuple[Path, Any]) -> None:
    model, predictor = ho.load_model(priced[0]), priced[1].predictor
    new = table()
    read = new.assign(
        rooms=new["rooms"].astype(float), garden=new["garden"].astype(object), shop_id=new["shop_id"] * 1.0
    )
    read["seen"] = new["seen"].dt.strftime("%Y-%m-%d")
    assert np.array_equal(model.predict(read), predictor.predict(new))


def test_what_is_not_as_in_training_is_noted(priced: tuple[Path, Any]) -> None:
    model = ho.load_model(priced[0])
    new = table().assign(colour="violet")
    new.loc[3, "shop_id"] = None
    notes = model.answer(new).notes
    assert "colour: 60 of 60 rows are of a category never seen in training: violet." in notes
    assert "shop_id: 1 of 60 values are missing; none was in training." in notes
    assert not [note for note in notes if "shop_id" in note and "never seen" in note]
    assert model.answer(table()).notes == ()
    assert len(model.answer(table().assign(size=None, seen=None, garden=None)).predictions) == ROWS


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("size", ["1.5", "big"] * 30, r"Column 'size' of X holds 'big' in row 1, but the model learned from numbers"),
        ("size", [True] * 60, "Column 'size' of X holds 'True' in row 0, but the model learned from numbers"),
        ("size", [np.inf] * 60, "Column 'size' of X holds infinite numbers"),
        ("seen", ["2024-01-01", "soon"] * 30, "Column 'seen' of X holds 'soon' in row 1, .* from dates"),
        ("seen", [5.0] * 60, "Column 'seen' of X holds '5.0' in row 0, .* from dates"),
        ("seen", pd.date_range("2024", periods=60, tz="UTC"), "dates with a time zone, but .* without"),
        ("garden", ["maybe"] * 60, "Column 'garden' of X holds 'maybe' in row 0, .* from True and False"),
        ("colour", pd.date_range("2024", periods=60), "Column 'colour' of X holds .* from text"),
    ],
)
def test_wrong_types_are_named(priced: tuple[Path, Any], column: str, values: Any, said: str) -> None:
    with pytest.raises(ColumnError, match=said):
        ho.load_model(priced[0]).predict(table().assign(**{column: values}))


def test_missing_columns_rows_and_names_are_named(priced: tuple[Path, Any]) -> None:
    model = ho.load_model(priced[0])
    with pytest.raises(ColumnError, match=r"X lacks 2 columns .*: 'size', 'seen'\. Did you mean 'sise'\?"):
        model.predict(table().rename(columns={"size": "sise"}).drop(columns="seen"))
    with pytest.raises(InputError, match="X has no rows"):
        model.predict(table().iloc[:0])
    with pytest.raises(ColumnError, match="has no column names, and the model needs them"):
        model.predict(table().to_numpy())
    twice = table().assign(other=1).rename(columns={"other": "size"})
    with pytest.raises(ColumnError, match="more than one column named 'size'"):
        model.predict(twice)
    with pytest.raises(PredictionError, match="no probabilities"):
        model.predict_proba(table())


def test_gaps_that_a_model_cannot_take_are_named(file: Path) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    ho.save_model(Ridge().fit(X, y), file, X=X)
    X.loc[3, "bmi"] = np.nan
    with pytest.raises(InputError, match=r"Values of 'bmi' are missing in X, and this model learned from rows without"):
        ho.load_model(file).predict(X)


class Own(RegressorMixin, BaseEstimator):
    """An estimator that no model file may hold."""

    def fit(self, X: Any, y: Any) -> Own:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_a_type_of_the_users_own_is_refused_by_name(file: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(LearnerError, match=r"may not hold the type .*\.Own\. It may hold"):
        ho.save_model(Own().fit(X, y), file)
    with pytest.raises(LearnerError, match="Own"):
        check_packable(ho.Tuned({"own": (Own(), {}), "ridge": (Ridge(), {"alpha": [1.0]})}))
    with pytest.raises(LearnerError, match="fitted estimator, not str"):
        ho.save_model("ridge", file)
    with pytest.raises(NotFittedError):
        ho.save_model(Ridge(), file)
    assert not file.exists()


def test_boosting_libraries_are_read_only_if_they_are_trusted(file: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = learner_named("lightgbm", X, classification=True)[0].set_params(lightgbm__n_estimators=2).fit(X, y)
    assert ho.save_model(fitted, file, X=X) == ("lightgbm",)
    with pytest.raises(StoredError, match=r"holds a model of lightgbm.*--trust lightgbm"):
        ho.load_model(file)
    with pytest.raises(StoredError, match="lightgbm"):
        ho.load_model(file, trust=["xgboost"])
    with pytest.raises(OptionError, match=r"'lightgmb' is no package .* Did you mean 'lightgbm'\?"):
        ho.load_model(file, trust=["lightgmb"])


def test_other_versions_are_warned_of(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    here = models.environment()
    monkeypatch.setattr(models, "environment", lambda: {**here, "numpy": "1.0", "python": "2.7.1"})
    ho.save_model(Ridge().fit(X, y), file, X=X)
    with pytest.warns(UserWarning, match=rf"numpy 1\.0, here {here['numpy']}; python 2\.7\.1, here"):
        ho.load_model(file)
    monkeypatch.undo()
    ho.save_model(Ridge().fit(X, y), file, X=X)
    ho.load_model(file)  # warnings are errors here


class Forgetful(Ridge):
    """A model that another would be read from its file."""

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "intercept_": 0.0}


def test_a_model_that_would_answer_otherwise_is_not_saved(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    allowed = frozenset({f"{Forgetful.__module__}.Forgetful"})
    monkeypatch.setattr("heldout.models.file.ALLOWED", allowed)
    with pytest.raises(StoredError, match="Forgetful does not answer the same once it is read again"):
        ho.save_model(Forgetful().fit(X, y), file, X=X)
    assert not file.exists()


def test_a_loaded_result_has_no_model_to_save(tmp_path: Path, file: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    ho.evaluate(Ridge(), X, y, test=3, jobs=1).save(tmp_path / "result")
    with pytest.raises(StoredError, match="cannot make the predictor"):
        ho.save_model(ho.load(tmp_path / "result"), file)
    with pytest.raises(StoredError, match="is a saved result, which holds numbers and no model"):
        ho.load_model(tmp_path / "result")


def test_the_file_holds_no_pickle_and_says_what_it_needs(priced: tuple[Path, Any]) -> None:
    with zipfile.ZipFile(priced[0]) as inside:
        assert {name.rpartition(".")[2] for name in inside.namelist()} <= {"json", "npy"}
        about = json.loads(inside.read("heldout.json"))
    columns = {column["name"]: column for column in about["schema"]["columns"]}
    assert columns["colour"]["values"] == ["blue", "green", "red"]
    assert [columns[name]["kind"] for name in ("size", "seen", "review", "garden")] == [
        "number",
        "date",
        "text",
        "category",
    ]
    assert about["schema"]["target"] == "price"
    assert about["estimate"]["estimand"].startswith("expected squared risk")
