"""Preparation of columns inside the folds: dates, prose, many values, and what was never seen."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.base.errors import ColumnError
from heldout.catalogue.learners import learner_named, learner_names
from heldout.catalogue.preparation import DIRECTIONS, MEASURED, SCALED, preparation_steps, prepare_columns, survey_table
from heldout.catalogue.spaces import parse_spaces
from heldout.catalogue.transformers import DateParts, TextParts

EVERY = [(name, c) for c in (True, False) for name in learner_names(classification=c)]
WORDS = ["good", "bad", "cheap", "slow", "quick", "red", "blue", "large"]


def table(rows: int = 90, seed: int = 0) -> pd.DataFrame:
    """Prose, a category of many values, a moment and a number, each with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "review": [" ".join(rng.choice(WORDS, 6)) for _ in range(rows)],
            "shop": [f"s{i}" for i in rng.integers(0, 45, rows)],
            "when": pd.Timestamp("2024-01-01 08:30") + pd.to_timedelta(rng.integers(0, 9000, rows), unit="h"),
            "size": rng.normal(size=rows),
        }
    )
    for name in frame.columns:
        frame.loc[rng.random(rows) < 0.1, name] = None
    return frame


def target(X: pd.DataFrame, *, classification: bool) -> np.ndarray:
    good = X["review"].fillna("").str.count("good").to_numpy(dtype=float)
    return np.where(good > 0.5, "yes", "no") if classification else 100 * good


