"""Bad inputs through the public surface: each is told who, what and the way out, before anything is fitted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer, mean_absolute_error
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import heldout as ho
from heldout.base.errors import FitFailed


class NeverFitted(Ridge):  # type: ignore[misc]
    """A learner that must not be reached."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise AssertionError("fitted in spite of a bad input")


class NeverFittedClassifier(KNeighborsClassifier):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Any:
        raise AssertionError("fitted in spite of a bad input")


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:40], y[:40].copy()


def flowers() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3].copy()


def refusals(X: Any, y: Any, *, classes: bool = False, fits: bool = True, **options: Any) -> list[str]:
    """What evaluate, evaluate of a Tuned, explain and Tuned.fit say to this: all of them refuse it."""
    plain = NeverFittedClassifier() if classes else NeverFitted()
    space = {"n_neighbors": [1, 3]} if classes else {"alpha": [0.1, 1.0]}
    tuned = ho.Tuned(plain, space, validation=2, jobs=1)
    roles = {name: value for name, value in options.items() if name in ("groups", "time", "sample_weight")}
    calls = [
        lambda: ho.evaluate(plain, X, y, jobs=1, **options),
        lambda: ho.evaluate(tuned, X, y, jobs=1, **options),
        lambda: ho.explain(plain, X, y, **options),
        lambda: ho.explain(tuned, X, y, **options),
    ]
    calls += [lambda: tuned.fit(X, y, **roles)] if fits else []
    said = []
    for call in calls:
        with pytest.raises(ho.HeldoutError) as caught:
            call()
        said.append(str(caught.value))
    return said


def all_say(message: str, said: list[str]) -> bool:
    return all(re.search(message, one) for one in said)


def test_1_missing_or_infinite_targets() -> None:
    X, y = numbers()
    y[[3, 17]] = np.nan
    assert all_say(r"Input y contains NaN. The target is missing in rows 3, 17", refusals(X, y))
    y[[3, 17]] = np.inf
    assert all_say(r"The target is infinite in rows 3, 17", refusals(X, y))


def test_1_missing_classes() -> None:
    X, _ = flowers()
    y = np.array(["a", "b", None, "a", "b"] * 10, dtype=object)
    assert all_say(r"The target is missing in rows 2, 7", refusals(X, y, classes=True))


def test_2_a_single_class() -> None:
    X, y = flowers()
    assert all_say(r"y holds only one class \(0\) in 50 row\(s\)", refusals(X, np.zeros_like(y), classes=True))


def test_3_a_class_with_fewer_rows_than_folds_is_a_finding() -> None:
    X, y = flowers()
    keep = np.r_[0:34, 34:37]  # two classes of 17 rows, one of 3
    how = {"jobs": 1, "checks": "none"}
    result = ho.evaluate(KNeighborsClassifier(3), X[keep], y[keep], test=ho.KFold(5), **how)
    (finding,) = result.findings
    assert finding.code == "H101"
    assert "Class 2 has 3 rows, fewer than the 5 folds" in finding.message
    assert "KFold(3)" in finding.message
    assert sorted(result.predictions["row"]) == list(range(37))
    assert ho.evaluate(KNeighborsClassifier(3), X[keep], y[keep], test=ho.KFold(3), **how).findings == ()


def test_3_it_is_an_error_where_scikit_learns_is() -> None:
    X, _ = flowers()
    y = np.arange(50) // 2  # no class has five rows
    assert all_say(
        r"KFold\(5\) cannot stratify: no class has 5 rows", refusals(X, y, classes=True, test=ho.KFold(5), fits=False)
    )


def test_5_different_indexes() -> None:
    X, y = numbers()
    frame, target = pd.DataFrame(X, columns=list("abcdefghij")), pd.Series(y, index=np.arange(40)[::-1])
    assert all_say(r"X and y have different indexes.*Align them with y = y.loc\[X.index\]", refusals(frame, target))


