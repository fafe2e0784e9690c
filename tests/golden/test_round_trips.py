"""Every file that heldout writes is read again as it was: results, splits, study files, journals, models.

Whatever the format of a file becomes, these hold: they go through public names and commands alone.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from golden.compare import as_json, differences
from golden.ground import classes, days_of, groups_of, numbers, rng_of, table_of_all_kinds, weights_of
from golden.seen import seen_result, seen_splits, seen_summary
from golden.studies.data import Grumbling
from golden.studies.learners import scaled_ridge, tree
from golden.studies.verbs import DRAWN
from golden.studies.within import RACERS
from golden.surface import run, working_in, write_tables
from heldout.__main__ import main

QUIET: dict[str, Any] = {"jobs": 1, "progress": False}


def same(one: Any, other: Any) -> None:
    """Not a bit differs, seconds among them."""
    lines = list(differences(as_json(one), as_json(other), near=0.0, exact=True))
    assert not lines, "\n".join(lines[:20])


# Results.


def study_of(name: str) -> Any:
    X, y = numbers("saved results")
    labels = classes("saved classes", kinds=3, words=True)
    roles = {"groups": groups_of("saved results", 60), "sample_weight": weights_of("saved results", 60)}
    forest = RandomForestClassifier(3, random_state=0)
    racing = ho.Tuned(DecisionTreeClassifier(random_state=0), RACERS, validation=6)
    learner, data, question = {
        "nested": (scaled_ridge(), (X, y), {"test": ho.KFold(3)}),
        "roles": (Ridge(), (X, y), {"test": ho.KFold(3, repeats=2), **roles}),
        "classes": (forest, labels, {"test": ho.Holdout(0.3), "loss": ["log", "zero_one"]}),
        "leave one out": (Ridge(), (X, y), {"test": ho.LeaveOneOut()}),
        "time": (Ridge(), (X, y), {"time": days_of("saved results", 60)}),
        "race": (racing, classes("saved race"), {"test": 2, "options": ho.Options(race="exact")}),
        "curve": (Ridge(), (X, y), {"test": ho.KFold(3), "options": ho.Options(learning_curve=(0.5,))}),
    }[name]
    return ho.evaluate(learner, *data, **question, **QUIET)


@pytest.mark.parametrize("name", ["nested", "roles", "classes", "leave one out", "time", "race", "curve"])
def test_a_result_is_read_as_it_was_saved(name: str, tmp_path: Path) -> None:
    result = study_of(name)
    before = result.summary(figures=True)
    result.save(tmp_path / "a.heldout")
    loaded = ho.load(tmp_path / "a.heldout")
    same(before, loaded.summary(figures=True))
    assert loaded.risk == result.risk
    assert loaded.findings == result.findings
    assert loaded.splits == result.splits
    for table in ("folds", "choices", "candidates", "predictions", "failures", "warnings"):
        assert getattr(loaded, table).equals(getattr(result, table)), table
    if name == "curve":
        assert loaded.learning_curve.equals(result.learning_curve)
    loaded.save(tmp_path / "b.heldout")
    same(before, ho.load(tmp_path / "b.heldout").summary(figures=True))


@pytest.mark.parametrize("damage", ["cut", "flipped", "other"])
def test_a_damaged_result_is_refused_or_right(damage: str, tmp_path: Path) -> None:
    result = study_of("nested")
    result.save(tmp_path / "a.heldout")
    whole = (tmp_path / "a.heldout").read_bytes()
    before = as_json(result.summary())
    refused = 0
    for name, data in damaged(whole, damage):
        place = tmp_path / f"{name}.heldout"
        place.write_bytes(data)
        try:
            same(before, ho.load(place).summary())
        except ho.HeldoutError:
            refused += 1
    assert refused


def damaged(whole: bytes, damage: str, *, times: int = 12) -> list[tuple[str, bytes]]:
    """Copies that were cut short, have bytes changed in places drawn at random, or are something else."""
    rng = rng_of(f"damage {damage}")
    if damage == "other":
        return [("empty", b""), ("text", b"a,b\n1,2\n"), ("zeros", bytes(len(whole)))]
    copies = []
    for place in sorted(rng.choice(np.arange(1, len(whole)), times, replace=False).tolist()):
        if damage == "cut":
            copies.append((f"cut {place}", whole[:place]))
        else:
            copies.append((f"flipped {place}", whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]))
    return copies


# Splits.


@pytest.mark.parametrize("name", DRAWN)
def test_splits_are_read_as_they_were_saved(name: str, tmp_path: Path) -> None:
    X, y = classes("saved splits", 96, kinds=3)
    roles = {
        "groups": groups_of("saved splits", 96, 16),
        "time": days_of("saved splits", 96),
        "strata": groups_of("saved strata", 96, 3),
    }
    strategy, declared = DRAWN[name]
    given = {role: roles[role] for role in declared}
    splits = ho.draw(strategy, X, y, seed=2, **given)
    splits.save(tmp_path / "a.splits")
    loaded = ho.load_splits(tmp_path / "a.splits")
    assert loaded == splits
    same(seen_splits(splits), seen_splits(loaded))
    if len(splits) <= 12:
        learner = DecisionTreeClassifier(max_depth=2, random_state=0)
        one, other = (ho.evaluate(learner, X, y, test=test, **given, **QUIET) for test in (splits, loaded))
        assert one.risk == other.risk
    with pytest.raises(ho.HeldoutError):
        ho.evaluate(DecisionTreeClassifier(), X[:-1], y[:-1], test=loaded, **QUIET)


# Study files.


@pytest.mark.parametrize(
    "line",
    [
        "numbers.csv -t y -l ridge,tree --space tree=fixed --test kfold:3 --loss absolute --loss squared --level 0.9",
        "classes.csv -t label -l all --space forest=fixed --test kfold:2 --validation holdout:0.3 --seed 3",
        "roles.csv -t y -l ridge --groups who --weights w --drop day --test resample:4:0.3 --choose one_se",
        "roles.csv -t y -l linear --time day --buffer 2 --drop who --drop w --type part=category --pool",
        "roles.csv -t y -l linear --test column:part --drop who --interval student",
        "numbers.csv -t y -l linear --test kfold:3 --loss r2 --no-pool",
        "classes.csv -t label -l tree --test holdout:0.3 --validation holdout:0.3",
    ],
)
def test_a_written_study_file_asks_the_same(line: str, tmp_path: Path) -> None:
    write_tables(tmp_path)
    with working_in(tmp_path):
        how = ["--no-journal", "--jobs", "1", "--json"]
        first = run("evaluate", *line.split(), *how, "--write-study", "study.toml")
        assert first.exit_code == 0, first.output
        again = run("evaluate", "study.toml", *how, "--write-study", "again.toml")
        assert again.exit_code == 0, again.output
        assert keys_of(Path("study.toml")) == keys_of(Path("again.toml"))
    one, other = (seen_summary(json.loads(done.stdout)) for done in (first, again))
    for told in (one, other):  # the words that asked are not the same
        told["about"].pop("command")
    same(one, other)


def keys_of(study_file: Path) -> list[str]:
    """The lines that ask, without the remark that names the file."""
    return [line for line in study_file.read_text().splitlines() if not line.startswith("#")]


# Journals.


def journaled(place: Path, *, learner: Any = None) -> Any:
    """A study with cells of a kernel that is kept by step, and of trees that are kept by cell."""
    X, y = classes("kept answers")
    test = ho.KFold(3)
    return ho.evaluate(tree() if learner is None else learner, X, y, test=test, journal=str(place), **QUIET)


def in_numbers(result: Any) -> dict[str, Any]:
    """All that is pinned of a result but what the journal did, and that it was damaged."""
    told = seen_result(result)
    told.pop("journal")
    told["findings"] = [one for one in told["findings"] if one != "H502 warning"]
    told["summary"]["findings"] = [one for one in told["summary"]["findings"] if one["code"] != "H502"]
    return told


def test_a_study_goes_on_from_its_journal_and_nothing_is_fitted_again(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    first = journaled(place)
    again = journaled(place)
    assert first.journal.recalled == 0
    assert again.journal.computed == 0
    assert again.journal.recalled == first.journal.computed
    same(in_numbers(first), in_numbers(again))


def test_a_study_that_failed_in_part_is_recalled_as_it_was(tmp_path: Path) -> None:
    X, y = classes("kept failures", 61)
    learner = ho.Tuned(Grumbling(), {"refuses_below": [0, 1000], "warns": [False, True]}, validation=ho.KFold(2))
    told = []
    for _ in range(2):
        result = ho.evaluate(learner, X, y, test=ho.KFold(2), journal=str(tmp_path / "study.db"), **QUIET)
        told.append(in_numbers(result))
    assert result.journal.computed == 0
    assert len(result.failures)
    same(*told)


@pytest.mark.parametrize("damage", ["cut", "flipped", "other"])
def test_a_damaged_journal_never_gives_a_wrong_number(damage: str, tmp_path: Path) -> None:
    """It is refused, or the study is what it was, whether answers were recalled or computed again."""
    place = tmp_path / "study.db"
    right = in_numbers(journaled(place))
    whole = place.read_bytes()
    outcomes = []
    for name, data in damaged(whole, damage):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "study.db").write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = journaled(folder / "study.db")
            except ho.HeldoutError:
                outcomes.append("refused")
                assert (folder / "study.db").read_bytes() == data, "a refused file is left alone"
                continue
        same(right, in_numbers(result))
        outcomes.append("recalled" if result.journal.recalled else "computed")
        shutil.rmtree(folder)
    if damage == "other":
        assert "recalled" not in outcomes
    else:
        assert {"recalled", "computed"} & set(outcomes), outcomes


# Models of every learner of the catalogue, through the command.

TRUSTED = ("lightgbm", "xgboost", "catboost")
SMALL = {
    "forest": "n_estimators=5",
    "extra_trees": "n_estimators=5",
    "boosting": "max_iter=5",
    "lightgbm": "n_estimators=5",
    "xgboost": "n_estimators=5",
    "catboost": "learning_rate=0.3",
}


def catalogue() -> list[tuple[str, str]]:
    """Every name of the catalogue with each kind of target that it takes: as the command's own help lists them."""
    words = next(one.help for one in main.commands["evaluate"].params if "--learner" in one.opts)
    names = [name.strip() for name in words.split(":", 1)[1].split(";")[0].split(",")]
    only = {"linear": "price", "lasso": "price", "elastic_net": "price"}
    only |= {"logistic": "label", "lda": "label", "bayes": "label"}
    return [(name, target) for name in names for target in ("price", "label") if only.get(name, target) == target]


