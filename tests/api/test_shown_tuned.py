from __future__ import annotations

import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.api import tuned as tuned_module

X, y = load_iris(return_X_y=True)
OURS = "heldout-view"


def tuned(**more):
    return ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, validation=ho.KFold(3), **more)


@pytest.fixture
def fitted():
    return tuned().fit(X, y)


def both_ways(learner):
    """What a notebook is given, by either of scikit-learn's hooks; the diagrams number themselves."""
    html, bundle = learner._repr_html_(), learner._repr_mimebundle_()
    assert html[html.index(f'"{OURS}') :] == bundle["text/html"][bundle["text/html"].index(f'"{OURS}') :]
    return html


def test_before_fitting_there_is_scikit_learns_diagram_alone():
    html = tuned()._repr_html_()
    assert "sk-top-container" in html
    assert OURS not in html


def test_after_fitting_the_choice_stands_below_the_diagram(fitted):
    html = both_ways(fitted)
    assert html.index("sk-top-container") < html.index(OURS)
    words = f"<strong>KNeighborsClassifier n_neighbors={fitted.best_params_['n_neighbors']}</strong>, of 3 candidates"
    assert words in html
    assert f"error rate {-fitted.best_score_:.4g} in validation, mean of 3 parts" in html
    assert str(fitted.covers_).replace("'", "&#x27;") in html


def test_neither_showing_nor_listing_makes_the_estimates(fitted, monkeypatch):
    made = []
    make = tuned_module.tuning_estimates
    monkeypatch.setattr(tuned_module, "tuning_estimates", lambda selection: made.append(selection) or make(selection))
    both_ways(fitted)
    make_pipeline(StandardScaler(), fitted)._repr_html_()
    assert "estimates_" in dir(fitted)
    assert made == []
    assert fitted.estimates_
    assert len(made) == 1


def test_estimates_that_were_made_are_shown(fitted):
    assert "corrected by Tibshirani" not in both_ways(fitted)
    corrected = fitted.estimates_["best_validation_tt"].value
    html = both_ways(fitted)
    assert "corrected by Tibshirani" in html
    assert f">{corrected:.4g}</td>" in html
    assert "estimates_" in dir(fitted)


def test_a_score_is_shown_in_the_users_own_sign():
    learner = tuned(loss="accuracy").fit(X, y)
    assert learner.best_score_ > 0.9
    assert f"accuracy {learner.best_score_:.4g} in validation" in both_ways(learner)


def test_attributes_are_listed_as_scikit_learn_lists_them(fitted):
    before = set(dir(tuned()))
    assert not {"estimates_", "best_params_", "classes_"} & before
    assert {"fit", "predict", "get_params"} <= before
    assert {"estimates_", "best_params_", "classes_", "covers_"} <= set(dir(fitted))
    rows, target = load_diabetes(return_X_y=True)
    regressor = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3)).fit(rows, target)
    assert "classes_" not in dir(regressor)


def test_text_is_shown_where_scikit_learn_is_set_to_text(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert list(fitted._repr_mimebundle_()) == ["text/plain"]


def test_families_that_compete_have_a_diagram_and_a_choice():
    families = {"<b>": (KNeighborsClassifier(), {"n_neighbors": [1, 5]})}
    learner = ho.Tuned(families, validation=[(list(range(0, 150, 2)), list(range(1, 150, 2)))]).fit(X, y)
    assert "<strong>&lt;b&gt; n_neighbors=" in both_ways(learner)
