from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from heldout.base.errors import LearnerError
from heldout.kernels.ensemble import average

X, y = load_iris(return_X_y=True)
THIRDS = [np.arange(150) % 3 == part for part in range(3)]


class Voter(ClassifierMixin, BaseEstimator):
    """Always says the same: neither probabilities nor decisions."""

    def __init__(self, label=0, classes=(0, 1, 2)):
        self.label = label
        self.classes = classes

    def fit(self, X, y):
        self.classes_ = np.array(self.classes)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def members_of(learner, X=X, y=y, parts=THIRDS):
    return [clone(learner).fit(X[~rows], y[~rows]) for rows in parts]


def test_regressors_average_their_predictions():
    D, t = load_diabetes(return_X_y=True)
    members = members_of(Ridge(), D, t, [np.arange(442) % 3 == part for part in range(3)])
    np.testing.assert_array_equal(average(members).predict(D), np.mean([m.predict(D) for m in members], axis=0))


def test_classifiers_average_their_probabilities():
    members = members_of(GaussianNB())
    ensemble = average(members)
    mean = np.mean([m.predict_proba(X) for m in members], axis=0)
    np.testing.assert_array_equal(ensemble.predict_proba(X), mean)
    np.testing.assert_array_equal(ensemble.predict(X), mean.argmax(axis=1))
    assert ensemble.classes_.tolist() == [0, 1, 2]


def test_without_probabilities_decisions_are_averaged():
    members = members_of(RidgeClassifier())
    ensemble = average(members)
    mean = np.mean([m.decision_function(X) for m in members], axis=0)
    assert not hasattr(ensemble, "predict_proba")
    np.testing.assert_array_equal(ensemble.decision_function(X), mean)
    np.testing.assert_array_equal(ensemble.predict(X), mean.argmax(axis=1))


def test_two_classes_have_one_decision():
    names = np.array(["no", "yes"])[(y == 1).astype(int)]
    members = members_of(RidgeClassifier(), X, names)
    ensemble = average(members)
    mean = np.mean([m.decision_function(X) for m in members], axis=0)
    assert mean.ndim == 1
    np.testing.assert_array_equal(ensemble.predict(X), np.where(mean > 0, "yes", "no"))


@pytest.mark.parametrize("learner", [SVC(decision_function_shape="ovo"), make_pipeline(StandardScaler(), SVC())])
def test_an_ensemble_of_one_learner_is_about_as_good_as_its_members(learner):
    members = members_of(learner)
    right = np.mean(average(members).predict(X) == y)
    assert right > 0.9


def test_decisions_between_pairs_of_classes_are_put_to_the_vote():
    """With three classes there are three pairs, so the columns could be mistaken for classes."""
    members = members_of(make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")))
    ensemble = average(members)
    assert not hasattr(ensemble, "decision_function")
    votes = np.stack([m.predict(X) for m in members])
    counts = np.stack([(votes == c).sum(axis=0) for c in range(3)])
    np.testing.assert_array_equal(ensemble.predict(X), counts.argmax(axis=0))


@pytest.mark.parametrize(("labels", "winner"), [([2, 2, 0], 2), ([2, 1, 0], 0), ([1, 1, 2, 2], 1)])
def test_a_vote_is_won_by_most_and_a_tie_by_the_first_class(labels, winner):
    assert average([Voter(label).fit(X, y) for label in labels]).predict(X[:2]).tolist() == [winner, winner]


def test_a_class_that_a_member_never_saw_has_probability_zero_there():
    first = KNeighborsClassifier(1).fit(X[y < 2], y[y < 2])
    second = KNeighborsClassifier(1).fit(X[y > 0], y[y > 0])
    ensemble = average([first, second])
    assert ensemble.classes_.tolist() == [0, 1, 2]
    probability = ensemble.predict_proba(X[:1])
    np.testing.assert_allclose(probability, [[0.5, 0.5, 0.0]])
    assert ensemble.predict(X[y == 0]).max() == 0


def test_decisions_of_members_with_other_classes_are_put_to_the_vote():
    members = [RidgeClassifier().fit(X[y != c], y[y != c]) for c in (0, 1, 2)]
    ensemble = average(members)
    assert not hasattr(ensemble, "decision_function")
    assert np.mean(ensemble.predict(X) == y) > 0.7


def test_several_outputs_are_refused():
    Y = np.c_[y, y]
    with pytest.raises(LearnerError, match="several outputs"):
        average(members_of(KNeighborsClassifier(), X, Y))


def test_an_ensemble_is_fitted_and_stays_so():
    ensemble = average(members_of(KNeighborsClassifier()))
    check_is_fitted(ensemble)
    assert ensemble.n_features_in_ == 4
    with pytest.raises(AttributeError, match="feature_names_in_"):
        _ = ensemble.feature_names_in_
    with pytest.raises(LearnerError, match="cannot be fitted anew"):
        ensemble.fit(X, y)


def test_an_ensemble_travels():
    import pickle

    ensemble = average(members_of(KNeighborsClassifier()))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ensemble)).predict(X), ensemble.predict(X))