def test_7_wrong_shapes() -> None:
    X, y = numbers()
    assert all_say(r"inconsistent numbers of samples: X has 40 rows, but y has 39", refusals(X, y[:-1]))
    assert all_say(r"Expected 2D array, got 1D array instead", refusals(X[:, 0], y))
    assert all_say(r"Found array with dim 3", refusals(X[:, :, None], y))
    assert all_say(
        r"inconsistent numbers of samples: X has 40 rows, but groups has 3", refusals(X, y, groups=[1, 2, 3])
    )
    assert all_say(r"Found array with 0 sample", refusals(X[:0], y[:0]))


def test_7_mixed_types_and_names_that_come_twice() -> None:
    X, y = numbers()
    frame = pd.DataFrame({"size": [1, "two", 3.0, 4] * 10, "other": X[:, 0]})
    assert all_say(
        r"Column 'size' of X mixes numbers \(1 in row 0\) and strings \('two' in row 1\)", refusals(frame, y)
    )
    twice = pd.DataFrame(X[:, :3], columns=["a", "b", "a"])
    assert all_say(r"X has more than one column named 'a'", refusals(twice, y))


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True])
def test_10_folds_that_cannot_be(k: Any) -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match=r"k of KFold must be"):
        ho.KFold(k)
    for call in (
        lambda: ho.evaluate(NeverFitted(), X, y, test=k),
        lambda: ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=k).fit(X, y),
    ):
        with pytest.raises(ho.HeldoutError, match=r"must be|not a (number of folds|way to hold rows out)"):
            call()


def test_10_more_folds_than_rows() -> None:
    X, y = numbers()
    assert all_say(
        r"KFold\(41\) needs at least 41 rows, but there are 40 at this level", refusals(X, y, test=41, fits=False)
    )
    tuned = ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=35)
    with pytest.raises(
        ho.HeldoutError, match=r"inside test fold 0: KFold\(35\) needs at least 35 rows, but there are 20"
    ):
        ho.evaluate(tuned, X, y, test=ho.KFold(2))


def test_11_too_few_or_missing_groups() -> None:
    X, y = numbers()
    groups = np.arange(40) % 3
    assert all_say(
        r"needs at least 5 groups, but there are 3", refusals(X, y, groups=groups, test=ho.KFold(5), fits=False)
    )
    missing = np.array(["a", "b", None, "c"] * 10, dtype=object)
    assert all_say(r"groups are missing in rows 2, 6", refusals(X, y, groups=missing))
    tuned = ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=3)
    with pytest.raises(ho.HeldoutError, match=r"inside test fold 0: KFold\(3\) .* needs at least 3 groups"):
        ho.evaluate(tuned, X, y, groups=groups, test=ho.KFold(3))


def test_13_own_splits_that_overlap_or_are_empty() -> None:
    X, y = numbers()
    halves = np.arange(20), np.arange(20, 40)
    assert all_say(
        r"part 1 has row 20 both in training and held out",
        refusals(X, y, test=[halves, (np.arange(21), halves[1])], fits=False),
    )
    assert all_say(r"part 0 holds out no rows", refusals(X, y, test=[(halves[0], [])], fits=False))
    assert all_say(r"part 0 has no training rows", refusals(X, y, test=[([], halves[0])], fits=False))
    assert all_say(r"The splits are empty", refusals(X, y, test=[], fits=False))
    assert all_say(
        r"names row 40, which is not among the 40 rows", refusals(X, y, test=[(halves[0], [40])], fits=False)
    )
    assert all_say(r"holds out row 3 twice", refusals(X, y, test=[(halves[1], [3, 3])], fits=False))
    tuned = ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=[(np.arange(21), halves[1])])
    with pytest.raises(ho.HeldoutError, match=r"row 20 both in training and held out"):
        tuned.fit(X, y)


def test_given_as_validation_under_folds() -> None:
    X, y = numbers()
    tuned = ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=ho.Given([1, 2, 3]))
    with pytest.raises(
        ho.HeldoutError, match=r"Given names rows of the whole task, so it cannot be the validation of each"
    ):
        ho.evaluate(tuned, X, y, test=ho.KFold(3))
    with pytest.raises(ho.HeldoutError, match=r"Given"):  # a dev row that is a test row
        ho.evaluate(tuned, X, y, test=ho.Given([3, 4]))