def save_by_command(name: str, target: str, frame: pd.DataFrame) -> Any:
    """A model and a result of one test set, whose tested predictor is the model."""
    frame.drop(columns="label" if target == "price" else "price").to_csv("table.csv", index=False)
    line = f"evaluate table.csv -t {target} -l {name} --test holdout:0.3 --no-journal --jobs 1 --quiet"
    line += " --validation holdout:0.3" if name in SMALL else ""
    saves = ["--save", "model.skops", "--save", "result.heldout"]
    space = f"{name}.{SMALL[name]}" if name in SMALL else f"{name}=fixed"
    return run(*line.split(), *([] if name in ("linear", "dummy") else ["--space", space]), *saves)


@pytest.mark.parametrize(("name", "target"), catalogue())
def test_models_of_the_catalogue_predict_as_they_did_when_tested(name: str, target: str, tmp_path: Path) -> None:
    frame = table_of_all_kinds()
    with working_in(tmp_path):
        done = save_by_command(name, target, frame)
        assert done.exit_code == 0, done.output
        trust = [name] if name in TRUSTED else []
        model = ho.load_model("model.skops", trust=trust)
        tested = ho.load("result.heldout").predictions
        table = pd.read_csv("table.csv").drop(columns=target)
        answers, all_answers = model.predict(table.iloc[tested["row"]]), model.predict(table)
        shown = run("predict", "model.skops", "table.csv", "--json", *[w for t in trust for w in ("--trust", t)])
    wanted = tested["predict"].to_numpy()
    if target == "price":
        np.testing.assert_allclose(answers, wanted, rtol=1e-9, atol=1e-12)
    else:
        assert answers.tolist() == wanted.tolist()
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["columns"]["prediction"] == all_answers.tolist()


