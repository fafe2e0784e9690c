"""What stands beside the best validation number: corrections and development-set bounds, at no further fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.api import final
from heldout.report.show import as_text, as_view
from heldout.report.terminal import open_console
from heldout.risk.intervals.bayle import bayle
from heldout.risk.intervals.binomial import clopper_pearson
from heldout.risk.rows_needed import dev_gap
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


CORRECTED = ("best_validation", "best_validation_bbc", "best_validation_tt")


def test_a_nested_study_takes_them_from_the_choice_on_all_rows():
    X, y = numbers()
    tuned = ho.Tuned(KNeighborsRegressor(), COUNTS, validation=ho.KFold(4), jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    alone = clone(tuned).fit(X, y).estimates_
    assert {name: result.estimates[name] for name in CORRECTED} == {name: alone[name] for name in CORRECTED}
    assert result.estimates["best_validation"].train_size == 45  # of all 60 rows, not of the 40 of a test fold
    assert "trained on 45 rows" in result.estimates["best_validation"].estimand


def test_where_it_would_take_fits_the_best_number_waits_for_the_predictor(tmp_path):
    X, y = numbers()
    space = {"max_depth": [1, 2, 4]}
    tuned = ho.Tuned(DecisionTreeRegressor(random_state=0), space, validation=ho.KFold(4), jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    before = result.estimates
    for name in CORRECTED:
        assert before[name].value is None
        assert "result.predictor" in before[name].reason
    assert "No value: it needs the validation fits on all rows" in as_text("whole result", result.summary())
    assert "optimism" not in str(result)
    assert "no best validation number" in result.summary()["verdict"]["optimism"]
    assert result.predictor is not None
    alone = clone(tuned).fit(X, y)
    assert {name: result.estimates[name] for name in CORRECTED} == {name: alone.estimates_[name] for name in CORRECTED}
    assert -alone.best_score_ == result.estimates["best_validation"].value
    result.save(tmp_path / "study.heldout")
    assert ho.load(tmp_path / "study.heldout").estimates == result.estimates


def test_where_it_waits_the_terminal_says_so_in_two_lines():
    X, y = numbers()
    tuned = ho.Tuned(DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, validation=3)
    summary = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1).summary()
    console = open_console()
    console.width = 80
    with console.capture() as captured:
        console.print(as_view("whole result", summary))
    lines = [line.strip() for line in captured.get().splitlines()]
    first = next(place for place, line in enumerate(lines) if line.startswith("best validation number optimistic"))
    assert "result.predictor or --save model.skops" in " ".join(lines[first + 1 : first + 3])
    assert lines[first + 3] == ""


@pytest.mark.parametrize(
    ("learner", "space", "words"),
    [
        (Ridge(), {"alpha": [0.1, 1.0]}, "takes 4 fits more, made when it is first read"),
        (
            DecisionTreeRegressor(random_state=0),
            {"max_depth": [1, 2]},
            "takes 8 fits more, made only for result.predictor or --save model.skops",
        ),
    ],
    ids=["ridge", "tree"],
)
def test_explain_prices_the_choice_on_all_rows(learner, space, words, monkeypatch):
    X, y = numbers()
    tune, tunings = final.tune_on_all_rows, []
    monkeypatch.setattr(final, "tune_on_all_rows", lambda *given: tunings.append(tune(*given)) or tunings[-1])
    tuned = ho.Tuned(learner, space, validation=ho.KFold(4))
    plan = ho.explain(tuned, X, y, test=ho.KFold(3))
    assert plan.notes[-1] == f"best validation: the choice on all rows {words}"
    for simpler in (ho.explain(learner, X, y, test=ho.KFold(3)), ho.explain(tuned, X, y, test=ho.Holdout(0.3))):
        assert not any("best validation" in note for note in simpler.notes)
    made = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    assert made.predictor is not None
    assert [tuning.account.fits for tuning in tunings] == [int(words.split()[1])]


def test_reading_the_best_number_fits_nothing_that_the_plan_does_not_count_cheap(monkeypatch):
    X, y = numbers()
    tune = final.tune_on_all_rows
    for learner, space, cheap in (
        (Ridge(), {"alpha": [0.1, 1.0]}, True),
        (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, False),
    ):
        made = []
        monkeypatch.setattr(final, "tune_on_all_rows", lambda *given, made=made: made.append(given) or tune(*given))
        result = ho.evaluate(ho.Tuned(learner, space, validation=3), X, y, test=ho.KFold(3), jobs=1)
        assert made == []  # evaluate itself made nothing of it
        assert (result.estimates["best_validation"].value is not None) == cheap
        assert len(made) == cheap
    by_hand = ho.evaluate(
        ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=3),
        X,
        y,
        test=ho.KFold(3),
        jobs=1,
        options=ho.Options(rules={"ridge": False}),
    )
    assert by_hand.estimates["best_validation"].value is None


def test_validation_that_cannot_split_all_rows_leaves_the_best_number_out():
    X, y = numbers()

    class Small(KFold):  # type: ignore[misc]
        def split(self, X, y=None, groups=None):
            if len(X) > 50:
                raise ValueError("too many rows")
            return super().split(X, y, groups)

    result = ho.evaluate(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=Small(3)), X, y, test=ho.KFold(3), jobs=1)
    assert result.risk.value is not None
    assert result.estimates["best_validation"].value is None
    assert "too many rows" in result.estimates["best_validation"].reason


def test_optimism_is_told_as_a_difference():
    X, y = numbers()
    result = ho.evaluate(ho.Tuned(Ridge(), {"alpha": [0.1, 50.0]}, validation=3), X, y, test=ho.KFold(3), jobs=1)
    gap = result.risk.value**0.5 - result.estimates["best_validation"].value ** 0.5
    told = result.summary()["verdict"]["optimism"]
    assert f"The optimism is {gap:.3g}: the number to quote minus that one." in told
    assert "training sets of 40 rows" in told
    assert "The training sizes differ" not in told
    assert f"is {gap:.1f} too good" in str(result)


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
    X = chance.normal(size=(4200, 2))
    y = X[:, 0] + chance.normal(size=4200)
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3), jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(5), jobs=1)
    assert "at most 4,096 held-out rows" in result.estimates["best_validation_bbc"].reason
    assert result.estimates["best_validation_tt"].value is not None
    assert "best_validation_bbc" not in str(result)
    assert tuned.fit(X, y).estimates_["best_validation_bbc"].value is not None


def test_the_fold_predictors_of_a_fit_have_the_interval_of_their_row_losses():
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), validation=ho.KFold(4), jobs=1).fit(X, y)
    pairs = [(tuned.splits_.train_rows(p), tuned.splits_.held_rows(p)) for p in range(4)]
    losses = [(y[held] - Ridge().fit(X[train], y[train]).predict(X[held])) ** 2 for train, held in pairs]
    expected = bayle(losses, level=0.95)
    found = tuned.estimates_["fold_predictors"]
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (found.method, found.guarantee) == ("Bayle, all pairs", "asymptotic")
    grouped = ho.Tuned(Ridge(), validation=ho.KFold(4), jobs=1).fit(X, y, groups=np.arange(60) // 2)
    assert "come in groups" in grouped.estimates_["fold_predictors"].reason


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
