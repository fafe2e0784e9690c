"""Model files from strangers: each ends in a named error, and nothing in it runs."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io as sio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.errors import HeldoutError, StoredError
from heldout.models import file as model_file
from heldout.models.model import open_model
from heldout.models.soundness import check_sound

X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("good") / "model.skops"
    ho.save_model(LogisticRegression(max_iter=500).fit(X, Y), place, X=X, target="species")
    return place


def about(place: Path) -> dict[str, Any]:
    with zipfile.ZipFile(place) as file:
        return json.loads(file.read("heldout.json"))


def forged(good: Path, place: Path, **changed: Any) -> Path:
    """The good model with another page about it, and a digest that fits."""
    manifest = {name: one for name, one in about(good).items() if name not in ("sha256", "format", "version")}
    model_file.write_file(place, fitted_bytes(), {**manifest, **changed})
    return place


@cache
def fitted_bytes() -> bytes:
    return sio.dumps(LogisticRegression(max_iter=500).fit(X, Y))


def of_tree(good: Path, place: Path, tree: Any, **members: bytes) -> Path:
    """A file whose tree of objects is this, and a digest that fits."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("schema.json", tree if isinstance(tree, str) else json.dumps({"protocol": 2, **tree}))
        for name, content in members.items():
            file.writestr(name, content)
    manifest = {name: one for name, one in about(good).items() if name not in ("sha256", "format", "version")}
    model_file.write_file(place, buffer.getvalue(), manifest)
    return place


def node(module: str, name: str, loader: str, **rest: Any) -> dict[str, Any]:
    return {"__module__": module, "__class__": name, "__loader__": loader, **rest}


def words(*values: Any) -> dict[str, Any]:
    """A tuple of plain values, as skops writes it."""
    inside = [node("builtins", "str", "JsonNode", content=json.dumps(one), is_json=True) for one in values]
    return node("builtins", "tuple", "TupleNode", content=inside)


def test_files_that_are_no_model(tmp_path: Path, good: Path) -> None:
    text = tmp_path / "a.skops"
    text.write_text("hello")
    with pytest.raises(StoredError, match="not a whole model file: File is not a zip file"):
        ho.load_model(text)
    text.write_bytes(b"")
    with pytest.raises(StoredError, match="not a whole model file"):
        ho.load_model(text)
    with pytest.raises(StoredError, match="There is no file"):
        ho.load_model(tmp_path / "none.skops")
    with pytest.raises(StoredError, match="is a folder"):
        ho.load_model(tmp_path)
    with zipfile.ZipFile(text, "w") as file:
        file.writestr("notes.txt", "hello")
    with pytest.raises(StoredError, match=r"'a\.skops' is not a model file"):
        ho.load_model(text)
    sio.dump(LogisticRegression(), text)
    with pytest.raises(StoredError, match="written by skops, but not by heldout"):
        ho.load_model(text)
    with pytest.raises(StoredError, match="has format version 9"):
        ho.load_model(forged(good, text, version=9))


