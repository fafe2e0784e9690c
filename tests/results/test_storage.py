"""Saving and loading results: everything comes back, and a file that is not whole is refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

TABLES = ("folds", "choices", "candidates", "predictions", "failures", "warnings")


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:80], y[:80]


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def nested() -> ho.Result:
    return ho.evaluate(ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=3), *numbers(), test=ho.KFold(3), jobs=1)


def families() -> ho.Result:
    X, y = flowers()
    learner = ho.Tuned(
        {
            "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
            "tree": (DecisionTreeClassifier(), {"max_depth": [None, 2]}),
        },
        validation=ho.Holdout(0.3),
    )
    names = np.array(["ä", "b c", "<d>"], dtype=object)[y]
    return ho.evaluate(learner, X, names, test=ho.Resample(3), loss=["zero_one", "log"], jobs=1)


def warned() -> ho.Result:
    X, y = flowers()
    return ho.evaluate(LogisticRegression(max_iter=2), X, y, test=ho.Holdout(0.2), jobs=1)


def two_outputs() -> ho.Result:
    X, y = numbers()
    return ho.evaluate(Ridge(), X, np.column_stack([y, -y]), test=ho.KFold(3), jobs=1)


def failed() -> ho.Result:
    X, y = numbers()

    class Fails(Ridge):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            if not (y == numbers()[1][0]).any():
                raise ValueError("tab\there\nand a line")
            return super().fit(X, y)

    return ho.evaluate(Fails(), X, y, test=ho.KFold(4), jobs=1)


STUDIES = {"nested": nested, "families": families, "warned": warned, "two outputs": two_outputs, "failed": failed}


@pytest.mark.parametrize("study", STUDIES)
def test_everything_comes_back(study: str, tmp_path: Path) -> None:
    result = STUDIES[study]()
    result.save(tmp_path / "study.heldout")
    back = ho.load(tmp_path / "study.heldout")
    assert back.estimates == result.estimates
    assert back.risk == result.risk
    assert back.findings == result.findings
    assert back.covers == result.covers
    assert str(back.plan) == str(result.plan)
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(back, name), getattr(result, name), check_exact=True)
    assert back.summary() == result.summary()
    assert str(back) == str(result)
    assert repr(back) == repr(result)


def test_a_second_round_gives_the_same_bytes(tmp_path: Path) -> None:
    nested().save(tmp_path / "a")
    ho.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_a_polars_study_comes_back_as_polars(tmp_path: Path) -> None:
    X, y = flowers()
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    result = ho.evaluate(ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5]}), frame, y, test=ho.KFold(3), jobs=1)
    result.save(str(tmp_path / "study"))
    back = ho.load(str(tmp_path / "study"))
    for name in TABLES:
        assert getattr(back, name).equals(getattr(result, name)), name


def test_estimators_among_the_values_come_back_as_words(tmp_path: Path) -> None:
    X, y = flowers()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    learner = ho.Tuned(model, {"standardscaler": [StandardScaler(), "passthrough"]}, validation=2)
    ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1).save(tmp_path / "study")
    back = ho.load(tmp_path / "study")
    assert set(back.candidates["param_standardscaler"]) == {"StandardScaler()", "passthrough"}


def test_a_loaded_result_cannot_make_the_predictor(tmp_path: Path) -> None:
    nested().save(tmp_path / "study")
    with pytest.raises(ho.HeldoutError, match="A saved result holds numbers, not the learner"):
        _ = ho.load(tmp_path / "study").predictor


def test_an_infinite_parameter_and_odd_values_come_back(tmp_path: Path) -> None:
    X, y = numbers()
    learner = ho.Tuned(Ridge(), {"alpha": [1.0], "max_iter": [None, 7], "solver": ["auto"]}, validation=2)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    result.save(tmp_path / "study")
    pd.testing.assert_frame_equal(ho.load(tmp_path / "study").candidates, result.candidates)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "study"
    nested().save(path)
    return path


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ho.HeldoutError, match="There is no file"):
        ho.load(tmp_path / "nowhere")


def test_a_folder_is_no_result(tmp_path: Path) -> None:
    with pytest.raises((ho.HeldoutError, OSError)):
        ho.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b'{"format": "heldout result"}'], ids=repr)
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "study").write_bytes(content)
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(tmp_path / "study")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_is_refused(share: float, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    (tmp_path / "study").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(tmp_path / "study")


def test_a_flipped_byte_is_refused_or_harmless(saved: Path, tmp_path: Path) -> None:
    """Anywhere in the file: a heldout error, or the very same numbers."""
    content = saved.read_bytes()
    expected = ho.load(saved)
    for place in range(0, len(content), 41):
        broken = bytearray(content)
        broken[place] ^= 0x5A
        (tmp_path / "study").write_bytes(bytes(broken))
        try:
            back = ho.load(tmp_path / "study")
        except ho.HeldoutError:
            continue
        assert back.estimates == expected.estimates
        assert back.folds.equals(expected.folds)


def rewritten(saved: Path, path: Path, **changes: Any) -> None:
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "result.json":
                manifest = json.loads(content)
                for key, value in changes.items():
                    if value is None:
                        del manifest[key]
                    else:
                        manifest[key] = value
                content = json.dumps(manifest).encode()
            new.writestr(name, content)


def test_another_version_is_refused(saved: Path, tmp_path: Path) -> None:
    rewritten(saved, tmp_path / "study", version=99)
    with pytest.raises(
        ho.HeldoutError, match=r"has format version 99, this heldout reads version 4.*run the study again"
    ):
        ho.load(tmp_path / "study")


def test_another_programs_zip_is_refused(saved: Path, tmp_path: Path) -> None:
    rewritten(saved, tmp_path / "study", format="something else")
    with pytest.raises(ho.HeldoutError, match="is not a saved result"):
        ho.load(tmp_path / "study")
    with zipfile.ZipFile(tmp_path / "other", "w") as file:
        file.writestr("data.csv", "a,b")
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(tmp_path / "other")


@pytest.mark.parametrize("key", ["estimates", "tables", "covers", "findings", "plan", "about"])
def test_a_file_without_a_part_is_refused(key: str, saved: Path, tmp_path: Path) -> None:
    rewritten(saved, tmp_path / "study", **{key: None})
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(tmp_path / "study")


@pytest.mark.parametrize("key", ["estimates", "tables", "findings"])
def test_a_file_with_a_part_of_another_kind_is_refused(key: str, saved: Path, tmp_path: Path) -> None:
    for value in (7, "text", {"x": 1}, {"x": {"y": 1}}, [1], [{"x": 1}]):
        rewritten(saved, tmp_path / "study", **{key: value})
        with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
            ho.load(tmp_path / "study")


def test_no_pickle_is_ever_read(saved: Path, tmp_path: Path) -> None:
    """A stranger's file with a pickled array is refused, and nothing of it runs."""
    import io
    import pickle

    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, ("raise SystemExit('boom')",))

    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(tmp_path / "study", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".npy"):
                buffer = io.BytesIO()
                np.lib.format.write_array_header_1_0(buffer, {"descr": "|O", "fortran_order": False, "shape": (1,)})
                content = buffer.getvalue() + pickle.dumps(np.array([Bomb()], dtype=object))
            new.writestr(name, content)
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(tmp_path / "study")


