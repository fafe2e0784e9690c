"""Spaces and own learners as people write them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_pages import with_learners

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.base.errors import HeldoutError, LearnerError, OptionError, SpaceError
from heldout.catalogue.entries import CATALOGUE, MOST_ROWS
from heldout.catalogue.learners import expand_names, import_learner, learner_named
from heldout.catalogue.preparation import survey_table
from heldout.catalogue.spaces import parse_spaces

X = pd.DataFrame({"a": np.arange(60.0) ** 1.5, "b": np.arange(60) % 7})


def space_of(name: str, *texts: str, classification: bool = False) -> dict[str, list[object]]:
    spaces = parse_spaces(texts)
    return learner_named(name, X, classification=classification, spaces=spaces)[1]


def test_values_are_those_written() -> None:
    np.testing.assert_allclose(space_of("ridge", "ridge.alpha=log:1e-6:1e2:17")["ridge__alpha"], ho.log_grid(-6, 2, 17))
    assert space_of("ridge", "ridge.alpha=log:0.01:100:5")["ridge__alpha"] == [0.01, 0.1, 1.0, 10.0, 100.0]
    knn = space_of("knn", "knn.n_neighbors=1,3,5")
    assert knn == {"knn__n_neighbors": [1, 3, 5], "knn__weights": ["uniform", "distance"]}
    assert space_of("knn", "knn.n_neighbors=lin:1:10:4", "knn.weights=fixed") == {"knn__n_neighbors": [1, 4, 7, 10]}
    assert space_of("lasso", "lasso.alpha=fixed:0.5") == {"lasso__regressor__alpha": [0.5]}
    assert space_of("tree", "tree.max_depth=none,3", "tree.max_leaf_nodes=fixed", "tree.min_samples_leaf=1") == {
        "tree__max_depth": [None, 3],
        "tree__min_samples_leaf": [1],
    }
    assert space_of("forest", "forest=fixed") == {}
    assert space_of("svm", "svm.gamma=scale,0.1")["svm__regressor__gamma"] == ["scale", 0.1]
    assert space_of("logistic", "logistic.fit_intercept=true,false", classification=True)[
        "logistic__fit_intercept"
    ] == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ridge.alpha", r"learner\.parameter=values, not 'ridge\.alpha'"),
        ("ridge.alpha=", r"learner\.parameter=values"),
        ("ridge=1,2", r"names no parameter"),
        ("ridge.alpha=log:0:1:3", r"begins above 0, not at 0"),
        ("ridge.alpha=log:1:2", r"a range is log:low:high:count"),
        ("ridge.alpha=lin:2:1:3", r"from a finite low to a finite high"),
        ("ridge.alpha=lin:0:1:2.5", r"whole number from 1 to 10,000, not 2\.5"),
        ("ridge.alpha=log:1:2:1000000000", r"whole number from 1 to 10,000"),
        ("ridge.alpha=exp:1:2:3", r"no range 'exp'"),
        ("ridge.alpha=1,,2", r"a value is empty"),
        ("ridge.alpha=1,2,1", r"1 is there twice"),
        ("ridge.alfa=1", r"'ridge' has no parameter 'alfa'. Did you mean 'alpha'\?"),
        ("ridge.alpha=-1", r"ridge\.alpha: The 'alpha' parameter of Ridge must be"),
        ("ridge.alpha=word", r"ridge\.alpha: The 'alpha' parameter of Ridge must be"),
        ("rigde.alpha=1", r"'ridge'|rigde: this learner does not compete. Did you mean 'ridge'"),
    ],
)
def test_what_cannot_be_is_refused_before_any_fit(text: str, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        tuned_learner(["ridge"], X, classification=False, spaces=parse_spaces([text]))


def test_a_fraction_written_for_a_count_is_refused_not_rounded() -> None:
    with pytest.raises(SpaceError, match=r"knn\.n_neighbors: The 'n_neighbors' parameter .* must be"):
        space_of("knn", "knn.n_neighbors=1.5,2")


def test_the_same_place_twice() -> None:
    for texts in (["ridge.alpha=1", "ridge.alpha=2"], ["ridge=fixed", "ridge.alpha=2"], ["ridge=fixed", "ridge=fixed"]):
        with pytest.raises(SpaceError, match="given twice"):
            parse_spaces(texts)


@given(st.lists(st.text(alphabet="ab.=:,1e-+ logfixedn", max_size=25), max_size=3))
def test_any_text_is_a_space_or_a_named_error(texts: list[str]) -> None:
    try:
        found = parse_spaces(texts)
    except SpaceError:
        return
    assert len(found) <= len(texts)


def test_all_is_every_learner_of_scikit_learn_that_suits() -> None:
    for classification in (True, False):
        table = survey_table(X, classes=2 if classification else 0)
        names, left_out = expand_names(["all"], table, classification=classification)
        own = [n for n, e in CATALOGUE.items() if e.suits(classification=classification) and e.package is None]
        assert list(names) == own
        assert left_out == {}
        assert type(tuned_learner(["all"], X, classification=classification)) is ho.Tuned
    more, _ = expand_names(["all", "lightgbm", "ridge"], table, classification=False)
    assert more == (*names, "lightgbm")


def test_all_leaves_out_what_a_loss_or_the_size_forbids_and_says_why() -> None:
    table = survey_table(X, classes=2)
    names, left_out = expand_names(["all"], table, classification=True, loss="log")
    assert {"ridge", "svm"} == set(left_out)
    assert "logistic" in names
    long = survey_table(pd.DataFrame({"a": np.arange(MOST_ROWS + 1) * 1.5}), classes=2)
    assert "more than 10,000 rows" in expand_names(["all"], long, classification=True)[1]["svm"]
    assert "svm" in expand_names(["all", "svm"], long, classification=True)[0]


def test_large_tables_have_smaller_spaces() -> None:
    for classes in (0, 2, 10):
        small, large = (survey_table(X.iloc[[0] * rows], classes=classes) for rows in (100, 6_000))
        for entry in CATALOGUE.values():
            sizes = [np.prod([len(v) for v in entry.space(t).values()]) for t in (small, large)]
            assert sizes[1] <= sizes[0] or entry.name == "knn"  # more rows allow for more neighbours


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.catalogue.boosters.find_spec", lambda name: None)
    with pytest.raises(LearnerError, match=r"'lightgbm' needs lightgbm, which is not installed.*pip install lightgbm"):
        tuned_learner(["lightgbm"], X, classification=False)


MODULE = """
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

