"""Splits as things of their own: drawn, looked at, saved, loaded, used again, and refused for another task."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score

import heldout as ho
from heldout.results.storage import from_steps, to_steps

N = 60
CHANCE = np.random.default_rng(7)
X = CHANCE.normal(size=(N, 3))
NUMBERS = X @ [1.0, -1.0, 0.5] + CHANCE.normal(size=N)
CLASSES = np.array(["a", "b", "c"])[CHANCE.integers(0, 3, N)]
GROUPS = CHANCE.integers(0, 12, N)
DAYS = np.datetime64("2024-01-01") + CHANCE.permutation(N)

SPLITS = {
    "plain": lambda: ho.draw(ho.KFold(5), X, NUMBERS),
    "classes": lambda: ho.draw(ho.KFold(3, repeats=2), X, CLASSES),
    "groups": lambda: ho.draw(ho.Resample(4), X, CLASSES, groups=GROUPS),
    "time": lambda: ho.draw(ho.Forward(3, buffer="2d"), X, NUMBERS, time=DAYS),
    "groups and time": lambda: ho.draw(ho.KFold(2, buffer="2d"), X, NUMBERS, time=DAYS, groups=GROUPS),
    "spans": lambda: ho.draw(ho.KFold(3), X, NUMBERS, time=(DAYS, DAYS + 2), sample_weight=np.linspace(1, 2, N)),
    "given": lambda: ho.draw(ho.Given([5, 3]), X, NUMBERS),
    "leave one out": lambda: ho.draw(ho.LeaveOneOut(), X, NUMBERS),
    "own order": lambda: ho.draw([([9, 2, 2, 7], [4, 1])], X, NUMBERS),
}


@pytest.mark.parametrize(
    ("learner", "y", "roles", "test"),
    [
        (Ridge(), NUMBERS, {}, None),
        (Ridge(), NUMBERS, {"time": DAYS}, None),
        (Ridge(), NUMBERS, {"time": DAYS, "groups": GROUPS}, ho.KFold(2, buffer=1)),
        (DummyClassifier(), CLASSES, {"groups": GROUPS}, ho.KFold(3)),
        (DummyClassifier(), CLASSES, {"strata": GROUPS % 2}, ho.Resample(3)),
    ],
)
def test_they_are_the_splits_of_an_evaluation_with_the_same_seed(learner, y, roles, test):
    result = ho.evaluate(learner, X, y, test=test, seed=3, jobs=1, **roles)
    splits = ho.draw(test, X, y, seed=3, **roles)
    assert result.splits == splits
    assert splits.fingerprint == result.record.about["splits_fingerprint"]
    if test is not None and splits.words.endswith("shuffled"):
        assert splits != ho.draw(test, X, y, seed=4, **roles)
    pairs = result.predictions.groupby("fold")["row"].apply(sorted).tolist()
    assert pairs == [sorted(held) for _, held in splits]


def test_rows_come_as_pairs_that_scikit_learn_takes_as_cv():
    splits = SPLITS["plain"]()
    assert len(list(splits)) == len(splits) == 5
    train, held = next(iter(splits))
    assert (train.tolist(), held.tolist()) == (splits.train_rows(0).tolist(), splits.held_rows(0).tolist())
    assert sorted([*train, *held]) == list(range(N))
    scores = cross_val_score(Ridge(), X, NUMBERS, cv=splits, scoring="neg_mean_squared_error")
    assert ho.evaluate(Ridge(), X, NUMBERS, test=splits, jobs=1).risk.value == pytest.approx(-scores.mean())
    with pytest.raises(ho.HeldoutError, match="There is no part 5: these splits have parts 0 to 4"):
        splits.held_rows(5)
    with pytest.raises(ValueError, match="read-only"):
        splits.held_rows(0)[0] = 7


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (CLASSES, True),
        (NUMBERS, False),
        (NUMBERS > 0, True),
        (np.arange(N) % 3, True),
        (np.arange(N), False),
        ((np.arange(N) % 3).astype(float), True),
        (pd.Series(CLASSES, dtype="category"), True),
    ],
)
def test_what_y_is_can_be_seen_or_said(y, classes):
    assert ("stratified" in ho.draw(ho.KFold(3), X, y).words) == classes
    if np.asarray(y).dtype.kind in "bif":
        said = ho.draw(ho.KFold(3), X, np.round(np.asarray(y, dtype=float)), classification=False)
        assert "stratified" not in said.words


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_by_name_and_tables_in_the_users_own_library(library):
    frame = library.DataFrame({"x": X[:, 0], "kind": CLASSES.astype(object), "who": GROUPS})
    splits = ho.draw(ho.KFold(3), frame, "kind", groups="who")
    assert splits.words == "3-fold, groups kept whole, shuffled"
    assert isinstance(splits.summary().frame, library.DataFrame)
    assert isinstance(splits.summary().shares, library.DataFrame)
    with pytest.raises(ho.HeldoutError, match=r"'kin' is no column of X. Did you mean 'kind'"):
        ho.draw(ho.KFold(3), frame, "kin")


def test_a_stream_and_a_seed_that_is_none_are_refused():
    with pytest.raises(ho.HeldoutError, match="A stream has no rows to draw"):
        ho.draw(ho.KFold(3), "data.parquet", "y")
    with pytest.raises(ho.HeldoutError, match="seed is a whole number"):
        ho.draw(ho.KFold(3), X, NUMBERS, seed=1.5)


@pytest.mark.parametrize("name", SPLITS)
def test_everything_comes_back_from_a_file(name: str, tmp_path: Path) -> None:
    splits = SPLITS[name]()
    splits.save(tmp_path / "test.splits")
    back = ho.load_splits(tmp_path / "test.splits")
    assert back == splits
    assert hash(back) == hash(splits)
    assert back.saved.splits.recipe == splits.saved.splits.recipe
    for (train, held), (train_back, held_back) in zip(splits, back, strict=True):
        assert train.tolist() == train_back.tolist()
        assert held.tolist() == held_back.tolist()
    assert str(back.summary()) == str(splits.summary())
    pd.testing.assert_frame_equal(back.summary().frame, splits.summary().frame, check_exact=True)
    pd.testing.assert_frame_equal(back.summary().shares, splits.summary().shares, check_exact=True)
    drawn, again = splits.description.picture, back.description.picture
    assert (again.words, again.parts, again.in_time, again.marks) == (
        drawn.words,
        drawn.parts,
        drawn.in_time,
        drawn.marks,
    )
    for grid in ("edges", "lanes", "train", "held", "unused"):
        np.testing.assert_array_equal(getattr(again, grid), getattr(drawn, grid))
    back.save(tmp_path / "again.splits")
    assert (tmp_path / "again.splits").read_bytes() == (tmp_path / "test.splits").read_bytes()


def test_loaded_splits_hold_out_the_same_rows_at_both_ends(tmp_path: Path) -> None:
    splits = SPLITS["groups"]()
    splits.save(tmp_path / "test.splits")
    back = ho.load_splits(tmp_path / "test.splits")
    learner = ho.Tuned(LogisticRegression(), {"C": [0.1, 1.0]}, validation=ho.KFold(2))
    one = ho.evaluate(learner, X, CLASSES, groups=GROUPS, test=ho.Resample(4), jobs=1)
    other = ho.evaluate(learner, X, CLASSES, groups=GROUPS, test=back, jobs=1, seed=0)
    assert one.risk == other.risk
    pd.testing.assert_frame_equal(one.predictions, other.predictions)
    compared = ho.compare(
        {"prior": DummyClassifier(), "line": LogisticRegression()}, X, CLASSES, groups=GROUPS, test=back
    )
    assert compared.about["splits_fingerprint"] == back.fingerprint
    assert ho.explain(DummyClassifier(), X, CLASSES, groups=GROUPS, test=back).fits == 4


def test_another_task_is_refused_with_what_differs(tmp_path: Path) -> None:
    splits = SPLITS["time"]()
    splits.save(tmp_path / "test.splits")
    back = ho.load_splits(tmp_path / "test.splits")
    for question, words in (
        ({"X": X[1:], "y": NUMBERS[1:], "time": DAYS[1:]}, "it had 60 rows, this one has 59"),
        ({"X": X, "y": NUMBERS}, "time was declared then, and not here"),
        ({"X": X, "y": NUMBERS, "time": DAYS + 1}, "time has other values"),
        ({"X": X + 1, "y": NUMBERS, "time": DAYS}, "X has other values"),
        ({"X": X, "y": -NUMBERS, "time": DAYS}, "y has other values"),
        ({"X": X, "y": NUMBERS, "time": DAYS, "groups": GROUPS}, "groups were not declared then"),
    ):
        with pytest.raises(ho.HeldoutError, match=f"drawn from another task: {words}"):
            ho.evaluate(Ridge(), test=back, jobs=1, **question)
    tuned = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=back)
    with pytest.raises(ho.HeldoutError, match="cannot split the training part of a level above"):
        ho.evaluate(tuned, X, NUMBERS, time=DAYS, test=ho.Forward(2), jobs=1)
    assert tuned.fit(X, NUMBERS, time=DAYS).n_splits_ == 3


def test_a_result_keeps_its_splits_in_its_file(tmp_path: Path) -> None:
    result = ho.evaluate(Ridge(), X, NUMBERS, time=DAYS, test=ho.Forward(3, buffer="2d"), jobs=1)
    assert result.splits == SPLITS["time"]()
    result.save(tmp_path / "study")
    back = ho.load(tmp_path / "study")
    assert back.splits == result.splits
    assert str(back.splits.summary()) == str(result.splits.summary())
    assert back.splits.plot().get_title(loc="left") == result.splits.words
    again = ho.evaluate(Ridge(), X, NUMBERS, time=DAYS, test=back.splits, jobs=1)
    assert again.risk.value == result.risk.value
    assert str(again.splits.summary()) == str(result.splits.summary())
    back.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "study").read_bytes()


def test_a_study_of_a_stream_has_no_splits_by_row(tmp_path: Path) -> None:
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": NUMBERS}).write_parquet(tmp_path / "data.parquet")
    result = ho.evaluate(Ridge(), tmp_path / "data.parquet", target="y", test=ho.KFold(3), jobs=1)
    with pytest.raises(ho.HeldoutError, match="a stream deals rows into folds as they pass"):
        _ = result.splits
    result.save(tmp_path / "study")
    with pytest.raises(ho.HeldoutError, match="not known by row"):
        _ = ho.load(tmp_path / "study").splits


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("splits") / "test.splits"
    SPLITS["time"]().save(path)
    return path


def rewritten(old: Path, new: Path, change: Any) -> None:
    """The same file with its plain part changed."""
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "splits.json":
                manifest = json.loads(content)
                change(manifest)
                content = json.dumps(manifest).encode()
            target.writestr(name, content)


def with_array(old: Path, new: Path, member: str, values: Any) -> None:
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
        for name in source.namelist():
            buffer = io.BytesIO()
            if name == f"splits/{member}.npy":
                np.save(buffer, values)
            target.writestr(name, buffer.getvalue() or source.read(name))


def test_files_of_another_kind_or_version_are_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ho.HeldoutError, match="There is no file"):
        ho.load_splits(tmp_path / "nothing")
    (tmp_path / "text").write_text("rows")
    with pytest.raises(ho.HeldoutError, match="is not a whole file of saved splits"):
        ho.load_splits(tmp_path / "text")
    ho.evaluate(Ridge(), X, NUMBERS, jobs=1).save(tmp_path / "study")
    with pytest.raises(ho.HeldoutError, match="is not a whole file of saved splits"):
        ho.load_splits(tmp_path / "study")
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(saved)
    rewritten(saved, tmp_path / "late", lambda manifest: manifest.update(version=2))
    with pytest.raises(ho.HeldoutError, match=r"version 2, this heldout reads version 1.*or draw the splits again"):
        ho.load_splits(tmp_path / "late")


@pytest.mark.parametrize("key", ["recipe", "fingerprint", "task", "arrays", "parts", "totals", "marks"])
def test_a_file_without_a_part_is_refused(key: str, saved: Path, tmp_path: Path) -> None:
    rewritten(saved, tmp_path / "less", lambda manifest: manifest["splits"].pop(key))
    with pytest.raises(ho.HeldoutError, match="is not a whole file of saved splits"):
        ho.load_splits(tmp_path / "less")


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("held", np.array([1, 1, 1], dtype=np.int8)),
        ("held_cuts", np.array([0, 5, -3, 10], dtype=np.int8)),
        ("rows", np.array([0, 2**60], dtype=np.int64)),
        ("train", np.array([0.5])),
        ("train", np.array([[1, 2]])),
        ("buffered", np.array([2, 2], dtype=np.int8)),
    ],
)
def test_rows_that_were_changed_are_refused(member: str, values: Any, saved: Path, tmp_path: Path) -> None:
    with_array(saved, tmp_path / "changed", member, values)
    with pytest.raises(ho.HeldoutError, match="is not a whole file of saved splits"):
        ho.load_splits(tmp_path / "changed")


@pytest.mark.parametrize(
    ("name", "value"), [("partition", True), ("repeats", 0), ("timed", False), ("kind", "kfold"), ("buffer", None)]
)
def test_what_is_said_of_the_rows_cannot_be_changed_by_hand(name: str, value: Any, saved: Path, tmp_path: Path) -> None:
    """How splits came about decides which interval is shown."""
    rewritten(saved, tmp_path / "edited", lambda manifest: manifest["splits"]["recipe"].update({name: value}))
    with pytest.raises(
        ho.HeldoutError, match="is not a whole file of saved splits: it was changed after it was written"
    ):
        ho.load_splits(tmp_path / "edited")
    rewritten(saved, tmp_path / "whole", lambda manifest: None)
    assert ho.load_splits(tmp_path / "whole") == ho.load_splits(saved)


def test_no_pickle_is_ever_read(saved: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, ("raise SystemExit('boom')",))

    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(tmp_path / "bomb", "w") as target:
        for name in source.namelist():
            bomb = header.getvalue() + pickle.dumps(np.array([Bomb()], dtype=object))
            target.writestr(name, bomb if name == "splits/held.npy" else source.read(name))
    with pytest.raises(ho.HeldoutError, match="is not a whole file of saved splits"):
        ho.load_splits(tmp_path / "bomb")


def test_a_flipped_byte_is_refused_or_harmless(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    expected = ho.load_splits(saved)
    for place in range(0, len(content), 37):
        spoilt = bytearray(content)
        spoilt[place] ^= 0xFF
        (tmp_path / "spoilt").write_bytes(spoilt)
        try:
            assert ho.load_splits(tmp_path / "spoilt") == expected
        except ho.HeldoutError:
            continue


@settings(max_examples=50, deadline=None)
@given(numbers=st.lists(st.integers(0, 2**40), max_size=20))
def test_steps_give_the_numbers_again(numbers):
    rows = np.array(numbers, dtype=np.intp)
    assert from_steps(to_steps(rows)).tolist() == numbers


def test_many_rows_make_a_small_file(tmp_path: Path) -> None:
    n = 200_000
    ho.draw(ho.Forward(5, buffer=10), np.zeros((n, 1)), np.arange(n) / 2, time=np.arange(n)).save(tmp_path / "big")
    assert (tmp_path / "big").stat().st_size < 40_000
