"""What stands beside the best validation number: corrections and development-set bounds, at no further fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.risk.intervals.clopper_pearson import clopper_pearson
from heldout.risk.planning import dev_gap
from heldout.risk.selection import bbc

COUNTS = {"n_neighbors": [1, 3, 5, 9]}


def numbers(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(n, 4))
    return X, X[:, 0] + chance.normal(size=n)


def classes(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    X, y = numbers(n, seed)
    return X, (y > 0).astype(int)


def plain_rows(X: Any, y: Any, splits: Any, counts: list[int]) -> Any:
    """The squared loss of each candidate on each held-out row, parts end to end, by plain fits."""
    rows = []
    for count in counts:
        parts = [
            (
                y[splits.held_rows(p)]
                - KNeighborsRegressor(count)
                .fit(X[splits.train_rows(p)], y[splits.train_rows(p)])
                .predict(X[splits.held_rows(p)])
            )
            ** 2
            for p in range(len(splits))
        ]
        rows.append(np.concatenate(parts))
    return np.array(rows)


def test_the_corrections_are_those_of_the_held_out_losses_and_cost_no_fit():
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(5, repeats=2), jobs=1).fit(X, y)
    losses = plain_rows(X, y, tuned.splits_, COUNTS["n_neighbors"])
    folds = np.array([row.reshape(10, 12).mean(axis=1) for row in losses])
    best = int(folds.mean(axis=1).argmin())
    found = tuned.estimates_
    assert set(found) == {"best_validation", "best_validation_bbc", "best_validation_tt"}
    assert found["best_validation"].value == pytest.approx(folds[best].mean())
    assert found["best_validation_tt"].value == pytest.approx(
        folds[best].mean() + np.mean(folds[best] - folds.min(axis=0))
    )
    again = [bbc(losses, seed=seed, units=tuned.splits_.held, weights=np.full(120, 1 / 12)) for seed in range(30)]
    values = [one.value for one in again]
    assert min(values) <= found["best_validation_bbc"].value <= max(values)
    assert found["best_validation_bbc"].low < found["best_validation_bbc"].value < found["best_validation_bbc"].high
    assert tuned.plan_.cells == 40
    assert not found["best_validation_tt"].optimistic
    assert found["best_validation"].optimistic


def test_they_are_the_same_when_asked_again_and_after_pickling():
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(4), jobs=1).fit(X, y)
    other = clone(tuned).fit(X, y)
    copied = pickle.loads(pickle.dumps(other))
    assert copied.estimates_ == other.estimates_ == tuned.estimates_
    assert len(pickle.dumps(tuned)) == len(pickle.dumps(other))


def test_a_nested_study_averages_them_over_its_choices():
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(4), jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    outer = result._live.outcome.study.splits["outer"]
    alone = [clone(tuned).fit(X[rows], y[rows]).estimates_ for rows in map(outer.train_rows, range(3))]
    for name in ("best_validation_bbc", "best_validation_tt"):
        assert result.estimates[name].value == pytest.approx(np.mean([one[name].value for one in alone]))
        assert result.estimates[name].low is None
        assert "mean over 3 choices" in result.estimates[name].reason


def test_groups_are_drawn_whole():
    X, y = numbers(48)
    groups = np.repeat(np.arange(12), 4)
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(4), jobs=1).fit(X, y, groups=groups)
    losses = plain_rows(X, y, tuned.splits_, COUNTS["n_neighbors"])
    units, weights = groups[tuned.splits_.held], np.full(48, 1 / 12)
    together = [bbc(losses, seed=seed, units=units, weights=weights).value for seed in range(30)]
    value = tuned.estimates_["best_validation_bbc"].value
    assert min(together) <= value <= max(together)


@pytest.mark.parametrize(
    ("how", "roles", "name", "words"),
    [
        ({"choose": "one_se"}, {}, "best_validation_tt", "choose= asks for another"),
        ({"choose": "one_se"}, {}, "best_validation_bbc", "choose= asks for another"),
        ({"loss": "r2"}, {}, "best_validation_bbc", "'r2' belongs to whole sets"),
        ({"validation": ho.LeaveOneOut()}, {}, "best_validation_tt", "single row"),
        ({"validation": ho.Holdout(0.3)}, {}, "best_validation_tt", "several held-out parts"),
        ({"validation": ho.Forward(3)}, {"time": np.arange(60)}, "best_validation_bbc", "in time"),
    ],
)
def test_where_there_is_none_the_reason_is_given(how, roles, name, words):
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, **{"validation": ho.KFold(4), "jobs": 1} | how)
    found = tuned.fit(X, y, **roles).estimates_[name]
    assert found.value is None
    assert words in found.reason


def test_a_failed_fit_leaves_no_correction():
    X, y = numbers(20)
    found = (
        ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 18]}, validation=ho.KFold(4), jobs=1).fit(X, y).estimates_
    )
    assert "a fit failed" in found["best_validation_bbc"].reason
    assert "a fit failed" in found["best_validation_tt"].reason
    assert found["best_validation"].value is not None


def test_row_losses_are_kept_up_to_a_size_and_past_it_the_reason_is_given(monkeypatch):
    X, y = numbers()
    monkeypatch.setattr("heldout.engine.run.MOST_KEPT_ROW_LOSSES", 4 * 60 - 1)
    found = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(4), jobs=1).fit(X, y).estimates_
    assert "are not kept" in found["best_validation_bbc"].reason
    assert found["best_validation_tt"].value is not None


def test_under_many_rows_a_nested_study_leaves_bbc_to_tuned():
    chance = np.random.default_rng(0)
    X = chance.normal(size=(1500, 2))
    y = X[:, 0] + chance.normal(size=1500)
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3), jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(5), jobs=1)
    assert "at most 4,096 held-out rows" in result.estimates["best_validation_bbc"].reason
    assert result.estimates["best_validation_tt"].value is not None
    assert "best_validation_bbc" not in str(result)
    assert tuned.fit(X, y).estimates_["best_validation_bbc"].value is not None


def test_with_one_candidate_nothing_was_chosen():
    X, y = numbers()
    found = ho.Tuned(Ridge(), validation=ho.KFold(4), jobs=1).fit(X, y).estimates_
    assert set(found) == {"best_validation", "fold_predictors"}
    assert found["fold_predictors"].value == found["best_validation"].value
    assert not found["best_validation"].optimistic
    assert found["best_validation"].estimand == "expected squared risk of the learner trained on 45 rows"
    kept = ho.Tuned(Ridge(), validation=ho.Holdout(0.25), final="keep", jobs=1).fit(X, y).estimates_["best_validation"]
    assert (kept.optimistic, kept.estimand) == (False, "squared risk of this predictor, trained on 45 rows")
    assert "chose" not in kept.reason


# Development sets


@pytest.mark.parametrize(("loss", "turned"), [("zero_one", False), ("accuracy", True)])
def test_a_development_set_bounds_the_kept_predictor_and_the_family(loss, turned):
    X, y = classes()
    dev = ho.Holdout(0.25, stratify=False)
    tuned = ho.Tuned(KNeighborsClassifier(), COUNTS, validation=dev, final="keep", loss=loss, jobs=1).fit(X, y)
    found = tuned.estimates_
    value = found["development_chosen"].value
    errors = round(30 * (1 - value if turned else value))
    alone = clopper_pearson(errors, 30, level=1 - 0.05 / 4)
    ends = (1 - alone.high, 1 - alone.low) if turned else (alone.low, alone.high)
    for name in ("development_chosen", "development_best"):
        assert (found[name].low, found[name].high) == pytest.approx(ends)
        assert found[name].guarantee == "finite-sample"
    gap = found["development_gap"]
    assert (gap.low, gap.high) == (0.0, pytest.approx(dev_gap(30, candidates=4)))
    assert "without the development rows" in found["development_chosen"].estimand
    assert tuned.covers_.estimate == "development_chosen"
    assert tuned.covers_.exactly


def test_a_stratified_development_set_promises_less():
    X, y = classes()
    tuned = ho.Tuned(KNeighborsClassifier(), COUNTS, validation=ho.Holdout(0.25), final="keep", jobs=1).fit(X, y)
    assert tuned.estimates_["development_chosen"].guarantee == "heuristic"


def test_retraining_gives_the_bound_up_and_says_so():
    X, y = classes()
    found = ho.Tuned(KNeighborsClassifier(), COUNTS, validation=ho.Holdout(0.25), jobs=1).fit(X, y).estimates_
    assert found["development_chosen"].low is None
    assert 'final="keep" keeps it' in found["development_chosen"].reason
    assert found["development_best"].low is not None


@pytest.mark.parametrize(
    ("learner", "roles", "words"),
    [
        (ho.Tuned(KNeighborsRegressor(), COUNTS), {}, "bounded range"),
        (ho.Tuned(KNeighborsClassifier(), COUNTS, loss="f1"), {}, "whole sets"),
        (ho.Tuned(KNeighborsClassifier(), COUNTS), {"groups": np.repeat(np.arange(30), 4)}, "come in groups"),
        (
            ho.Tuned(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
            {"sample_weight": np.linspace(1, 2, 120)},
            "weights",
        ),
        (ho.Tuned(KNeighborsClassifier(), COUNTS, choose=lambda results: 0), {}, "choose="),
    ],
)
def test_where_a_development_set_has_no_bound_the_reason_is_given(learner, roles, words):
    X, y = classes()
    learner = clone(learner).set_params(validation=ho.Holdout(0.25), final="keep", jobs=1)
    found = learner.fit(X, y, **roles).estimates_
    assert found["development_chosen"].low is None
    assert words in found["development_chosen"].reason
    assert "development_gap" not in found


def test_a_study_with_one_development_set_shows_its_bound():
    X, y = classes()
    tuned = ho.Tuned(KNeighborsClassifier(), COUNTS, validation=ho.Holdout(0.25), final="keep", jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.Holdout(0.25), jobs=1)
    assert result.estimates["development_chosen"].low is not None
    assert "development_chosen" not in ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1).estimates


# The null: labels independent of features


def test_on_null_data_nested_is_unbiased_and_the_best_number_is_not():
    best, corrected, nested = [], [], []
    tuned = ho.Tuned(
        KNeighborsClassifier(), {"n_neighbors": list(range(1, 16))}, validation=ho.KFold(4, stratify=False), jobs=1
    )
    for seed in range(40):
        chance = np.random.default_rng(seed)
        X, y = chance.normal(size=(40, 6)), chance.integers(0, 2, size=40)
        result = ho.evaluate(tuned, X, y, test=ho.KFold(3, stratify=False), seed=seed, jobs=1)
        nested.append(result.risk.value)
        best.append(result.estimates["best_validation"].value)
        corrected.append(result.estimates["best_validation_bbc"].value)
    error = np.std(best) / np.sqrt(40)
    assert np.mean(best) < 0.5 - 5 * error
    assert abs(np.mean(nested) - 0.5) < 3 * np.std(nested) / np.sqrt(40)
    assert np.mean(best) + 2 * error < np.mean(corrected)


def test_all_estimates_of_a_choice_speak_of_the_same_training_size() -> None:
    X, y = numbers(16)
    found = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 3]}, validation=3, jobs=1).fit(X, y).estimates_
    assert {name: one.train_size for name, one in found.items()} == dict.fromkeys(found, pytest.approx(32 / 3))


def test_rows_of_no_weight_leave_the_corrections_finite(tmp_path: Any) -> None:
    X, y = numbers(40)
    groups, weight = np.arange(40) % 10, (np.arange(40) % 10 < 3) * 1.0
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(2, stratify=False))
    result = ho.evaluate(learner, X, y, test=ho.Given([0, 10, 20]), sample_weight=weight, jobs=1)
    corrected = result.estimates["best_validation_bbc"]
    assert np.isfinite([corrected.value, corrected.low, corrected.high]).all()
    result.save(tmp_path / "study.heldout")
    assert ho.load(tmp_path / "study.heldout").estimates == result.estimates
    alone = clone(learner).set_params(validation=ho.Given(np.flatnonzero(groups < 1)), jobs=1)
    one_group = alone.fit(X, y, groups=groups, sample_weight=weight).estimates_["best_validation_bbc"]
    assert one_group.reason == "No value: BBC-CV draws rows, or whole groups, and needs at least two."
