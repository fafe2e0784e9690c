"""Learners by name in Python: the numbers of the command, any table, plain scikit-learn, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

import heldout as ho
from heldout.cli.main import main
from heldout.data.read_table import read_table

ROWS = 80


def houses(*, identifier: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "area": rng.normal(100, 20, ROWS).round(1),
            "rooms": rng.integers(1, 9, ROWS),
            "city": rng.choice(["Bern", "Basel", "Chur"], ROWS),
            "built": (pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, ROWS), unit="D")),
        }
    )
    frame["price"] = frame["area"] * 3 + 20 * (frame["city"] == "Bern") + rng.normal(0, 10, ROWS).round(2)
    frame["dear"] = np.where(frame["price"] > frame["price"].median(), "yes", "no")
    frame["agent"] = [f"a{i % 16}" for i in range(ROWS)]
    frame.loc[::7, "area"] = np.nan
    return frame.assign(house_id=np.arange(ROWS)) if identifier else frame


def told_by_command(place: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["evaluate", str(place), *words, "--json", "--no-journal", "--jobs", "1"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def comparable(summary: dict[str, Any]) -> dict[str, Any]:
    """All but how long it took, how it was asked, and where the data came from."""
    kept = {name: value for name, value in summary.items() if name not in ("seconds", "plan", "headline")}
    about = {name: kept["about"][name] for name in kept["about"] if name not in ("call", "command", "source")}
    return {**kept, "about": about, "checks": {**kept["checks"], "seconds": None}}


@pytest.mark.parametrize(
    ("names", "target", "others", "words", "asked"),
    [
        ("ridge", "price", ["dear", "agent"], [], {}),
        (["logistic", "tree"], "dear", ["price", "agent"], ["--seed", "3"], {"seed": 3}),
        ("knn+lasso", "price", ["dear"], ["--loss", "absolute", "--groups", "agent"], {"loss": "absolute"}),
        ("tree", "price", ["dear", "agent"], ["--time", "built"], {"time": "built"}),
        ("auto", "rooms", ["dear", "agent"], ["--test", "3"], {"test": 3}),
    ],
)
def test_numbers_are_those_of_the_command(
    tmp_path: Path, names: Any, target: str, others: list[str], words: list[str], asked: dict[str, Any]
) -> None:
    place = tmp_path / "houses.csv"
    houses().drop(columns=others).to_csv(place, index=False)
    learners = [names] if isinstance(names, str) else names
    said = told_by_command(place, "-t", target, *words, *(word for name in learners for word in ("-l", name)))
    if "--groups" in words:
        asked = {**asked, "groups": "agent"}
    result = ho.evaluate(names, read_table(str(place)), target, jobs=1, progress=False, **asked)
    assert comparable(said) == comparable(json.loads(json.dumps(result.summary())))


def test_a_file_is_read_and_identifiers_are_left_out_and_said(tmp_path: Path) -> None:
    place = tmp_path / "houses.csv"
    frame = houses(identifier=True).drop(columns=["dear", "agent"])
    frame.to_csv(place, index=False)
    said = told_by_command(place, "-t", "price", "-l", "ridge")
    result = ho.evaluate("ridge", place, target="price", jobs=1, progress=False)
    assert result.risk.value == said["risk"]["value"]
    (ours,) = [one.message for one in result.findings if one.code == "H110"]
    (theirs,) = [one["message"] for one in said["findings"] if one["code"] == "H110"]
    assert ours.startswith("Left out: house_id. Identifiers tell rows apart")
    assert ours.endswith("To keep it, give it the type category.")
    assert theirs.endswith("--type house_id=category keeps it.")
    kept = frame.astype({"house_id": "category"})
    assert "H110" not in [one.code for one in ho.evaluate("ridge", kept, "price", jobs=1, progress=False).findings]
    assert result.summary()["about"]["columns"] == 4
    found = ho.compare(["ridge", "dummy"], frame, "price", jobs=1, progress=False)
    assert [one.code for one in found.findings].count("H110") == 1


def test_arrays_and_polars_frames_give_the_same_numbers() -> None:
    frame = houses()[["area", "rooms", "price"]].fillna(0.0).astype(float)
    risks = {
        ho.evaluate("ridge", X, y, jobs=1, progress=False).risk.value
        for X, y in (
            (frame, "price"),
            (pl.DataFrame({name: frame[name].tolist() for name in frame}), "price"),
            (frame[["area", "rooms"]].to_numpy(), frame["price"].to_numpy()),
            (frame[["area", "rooms"]].to_numpy().tolist(), frame["price"].tolist()),
        )
    }
    assert len(risks) == 1


@pytest.mark.parametrize("name", ["logistic", "boosting", "forest", "knn"])
def test_what_a_name_stands_for_is_a_scikit_learn_estimator(name: str) -> None:
    """On frames of both libraries, and on an array with gaps and an identifier."""
    frame, y = houses(identifier=True).drop(columns=["price", "dear"]), houses()["dear"].to_numpy()
    columns = {name: frame[name].to_list() for name in frame}
    columns["area"] = [None if value != value else value for value in columns["area"]]
    columns["built"] = frame["built"].dt.to_pydatetime().tolist()
    polars = pl.DataFrame(columns).with_columns(pl.col("city").cast(pl.Categorical))
    array = frame[["house_id", "area", "rooms"]].to_numpy(dtype=float)
    predicted = []
    for X in (frame, polars, array):
        learner = ho.learner(name, X, y, validation=3)
        pipeline = clone(learner.estimator[name][0])
        for key in pipeline.get_params():
            if key.endswith("random_state"):
                pipeline.set_params(**{key: 0})
        assert isinstance(pipeline, Pipeline)
        predicted.append(pipeline.fit(X, y).predict(X).tolist())
    assert predicted[0] == predicted[1]
    scores = cross_val_score(ho.learner(name, array, y, validation=3), array, y, cv=3)
    assert np.isfinite(scores).all()


def test_a_learner_takes_a_loss_a_validation_and_a_space() -> None:
    frame = houses()[["area", "rooms", "price"]]
    tuned = ho.learner("knn", frame, "price", loss="absolute", validation=3, space={"n_neighbors": [2, 4]})
    assert tuned.get_params()["loss"] == "absolute"
    assert len(tuned.as_search(seed=0)) == 4
    both = ho.learner("ridge,knn", frame, "price", space={"ridge": {"alpha": "log:1:100:3"}, "knn": None})
    assert [len(family.candidates) for family in both.as_search(seed=0).families] == [3, 1]
    assert type(ho.learner("ridge", frame, "price", space={"alpha": None})) is Pipeline
    assert type(ho.learner("dummy", frame, "price")) is Pipeline


def test_the_kind_of_the_target_is_seen_or_said() -> None:
    X = houses()[["area", "rooms"]]
    grades = pd.Series(np.arange(ROWS) % 3, name="grade")
    assert is_classifier(ho.learner("forest", X, grades))
    assert not is_classifier(ho.learner("forest", X, grades, classification=False))
    assert not is_classifier(ho.learner("forest", X, grades + 0.5))
    assert not is_classifier(ho.learner("lasso", X))
    with pytest.raises(ho.HeldoutError, match="Pass y, or classification=True or False"):
        ho.learner("forest", X)
    with pytest.raises(ho.HeldoutError, match="'logistic' is for classification, but this is regression"):
        ho.evaluate("logistic", houses(), "price")
    with pytest.raises(ho.HeldoutError, match="The target 'built' holds dates"):
        ho.evaluate("ridge", houses(), "built")
    texts = houses().assign(price=[f"{row}.5 CHF" for row in range(ROWS)])
    with pytest.raises(ho.HeldoutError, match="no two rows have the same"):
        ho.evaluate("ridge", texts, "price")
    mixed = ["12.5", "7.25", "9.0", "1.5", "?"] * 8
    with pytest.raises(ho.HeldoutError, match=r"or add learner\(classification=True\) if the numbers are classes"):
        ho.evaluate("ridge", X[:40], [f"{i}{text}" if text != "?" else text for i, text in enumerate(mixed)])


def test_names_and_estimators_are_compared() -> None:
    frame = houses()[["area", "rooms", "price"]].fillna(0.0)
    found = ho.compare({"mine": Ridge(), "named": "ridge", "either": "knn+tree"}, frame, "price", progress=False)
    assert set(found.ranking) == {"mine", "named", "either"}
    assert found.results["either"].summary()["about"]["families"] == ["knn", "tree"]
    assert "'named': 'ridge'" in found.about["call"]
    found = ho.compare(["ridge", Ridge(), "dummy"], frame, target="price", progress=False)
    assert set(found.ranking) == {"ridge", "Ridge", "dummy"}
    assert set(ho.compare("ridge, dummy", frame, "price", progress=False).ranking) == {"ridge", "dummy"}


def test_every_verb_takes_names() -> None:
    frame = houses()[["area", "rooms", "price"]]
    assert "ridge" in str(ho.explain("ridge", frame, "price"))
    assert ho.chance("linear", frame, target="price", permutations=2, progress=False).p is not None
    datasets = {"one": (frame[:40], "price"), "two": {"X": frame[40:], "y": "price"}}
    assert ho.compare_across(["linear", "dummy"], datasets, progress=False).sentences
    result = ho.evaluate("ridge", frame, "price", progress=False)
    assert "learner = 'ridge'\nevaluate(learner, X, y, seed=0)" in result.summary()["about"]["call"]


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "families", "why"),
    [
        (120, 3, 2, ["logistic", "boosting"], None),
        (59, 3, 0, ["ridge"], "boosting is left out: fewer than 60 rows are too few for it"),
        (120, 400, 0, ["ridge"], "with 400 columns it would take minutes"),
        (120, 120, 3, ["logistic"], "with 120 columns and 3 classes it would take minutes"),
    ],
)
def test_auto_goes_by_the_size_of_the_table(
    rows: int, columns: int, classes: int, families: list[str], why: str | None
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    if classes:
        y = np.array(list("abc"))[np.arange(rows) % classes]
    learner = ho.learner("auto", X, y)
    assert list(learner.estimator) == families
    if rows == 59:
        result = ho.evaluate("auto", X, y, progress=False)
        assert [one.message for one in result.findings if one.code == "H111"] == [f"{why}; name it to try."]
    elif why is not None:
        place = pd.DataFrame(X).add_prefix("x").assign(y=y)
        place.to_csv("wide.csv", index=False)
        done = CliRunner().invoke(main, ["explain", "wide.csv", "-t", "y"], env={"COLUMNS": "200"})
        assert why in done.stdout


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rf", "It is called 'forest' here: random forest of 100 trees"),
        ("lr", "It is called 'linear' here"),
        ("gbm", "It is called 'boosting' here"),
        ("xgb", "It is called 'xgboost' here"),
        ("svc", "It is called 'svm' here"),
        ("RandomForestRegressor", "It is called 'forest' here"),
        ("Elastic-Net", "It is called 'elastic_net' here"),
        ("ridgee", "Did you mean 'ridge' or 'tree'?"),
        ("cv:5", 'To say which rows are held out, write test="kfold:5".'),
        ("stratified", 'To say which rows are held out, write test="kfold".'),
        ("accuracy", 'To say what is measured, write loss="accuracy".'),
        ("mypackage.models:Forest", "import it and pass the estimator"),
    ],
)
def test_other_words_for_learners_are_answered_with_ours(name: str, words: str) -> None:
    with pytest.raises(ho.HeldoutError) as refused:
        ho.evaluate(name, houses(), "price")
    assert words in str(refused.value)
    with pytest.raises(ho.HeldoutError) as refused:
        ho.compare({"this": name, "dummy": "dummy"}, houses(), "price")
    assert words in str(refused.value)
    houses().to_csv("houses.csv", index=False)
    done = CliRunner().invoke(main, ["evaluate", "houses.csv", "-t", "price", "-l", name], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "--allow-import" in done.stderr if ":F" in name else words.partition(" write")[0] in done.stderr


def test_lr_of_classes_is_logistic() -> None:
    with pytest.raises(ho.HeldoutError, match="It is called 'logistic' here"):
        ho.evaluate("lr", houses(), "dear")


def test_what_a_name_cannot_do_is_refused(tmp_path: Path) -> None:
    frame = houses()
    frame.to_parquet(tmp_path / "houses.parquet")
    for call, words in (
        (lambda: ho.evaluate("ridge", tmp_path / "houses.parquet", "price"), "Load the data, or pass an estimator"),
        (lambda: ho.evaluate("ridge", csr_matrix(np.eye(40)), np.arange(40.0)), "Pass an estimator"),
        (lambda: ho.evaluate("ridge", np.eye(40), np.ones((40, 2))), "predicts one target, and y has 2"),
        (lambda: ho.evaluate("ridge", frame, "cost"), "is no column of X"),
        (lambda: ho.evaluate([], frame, "price"), "list has no fit"),
        (lambda: ho.evaluate(" , ", frame, "price"), "No learner was named"),
        (lambda: ho.evaluate("logistic", frame), "requires y"),
        (lambda: ho.learner(Ridge(), frame, "price"), "Names of learners are text"),
        (lambda: ho.learner("ridge", frame, "price", space=[1]), "space= is a dict"),
        (lambda: ho.learner("ridge", frame, "price", space={"knn": {"n_neighbors": [1]}}), "does not compete"),
        (lambda: ho.learner("ridge,knn", frame, "price", space={"alpha": [1]}), "each has a space of its own"),
        (lambda: ho.learner("ridge", frame, "price", space={"alfa": [1]}), "has no parameter 'alfa'"),
    ):
        with pytest.raises(ho.HeldoutError) as refused:
            call()
        assert words in str(refused.value)