def test_19_unknown_losses_options_rules_and_backends() -> None:
    X, y = numbers()
    assert all_say(r"There is no loss 'sqared'. Did you mean 'squared'", refusals(X, y, loss="sqared", fits=False))
    with pytest.raises(ho.HeldoutError, match=r"There is no loss 'absolut'. Did you mean 'absolute'"):
        ho.Tuned(NeverFitted(), {"alpha": [1.0]}, loss="absolut").fit(X, y)
    with pytest.raises(ho.HeldoutError, match=r"There is no option 'poool'. Did you mean 'pool'"):
        ho.Options(poool=True)
    assert all_say(
        r"There is no rule 'share_fit'. Did you mean 'share_fits'",
        refusals(X, y, options=ho.Options(rules={"share_fit": False}), fits=False),
    )
    with pytest.raises(ho.HeldoutError, match=r"There is no backend 'process'. Did you mean 'processes'"):
        ho.evaluate(NeverFitted(), X, y, backend="process")
    assert all_say(r"options= takes heldout.Options\(…\), not dict", refusals(X, y, options={"pool": True}, fits=False))


@pytest.mark.parametrize(
    "option", [{"pool": "yes"}, {"queue_seed": "x"}, {"queue_seed": True}, {"rules": ["share_fits"]}]
)
def test_19_options_of_another_kind(option: dict[str, Any]) -> None:
    with pytest.raises(ho.HeldoutError, match=rf"{next(iter(option))}= is"):
        ho.Options(**option)


def test_a_loss_cannot_take_the_place_of_a_column() -> None:
    X, y = numbers()
    assert all_say(
        r"A loss cannot be called 'fold': result.folds has a column of that name",
        refusals(X, y, loss={"fold": "r2"}, fits=False),
    )


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, "95%", True, np.nan])
def test_levels_that_are_no_probability(level: Any) -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match=r"level is the probability that an interval covers"):
        ho.evaluate(NeverFitted(), X, y, level=level)


@pytest.mark.parametrize("seed", [None, 1.5, "x", True])
def test_seeds_that_are_no_whole_number(seed: Any) -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match=r"seed is a whole number"):
        ho.evaluate(NeverFitted(), X, y, seed=seed)


def test_20_a_loss_given_as_a_score_must_declare_its_direction() -> None:
    X, y = numbers()
    message = (
        r"mean_absolute_error is a function of true and predicted values.*"
        r"make_scorer\(mean_absolute_error, greater_is_better=False\)"
    )
    assert all_say(message, refusals(X, y, loss=mean_absolute_error, fits=False))
    with pytest.raises(ho.HeldoutError, match=message):
        ho.Tuned(NeverFitted(), {"alpha": [1.0]}, loss=mean_absolute_error).fit(X, y)

    def own(y_true: Any, y_pred: Any) -> float:
        return 0.0

    assert all_say(r"own is a function of true and predicted values", refusals(X, y, loss=own, fits=False))


def test_20_a_declared_direction_is_obeyed() -> None:
    X, y = numbers()
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1e6]}, loss=make_scorer(mean_absolute_error, greater_is_better=False))
    by_scorer = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    by_name = ho.evaluate(learner.set_params(loss="absolute"), X, y, test=ho.KFold(3), jobs=1)
    assert by_scorer.choices["candidate"].tolist() == by_name.choices["candidate"].tolist()
    assert by_scorer.risk.value == pytest.approx(-by_name.risk.value, rel=1e-12)


def test_21_labels_that_a_binary_score_cannot_place() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, words = X[:50], np.where(y[:50] == 1, "good", "bad")
    message = (
        r"'f1' does not know which of the labels 'bad' and 'good' is the positive one. "
        r'Use positive="good" or positive="bad". Pass make_scorer\(f1_score.*pos_label=\'good\''
    )
    assert all_say(message, refusals(X, words, classes=True, loss="f1", fits=False))
    with pytest.raises(ho.HeldoutError, match=message):
        ho.Tuned(NeverFittedClassifier(), loss="f1").fit(X, words)
    told = make_scorer(f1_score, pos_label="good")
    result = ho.evaluate(KNeighborsClassifier(), X, words, loss=told, test=ho.KFold(3), jobs=1)
    assert 0 < result.risk.value <= 1