def test_a_failed_save_leaves_the_old_file(saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "study"
    target.write_bytes(b"the old one")
    result = ho.load(saved)
    result.record.tables["folds"]["squared"] = np.array([object()])  # repr is written, so this saves
    result.save(target)
    assert target.read_bytes() != b"the old one"
    with pytest.raises(OSError, match="No such file or directory"):
        result.save(tmp_path / "nowhere" / "study")


@pytest.mark.parametrize("key", ["classes", "environment", "roles"])
def test_a_file_that_lacks_what_a_result_shows_is_refused_when_it_is_read(tmp_path, key):
    path = tmp_path / "result.heldout"
    ho.evaluate(Ridge(), *load_diabetes(return_X_y=True), test=ho.KFold(3), jobs=1).save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members["result.json"])
    del manifest["about"][key]
    members["result.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(ho.HeldoutError, match=f"missing required field `{key}`"):
        ho.load(path)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("about", {"rows": "many"}),
        ("plan", {"lines": [{"stage": 1}]}),
        ("plan", {"passes": 7}),
        ("estimates", {"risk": {"value": "low"}}),
        ("findings", [{"code": 1}]),
        ("covers", {"sentence": None}),
        ("seconds", {"total": None}),
        ("frame", "sqlite"),
        ("no_model", {"value": []}),
        ("tables", {"folds": {"fold": {"values": [1]}, "held_rows": {"values": [1, 2]}}}),
        ("splits", {"recipe": {}}),
    ],
)
def test_a_forged_file_is_refused_by_name(tmp_path, where, value):
    path = tmp_path / "result.heldout"
    ho.evaluate(Ridge(), *load_diabetes(return_X_y=True), test=ho.KFold(3), jobs=1).save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members["result.json"])
    old = manifest[where]
    manifest[where] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    members["result.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(ho.HeldoutError, match="is not a whole saved result"):
        ho.load(path)