@pytest.mark.parametrize(("name", "classification"), EVERY)
def test_every_learner_takes_prose_moments_and_many_values(name: str, classification: bool) -> None:
    X = table()
    survey = survey_table(X, classes=2 if classification else 0)
    assert survey.kinds["texts"] == ["review"]
    assert survey.many == {"shop"}
    estimator, space = learner_named(name, X, classification=classification, table=survey)
    estimator.set_params(**{parameter: values[0] for parameter, values in space.items()})
    fitted = clone(estimator).fit(X, target(X, classification=classification))
    new = table(seed=1).assign(shop="never seen", review=None, when=pd.NaT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(fitted.predict(new)) == len(new)


def test_linear_learners_learn_from_words() -> None:
    X = table(400)
    y = target(X, classification=False)
    estimator, _ = learner_named("ridge", X, classification=False)
    assert estimator.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9


def test_prose_is_a_column_a_word_or_a_few_directions() -> None:
    X = table()[["review"]]
    y = target(X, classification=False)
    assert prepare_columns(survey_table(X), SCALED).fit_transform(X, y).shape == (90, len(WORDS))
    many = X.assign(review=[f"word{i} other{i % 40} thing{i % 30} more{i % 20}" for i in range(90)])
    assert prepare_columns(survey_table(many), MEASURED).fit_transform(many, y).shape == (90, DIRECTIONS)


def test_prose_without_a_common_word_gives_no_columns() -> None:
    X = pd.DataFrame({"review": ["one two", "three four", None]})
    for parts in (TextParts(), TextParts(directions=4)):
        assert parts.fit(X).transform(X).shape == (3, 0)
        assert parts.get_feature_names_out().tolist() == []


def test_names_of_parts_match_their_columns() -> None:
    X = table()
    for parts in (TextParts(), TextParts(directions=3, random_state=0)):
        assert parts.fit_transform(X[["review"]]).shape[1] == len(parts.get_feature_names_out())
    for circles in (True, False):
        dates = DateParts(circles=circles)
        assert dates.fit_transform(X[["when"]]).columns.tolist() == dates.get_feature_names_out().tolist()


def test_december_is_next_to_january_on_a_circle() -> None:
    days = pd.DataFrame({"d": pd.to_datetime(["2023-12-31", "2023-01-01", "2023-07-01"])})
    parts = DateParts().fit_transform(days)
    places = parts[["d_year_sin", "d_year_cos"]].to_numpy()
    assert np.linalg.norm(places[0] - places[1]) < 0.1 < 1.9 < np.linalg.norm(places[0] - places[2])
    assert "d_day_sin" not in parts.columns
    assert DateParts().fit(days.assign(d=days["d"] + pd.Timedelta("3h"))).timed_ == ["d"]


def test_moments_of_a_zone_keep_their_local_hour() -> None:
    when = pd.DataFrame({"w": pd.to_datetime(["2024-07-01 00:30"]).tz_localize("Europe/Zurich")})
    assert DateParts(circles=False).fit_transform(when)["w_hour"].tolist() == [0.5]


def test_durations_are_days() -> None:
    stay = pd.DataFrame({"stay": pd.to_timedelta(["36h", None])})
    parts = DateParts().fit_transform(stay)
    assert parts.columns.tolist() == ["stay_days"]
    assert parts["stay_days"].iloc[0] == 1.5
    assert np.isnan(parts["stay_days"].iloc[1])


def test_plain_numbers_get_a_plain_scaler_that_kernels_know() -> None:
    X = pd.DataFrame({"a": np.arange(60.0) ** 1.5, "b": np.arange(60) % 7})
    estimator, _ = learner_named("ridge", X, classification=False)
    assert [type(step) for _, step in estimator.steps[:-1]] == [StandardScaler]
    assert len(learner_named("forest", X, classification=False)[0].steps) == 1
    plan = ho.explain(tuned_learner(["ridge", "knn"], X, classification=False), X, X["a"])
    assert {line.rule for line in plan.lines if line.level == "validation"} == {"ridge", "neighbours"}
    for gaps in (X.assign(a=np.nan), X.assign(b=pd.array(X["b"], dtype="Int64")), X.assign(b=X["b"] > 2)):
        assert not survey_table(gaps).plain


def test_other_tables_are_prepared_once_a_training_set_for_all_learners() -> None:
    X = table()
    y = target(X, classification=True)
    learner = tuned_learner(["logistic", "svm"], X, classification=True, validation=ho.KFold(3))
    by_scikit_learn = ho.Options(rules={"glm": False, "vectors": False})
    plan = ho.explain(learner, X, y, test=ho.KFold(3), options=by_scikit_learn)
    (note,) = [p.note for p in plan.passes if p.name == "within"]
    assert note.endswith("→ 9 transformer fits")


def test_what_is_prepared_once_is_what_brute_force_prepares() -> None:
    X = table()
    y = target(X, classification=True)
    two = ["ridge.alpha=1,10", "lda.shrinkage=0.1,0.5", "knn.n_neighbors=3,9", "knn.weights=fixed"]
    two += ["tree.max_leaf_nodes=4,8", "tree.min_samples_leaf=1"]
    learner = tuned_learner(
        ["ridge", "lda", "knn", "tree"],
        X,
        classification=True,
        spaces=parse_spaces(two),
        validation=ho.KFold(2),
    )
    asked = {"test": ho.KFold(2), "jobs": 1, "progress": False}
    shared = ho.evaluate(learner, X, y, **asked)
    assert [finding for finding in shared.findings if finding.code == "H205"] == []
    alone = ho.evaluate(learner, X, y, **asked, options=ho.Options(rules={"within": False, "neighbours": False}))
    pd.testing.assert_frame_equal(shared.choices, alone.choices)
    assert shared.risk == alone.risk


def test_identifiers_alone_are_refused() -> None:
    X = pd.DataFrame({"id": np.arange(30), "code": [f"c{i}" for i in range(30)]})
    with pytest.raises(ColumnError, match=r"Every column is an identifier \(id, code\)"):
        preparation_steps(survey_table(X), "scaled")


def test_identifiers_among_others_are_not_learned_from() -> None:
    X = pd.DataFrame({"id": np.arange(30), "size": np.linspace(0, 1, 30)})
    estimator, _ = learner_named("ridge", X, classification=False)
    assert isinstance(estimator, Pipeline)
    fitted = estimator.fit(X, X["size"])
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(X.assign(id=7)))