def test_a_file_that_is_cut_or_damaged_anywhere(tmp_path: Path, good: Path) -> None:
    whole = good.read_bytes()
    expected = ho.load_model(good).predict_proba(X)
    place = tmp_path / "cut.skops"

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, len(whole) - 1), st.integers(1, 255), st.booleans())
    def damaged(where: int, change: int, cut: bool) -> None:
        flipped = whole[:where] + bytes([whole[where] ^ change]) + whole[where + 1 :]
        place.write_bytes(whole[:where] if cut else flipped)
        try:
            model = ho.load_model(place)
        except StoredError:
            return
        assert not cut
        assert np.array_equal(model.predict_proba(X), expected)  # a byte that says nothing, such as a date

    damaged()


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (node("os", "system", "FunctionNode"), "os.system"),
        (node("builtins", "eval", "TypeNode"), "builtins.eval"),
        (node("subprocess", "Popen", "ConstructorFromReduceNode", content=words("touch ran")), "subprocess.Popen"),
        (
            node("heldout.catalogue.learners", "import_learner", "FunctionNode"),
            "heldout.catalogue.learners.import_learner",
        ),
        (
            node("sklearn.linear_model", "Ridge", "ConstructorFromReduceNode", content=words()),
            "sklearn.linear_model.Ridge",
        ),
        (node("test_stranger", "Evil", "ObjectNode"), "test_stranger.Evil"),
        (node("operator", "methodcaller", "OperatorFuncNode", attrs=words("system")), "operator.methodcaller"),
    ],
)
def test_foreign_types_are_named_and_nothing_runs(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch, tree: Any, named: str
) -> None:
    (tmp_path / "test_stranger.py").write_text("open('ran', 'w').close()\nclass Evil: pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    place = of_tree(good, tmp_path / "evil.skops", tree)
    with pytest.raises(StoredError, match=f"holds types that no model file of heldout has: {named}") as caught:
        ho.load_model(place, trust=["lightgbm", "xgboost", "catboost"])
    assert "nothing ran" in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.data.compressed.FREE_BYTES", 1 << 20)
    array = io.BytesIO()
    np.save(array, np.zeros(1 << 18))
    one = {"type": "numpy", "file": "zeros.npy"}
    tree = node("numpy", "ndarray", "NdArrayNode", **one)
    place = of_tree(good, tmp_path / "bomb.skops", tree, **{"zeros.npy": array.getvalue()})
    assert place.stat().st_size < 10_000
    with pytest.raises(StoredError, match=r"'bomb\.skops' has .* but unpacks to 2\.\d+ MB: too much"):
        ho.load_model(place)
    small = io.BytesIO()
    np.save(small, np.zeros(1 << 10))
    many = [node("numpy", "ndarray", "NdArrayNode", __id__=i, **one) for i in range(1, 1000)]
    tree = node("builtins", "list", "ListNode", content=many)
    place = of_tree(good, tmp_path / "often.skops", tree, **{"zeros.npy": small.getvalue()})
    with pytest.raises(StoredError, match="too much"):
        ho.load_model(place)
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.npy", bytes(1 << 22))
    tree = node("scipy.sparse", "csr_matrix", "SparseMatrixNode", type="scipy", file="rows.npz")
    place = of_tree(good, tmp_path / "inner.skops", tree, **{"rows.npz": inner.getvalue()})
    with pytest.raises(StoredError, match="too much"):
        ho.load_model(place)
    monkeypatch.setattr(model_file, "MOST_TEXT", 1000)
    with pytest.raises(StoredError, match="too much"):
        ho.load_model(good)


@pytest.mark.parametrize("tree", ["[" * 100_000, '{"protocol": 2}', "null", '{"protocol": 99}', "[]", "{"])
def test_a_tree_of_objects_that_is_none(tmp_path: Path, good: Path, tree: str) -> None:
    with pytest.raises(StoredError, match="not a whole model file"):
        ho.load_model(of_tree(good, tmp_path / "tree.skops", tree))


def test_an_array_that_says_it_is_huge(tmp_path: Path, good: Path) -> None:
    header = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    tree = node("numpy", "ndarray", "NdArrayNode", type="numpy", file="a.npy")
    with pytest.raises(StoredError, match="not a whole model file"):
        ho.load_model(of_tree(good, tmp_path / "huge.skops", tree, **{"a.npy": header.ljust(127) + b"\n"}))


def test_an_edit_is_noticed(tmp_path: Path, good: Path) -> None:
    place = tmp_path / "edited.skops"
    for member in ("heldout.json", "schema.json"):
        with zipfile.ZipFile(good) as before, zipfile.ZipFile(place, "w") as after:
            for name in before.namelist():
                content = before.read(name)
                after.writestr(
                    name, content.replace(b"width", b"girth").replace(b"l2", b"l1") if name == member else content
                )
        with pytest.raises(StoredError, match="was changed after it was written"):
            ho.load_model(place)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["columns"].reverse(), "other columns than its predictor"),
        (lambda s: s["columns"].append(s["columns"][0]), "names a column twice"),
        (lambda s: s["columns"][0].update(holds="spells"), "Invalid enum value 'spells'"),
        (lambda s: s["columns"][0].update(evil=1), "unknown field `evil`"),
        (lambda s: s["columns"][0].update(values="abc"), "Expected `array"),
        (lambda s: s.update(width=9), "a width of 9 for 4 columns"),
        (lambda s: s.update(classes=["a", "b", "c"]), "other classes than its predictor"),
        (lambda s: s.update(target=7), "Expected `str . null`, got `int`"),
        (lambda s: s.pop("columns"), "other columns than its predictor"),
    ],
)
def test_a_schema_that_does_not_fit_the_predictor(
    tmp_path: Path, good: Path, change: Callable[[Any], Any], said: str
) -> None:
    schema = about(good)["schema"]
    change(schema)
    with pytest.raises(StoredError, match=f"not a whole model file: .*{said}"):
        ho.load_model(forged(good, tmp_path / "forged.skops", schema=schema))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(["schema", "estimate", "covers", "versions", "trust"]), value=JSON)
def test_whatever_the_page_says_ends_in_a_named_error_or_a_model(
    tmp_path: Path, good: Path, key: str, value: Any
) -> None:
    place = forged(good, tmp_path / "fuzzed.skops", **{key: value})
    try:
        model = open_model(place)
    except HeldoutError:
        return
    assert len(model.predict(X)) == len(X)


def broken_tree(change: Callable[[Any], Any]) -> Any:
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    state = model.tree_.__getstate__()
    change(state)
    model.tree_.__setstate__(state)
    return model


