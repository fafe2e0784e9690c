"""`heldout evaluate --save model.skops` and `heldout predict`: from a file to predictions in a file."""

from __future__ import annotations

import csv
import io
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.cli.main import main
from heldout.data.read_table import read_table
from heldout.models import model as models

RUN = ("--test", "holdout:0.3", "--validation", "holdout:0.3", "--jobs", "1", "--no-journal")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "80"}, prog_name="heldout")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Patients with gaps, a sex, a postal code, a day and a code; and two models of theirs."""
    place = tmp_path_factory.mktemp("predict")
    rng = np.random.default_rng(0)
    frame = load_diabetes(as_frame=True).frame.sample(120, random_state=0).reset_index(drop=True)
    frame["sex"] = np.where(frame["sex"] > 0, "f", "m")
    frame["zip"] = [f"0{i}" for i in rng.integers(100, 110, len(frame))]
    frame["seen"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    frame.loc[rng.random(len(frame)) < 0.1, "bmi"] = np.nan
    frame["patient"] = [f"=p{i}" for i in range(len(frame))]
    frame.to_csv(place / "old.csv", index=False)
    frame.drop(columns="target").iloc[:9].to_csv(place / "new.csv", index=False)
    words = ("--target", "target", "--drop", "patient", "--type", "zip=category", "--learner", "ridge", *RUN)
    done = run("evaluate", str(place / "old.csv"), *words, "--save", str(place / "model.skops"))
    assert done.exit_code == 0, done.output
    assert "model.skops" in done.stdout
    iris = load_iris(as_frame=True)
    named = iris.data.assign(species=iris.target.map({0: "=setosa", 1: "versicolor", 2: "virginica"}))
    named.to_csv(place / "iris.csv", index=False)
    words = ("--target", "species", "--learner", "logistic", *RUN, "--missing", "?", "--json")
    done = run("evaluate", str(place / "iris.csv"), *words, "--save", str(place / "iris.skops"))
    assert done.exit_code == 0, done.output
    json.loads(done.stdout)
    return place


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_equal_those_in_the_process(folder: Path) -> None:
    types = {"zip": "category"}
    frame = read_table(folder / "old.csv", types=types).drop(columns="patient")
    learner = tuned_learner(
        ["ridge"], frame.drop(columns="target"), classification=False, validation=ho.Holdout(0.3), random_state=0
    )
    result = ho.evaluate(learner, frame, "target", test=ho.Holdout(0.3), jobs=1)
    new = read_table(folder / "new.csv", types=types).drop(columns="patient")
    expected = result.predictor.predict(new)
    done = run("predict", str(folder / "model.skops"), str(folder / "new.csv"))
    assert done.exit_code == 0, done.stderr
    assert [float(row["prediction"]) for row in rows_of(done.stdout)] == expected.tolist()
    model = ho.load_model(folder / "model.skops")
    assert model.estimate == result.risk
    assert (model.schema.target, model.schema.width) == ("target", 12)


def test_what_people_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = ("model.skops", "new.csv", "--out", "predictions.csv", "--keep", "patient")
    done = run("predict", *words)
    assert done.exit_code == 0, done.stderr
    assert "predicts target from 12 columns" in done.stdout
    assert "squared risk of this predictor, trained on" in " ".join(done.stdout.split())
    assert "predicted   9 rows of new.csv, in predictions.csv\n" in done.stdout
    assert done.stderr == "Note: Not used, since the model did not learn from them: patient.\n"
    assert max(map(len, done.stdout.splitlines())) <= 80
    rows = rows_of(Path("predictions.csv").read_text())
    assert [row["patient"] for row in rows] == [f"'=p{i}" for i in range(9)]  # no formula reaches a spreadsheet
    told = run("predict", *words, "--verbose").stdout
    assert "columns     age (number), sex (category), bmi (number)" in told
    assert "saved with" in told
    quiet = run("predict", *words, "--quiet")
    assert quiet.output == ""
    run("predict", *words[:2], "--out", "predictions.tsv", "--keep", "sex")
    assert Path("predictions.tsv").read_text().splitlines()[0] == "sex\tprediction"


def test_classes_and_probabilities(folder: Path) -> None:
    words = (str(folder / "iris.skops"), str(folder / "iris.csv"), "--proba")
    done = run("predict", *words)
    rows = rows_of(done.stdout)
    assert list(rows[0]) == ["prediction", "proba_=setosa", "proba_versicolor", "proba_virginica"]
    assert {row["prediction"] for row in rows} == {"'=setosa", "versicolor", "virginica"}
    assert "The target species is among the columns; it is not used." in done.stderr
    said = json.loads(run("predict", *words, "--json").stdout)
    assert said["classes"] == ["=setosa", "versicolor", "virginica"]
    assert said["rows"] == len(said["columns"]["prediction"]) == 150
    model = ho.load_model(folder / "iris.skops")
    assert model.schema.missing == ("?",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert said["columns"]["proba_virginica"] == model.predict_proba(read_table(folder / "iris.csv"))[:, 2].tolist()


def test_unlike_rows_are_noted_and_missing_texts_are_those_of_training(folder: Path, tmp_path: Path) -> None:
    new = read_table(folder / "new.csv", types={"zip": "category"})
    new.loc[2, "sex"] = "other"
    new.loc[3, "age"] = np.nan
    new[new.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(folder / "model.skops"), str(tmp_path / "new.csv"))
    assert done.exit_code == 0
    assert "sex: 1 of 9 rows are of a category never seen in training: other." in " ".join(done.stderr.split())
    assert "age: 1 of 9 values are missing; none was in training." in done.stderr
    assert "zip" not in done.stderr  # read as text again, with its zero in front
    flowers = pd.read_csv(folder / "iris.csv").astype({"petal width (cm)": object})
    flowers.loc[4, "petal width (cm)"] = "?"
    flowers.to_csv(tmp_path / "gap.csv", index=False)
    done = run("predict", str(folder / "iris.skops"), str(tmp_path / "gap.csv"))
    assert done.exit_code == 2
    assert "Values of 'petal width (cm)' are missing in 'gap.csv'" in done.stderr
    done = run("predict", str(folder / "iris.skops"), str(tmp_path / "gap.csv"), "--missing", "NA")
    assert (
        "Column 'petal width (cm)' of 'gap.csv' holds '?' in line 6, but the model learned from numbers" in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("model.skops", "none.csv"), "There is no file"),
        (("none.skops", "new.csv"), "There is no file"),
        (("new.csv", "new.csv"), "'new.csv' is not a whole model file"),
        (("model.skops", "iris.csv"), "lacks 12 columns that the model learned from: 'age', 'sex'"),
        (("model.skops", "new.csv", "--proba"), "no probabilities"),
        (("model.skops", "new.csv", "--keep", "patent"), "Did you mean 'patient'?"),
        (("model.skops", "new.csv", "--trust", "pickle"), "'pickle' is no package that can be trusted"),
        (("model.skops", "new.csv", "--out", "out.xlsx"), "written as .csv or .tsv"),
        (("model.skops", "new.csv", "--out", "none/out.csv"), "--out none/out.csv: there is no folder"),
        (("model.skops", "new.csv", "-q", "-v"), "contradict"),
        (("model.skops", "void.csv"), "'void.csv' has a header (12 columns) but no rows"),
    ],
)
def test_wrong_use_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str) -> None:
    monkeypatch.chdir(folder)
    header = ",".join(ho.load_model("model.skops").schema.names)
    Path("void.csv").write_text(header + "\n")
    done = run("predict", *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_kept_column_may_not_hide_the_predictions(folder: Path, tmp_path: Path) -> None:
    read_table(folder / "new.csv").assign(prediction=1).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(folder / "model.skops"), str(tmp_path / "new.csv"), "--keep", "prediction")
    assert done.exit_code == 2
    assert "--keep prediction: the predictions have a column of that name" in done.stderr


def test_other_versions_are_noted(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    here = models.environment()
    monkeypatch.setattr(models, "environment", lambda: {**here, "scikit-learn": "1.0"})
    ho.save_model(Ridge().fit(X, y), tmp_path / "old.skops", X=X)
    X.to_csv(tmp_path / "x.csv", index=False)
    done = run("predict", str(tmp_path / "old.skops"), str(tmp_path / "x.csv"))
    assert done.exit_code == 0
    assert "Note: The model was saved with other versions (scikit-learn 1.0, here" in done.stderr


def test_save_writes_the_model_the_result_or_both(folder: Path, tmp_path: Path) -> None:
    words = (str(folder / "iris.csv"), "--target", "species", "--learner", "dummy", "--test", "kfold:3", "--no-journal")
    both = [str(tmp_path / "m.SKOPS"), str(tmp_path / "r.heldout")]
    done = run("evaluate", *words, "--save", both[0], "--save", both[1])
    assert done.exit_code == 0, done.stderr
    assert ho.load_model(both[0]).estimate == ho.load(both[1]).risk
    assert "heldout predict" in done.stdout
    assert "heldout report" in done.stdout
    done = run("evaluate", *words, "--save", both[0], "--save", both[0])
    assert done.exit_code == 2
    assert "writes this file too" in done.stderr


def test_a_learner_that_no_file_may_hold_is_refused_before_any_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ownmodel.py").write_text(
        "from sklearn.linear_model import Ridge\nclass Mine(Ridge):\n    def fit(self, X, y): open('ran', 'w')\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    words = ("--target", "target", "--learner", "ownmodel:Mine", "--allow-import", *RUN[:2], "--no-journal")
    done = run("evaluate", "old.csv", *words, "--save", "own.skops")
    assert done.exit_code == 2
    assert "A model file may not hold the type ownmodel.Mine" in done.stderr
    assert not (folder / "ran").exists()
    assert not (folder / "own.skops").exists()