class Mean(RegressorMixin, BaseEstimator):
    def __init__(self, shrink=0.0):
        self.shrink = shrink
    def fit(self, X, y):
        self.mean_ = float(y.mean()) * (1 - self.shrink)
        return self
    def predict(self, X):
        import numpy as np
        return np.full(len(X), self.mean_)

class Needs(Mean):
    def __init__(self, must):
        self.must = must

def plain():
    return make_pipeline(Ridge())

ready = Mean(0.5)
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_models.py").write_text(MODULE)
    (tmp_path / "own_broken.py").write_text("raise RuntimeError('boom')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_models", raising=False)
    return tmp_path


def test_own_learners_are_imported_only_when_allowed(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"would import code and run it.*add --allow-import"):
        tuned_learner(["own_models:Mean"], X, classification=False)
    assert "own_models" not in sys.modules
    spaces = parse_spaces(["Mean.shrink=0,0.5"])
    learner = tuned_learner(["ridge", "own_models:Mean"], X, classification=False, spaces=spaces, allow_import=True)
    assert list(learner.estimator) == ["ridge", "Mean"]
    assert learner.estimator["Mean"][1] == {"Mean__shrink": [0, 0.5]}
    result = ho.evaluate(learner, X, X["a"], test=ho.KFold(3), jobs=1)
    assert result.risk.value < 1e3


def test_classes_functions_and_estimators_are_taken(folder: Path) -> None:
    assert import_learner("own_models:ready", allowed=True).shrink == 0.5
    pipeline, space = learner_named("own_models:plain", X, classification=False, allow_import=True)
    assert [name for name, _ in pipeline.steps] == ["ridge"]
    assert space == {}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("own_models:Meen", "no 'Meen' in it. Did you mean 'Mean'"),
        ("own_nothing:Mean", "'own_nothing' cannot be imported: ModuleNotFoundError"),
        ("own_broken:Mean", "'own_broken' cannot be imported: RuntimeError: boom"),
        ("own_models:Needs", "cannot be made without arguments: TypeError"),
        ("own_models:number", "is a int, not an estimator"),
        ("own-models:Mean", r"written as package\.module:Name"),
        (":Mean", r"written as package\.module:Name"),
        ("builtins:dict", "dict has no fit and get_params"),
    ],
)
def test_what_is_no_learner_is_named(folder: Path, path: str, message: str) -> None:
    with pytest.raises(HeldoutError, match=message):
        import_learner(path, allowed=True)


def test_an_own_learner_of_the_other_kind_is_refused(folder: Path) -> None:
    with pytest.raises(LearnerError, match="is a regressor, but the target needs a classifier"):
        tuned_learner(["own_models:Mean"], X, classification=True, allow_import=True)


def test_the_page_shows_the_catalogue_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
    assert page == with_learners(page), "python docs/make_pages.py"
    for name in CATALOGUE:
        assert f"| `{name}` |" in page