def set_nodes(name: str, value: int) -> Callable[[Any], Any]:
    def change(state: Any) -> None:
        state["nodes"] = state["nodes"].copy()
        state["nodes"][name][0] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_nodes("feature", 10**6), "a column that is not there"),
        (set_nodes("feature", -5), "a column that is not there"),
        (set_nodes("left_child", 10**6), "branches lead nowhere"),
        (set_nodes("right_child", 0), "branches lead nowhere"),
        (set_nodes("right_child", -7), "branches lead nowhere"),
        (lambda state: state.update(node_count=10**6), "nodes are not there"),
    ],
)
def test_trees_that_would_read_foreign_memory(change: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(StoredError, match=said):
        check_sound(broken_tree(change))


def test_a_forest_of_other_columns() -> None:
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    check_sound(forest)
    forest.estimators_[1] = DecisionTreeClassifier().fit(np.tile(X, 2), Y)
    with pytest.raises(StoredError, match="an ensemble whose trees are of other columns"):
        check_sound(forest)


@pytest.mark.parametrize(
    ("name", "value"), [("feature_idx", 99), ("feature_idx", -1), ("left", 10**6), ("right", 0), ("bitset_idx", 77)]
)
def test_boosted_trees_that_would_read_foreign_memory(name: str, value: int) -> None:
    table = X.assign(kind=np.arange(len(X)) % 5)
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=["kind"]).fit(table, table["kind"] % 2)
    check_sound(model)
    tree = model._predictors[0][0]
    assert tree.nodes["is_categorical"][0]
    tree.nodes = tree.nodes.copy()
    tree.nodes[name][0] = value
    with pytest.raises(StoredError, match="it holds a tree"):
        check_sound(model)


def test_a_neighbour_search_is_made_anew() -> None:
    model = KNeighborsClassifier(3, algorithm="kd_tree").fit(X.to_numpy(), Y)
    expected = model.kneighbors(X.to_numpy())[1]
    state = list(model._tree.__getstate__())
    state[1] = np.zeros_like(state[1])  # the order of the rows
    model._tree.__setstate__(tuple(state))
    assert not np.array_equal(model.kneighbors(X.to_numpy())[1], expected)
    check_sound(model)
    assert np.array_equal(model.kneighbors(X.to_numpy())[1], expected)


def test_words_sparse_rows_and_parts_without_an_owner() -> None:
    words_of = make_pipeline(CountVectorizer()).fit(["a good one", "a bad one"])
    check_sound(words_of)
    words_of[0].vocabulary_["good"] = 10**6
    with pytest.raises(StoredError, match="words whose places"):
        check_sound(words_of)
    matrix = CountVectorizer().fit_transform(["a good one", "a bad one"])
    matrix.indices[0] = 10**6
    with pytest.raises(StoredError, match="a sparse matrix that is not whole"):
        check_sound([matrix])
    with pytest.raises(StoredError, match="a tree that belongs to no estimator"):
        check_sound({"tree": DecisionTreeClassifier().fit(X, Y).tree_})
    check_sound(clone(words_of))  # what is not fitted has nothing to look at


def test_support_vectors_neighbours_and_categories_that_do_not_fit() -> None:
    for model in (SVC().fit(X, Y), SVR().fit(X, Y), SVC().fit(X.iloc[:100], Y.iloc[:100])):
        check_sound(model)
        model._dual_coef_ = model._dual_coef_[:, :3]
        with pytest.raises(StoredError, match="support vectors that do not fit"):
            check_sound(model)
    near = KNeighborsClassifier(algorithm="brute").fit(X, Y)
    check_sound(near)
    near._y = near._y + 10**6
    with pytest.raises(StoredError, match="neighbours of a class that is not there"):
        check_sound(near)
    kinds = pd.DataFrame({"kind": list("aaabbbcdef")})
    for encoder in (OneHotEncoder(max_categories=3), OneHotEncoder(drop="first"), OneHotEncoder()):
        check_sound(encoder.fit(kinds))
        encoder._n_features_outs = [1]
        with pytest.raises(StoredError, match="categories whose columns are not there"):
            check_sound(encoder)
    staged = GradientBoostingClassifier(n_estimators=2).fit(X, Y)
    check_sound(staged)
    staged.estimators_ = np.tile(staged.estimators_, 3)
    with pytest.raises(StoredError, match="boosting of other classes than its trees"):
        check_sound(staged)
    isolated = IsolationForest(n_estimators=2).fit(X)
    check_sound(isolated)
    isolated.estimators_features_ = [np.arange(2)] * 2
    with pytest.raises(StoredError, match="trees are of other columns"):
        check_sound(isolated)


def test_unsound_files_are_refused_by_name(tmp_path: Path) -> None:
    place = tmp_path / "unsound.skops"
    data = sio.dumps(broken_tree(set_nodes("left_child", 10**6)))
    model_file.write_file(place, data, {"schema": {}, "estimate": None, "covers": None, "trust": [], "versions": {}})
    with pytest.raises(
        StoredError, match=r"'unsound\.skops' is not a sound model: it holds a tree whose branches lead"
    ):
        ho.load_model(place)


def test_without_skops_the_way_out_is_said(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "find_spec", lambda _: None)
    with pytest.raises(HeldoutError, match=r"pip install 'heldout\[models\]'"):
        ho.load_model(good)
    with pytest.raises(HeldoutError, match="need skops"):
        ho.save_model(LogisticRegression(max_iter=500).fit(X, Y), good)


def test_a_column_of_pandas_is_not_needed(good: Path) -> None:
    assert ho.load_model(good).predict(X.to_numpy()).tolist() == ho.load_model(good).predict(pd.DataFrame(X)).tolist()