def test_21_three_classes_for_a_score_of_two() -> None:
    X, y = flowers()
    assert all_say(
        r"'roc_auc' cannot score 3 classes.*roc_auc_ovo", refusals(X, y, classes=True, loss="roc_auc", fits=False)
    )
    assert all_say(
        r"'squared' is a loss for numbers, but this learner predicts classes",
        refusals(X, y, classes=True, loss="squared", fits=False),
    )
    X, y = numbers()
    assert all_say(
        r"'zero_one' is a loss for classes, but this learner predicts numbers",
        refusals(X, y, loss="zero_one", fits=False),
    )


def test_22_weights_that_cannot_be() -> None:
    X, y = numbers()
    weight = np.ones(40)
    weight[[2, 5]] = -1
    assert all_say(r"sample_weight is negative in rows 2, 5", refusals(X, y, sample_weight=weight))
    assert all_say(r"every sample_weight is zero", refusals(X, y, sample_weight=np.zeros(40)))
    weight[[2, 5]] = np.nan
    assert all_say(r"sample_weight is NaN or infinite in rows 2, 5", refusals(X, y, sample_weight=weight))


def test_22_a_held_out_part_of_zero_weight() -> None:
    X, y = numbers()
    weight = np.ones(40)
    weight[:10] = 0
    test = ho.KFold(4, shuffle=False)
    assert all_say(
        r"[Pp]art 0 holds out rows of zero weight only", refusals(X, y, sample_weight=weight, test=test, fits=False)
    )
    tuned = ho.Tuned(NeverFitted(), {"alpha": [1.0]}, validation=test)
    with pytest.raises(ho.HeldoutError, match=r"[Pp]art 0 holds out rows of zero weight only"):
        tuned.fit(X, y, sample_weight=weight)


def test_learners_that_are_none() -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match=r"Ridge is a class, not a learner. Pass one made from it: Ridge\(\)"):
        ho.evaluate(Ridge, X, y)
    with pytest.raises(ho.HeldoutError, match=r"int has no fit"):
        ho.evaluate(7, X, y)

    class Bare:
        def fit(self, X: Any, y: Any) -> Any:
            return self

    with pytest.raises(ho.HeldoutError, match=r"Bare has no get_params"):
        ho.evaluate(Bare(), X, y)
    with pytest.raises(ho.HeldoutError, match=r"takes a precomputed matrix between rows"):
        ho.evaluate(SVC(kernel="precomputed"), np.eye(40), np.arange(40) % 2)


def test_a_learner_without_predict_is_named() -> None:
    class Mute(BaseEstimator):
        def fit(self, X: Any, y: Any) -> Any:
            return self

    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match="Mute has no predict"):
        ho.evaluate(Mute(), X, y, test=ho.KFold(3), jobs=1)


def test_pooling_a_score_of_whole_sets_is_refused_before_fits() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    options = ho.Options(pool=True)
    assert all_say(
        r"pool=True needs a loss of single rows, or a score that is a function of means",
        refusals(X[:60], y[:60], classes=True, loss="roc_auc", options=options, fits=False),
    )


def test_an_inner_split_that_cannot_be_is_told_with_its_fold() -> None:
    X, y = flowers()
    tuned = ho.Tuned(LogisticRegression(), {"C": [1.0]}, validation=ho.Holdout(rows=40))
    with pytest.raises(ho.HeldoutError, match=r"Validation splits inside test fold 0: Holdout\(rows=40\)"):
        ho.evaluate(tuned, X, y, test=ho.KFold(3))


class OddProbabilities(ClassifierMixin, BaseEstimator):
    def __init__(self, columns: int = 0) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > 0).astype(int)]

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), self.columns), 1 / self.columns) if self.columns else (X[:, 0] > 0).astype(float)


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("loss", ["auc", "ap", "logloss"])
def test_probabilities_without_a_column_for_each_class_are_a_named_failure(columns, loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    with pytest.raises(FitFailed, match="predict_proba answered"):
        ho.evaluate(OddProbabilities(columns), X, y, test=ho.KFold(3), loss=loss, progress=False)