def test_the_catalogue_is_known() -> None:
    assert len(catalogue()) == 28


@pytest.mark.parametrize("target", ["price", "label"])
def test_a_model_with_a_column_of_many_categories_is_saved(target: str, tmp_path: Path) -> None:
    frame = table_of_all_kinds(240, many=60)
    with working_in(tmp_path):
        done = save_by_command("ridge", target, frame)
        assert done.exit_code == 0, done.output
        tested = ho.load("result.heldout").predictions
        rows = pd.read_csv("table.csv").iloc[tested["row"]].drop(columns=target)
        assert ho.load_model("model.skops").predict(rows).tolist() == tested["predict"].tolist()


def test_a_damaged_model_is_refused_or_right(tmp_path: Path) -> None:
    X, y = numbers("saved model")
    result = ho.evaluate(scaled_ridge(), X, y, test=ho.KFold(3), **QUIET)
    ho.save_model(result, tmp_path / "m.skops")
    whole = (tmp_path / "m.skops").read_bytes()
    wanted = ho.load_model(tmp_path / "m.skops").predict(X)
    assert np.array_equal(wanted, result.predictor.predict(X))
    refused = 0
    for damage in ("cut", "flipped", "other"):
        for _, data in damaged(whole, damage):
            (tmp_path / "bad.skops").write_bytes(data)
            try:
                assert np.array_equal(ho.load_model(tmp_path / "bad.skops").predict(X), wanted)
            except ho.HeldoutError:
                refused += 1
    assert refused > 12
