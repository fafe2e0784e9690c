"""Looks at a test set through `evaluate`: what counts as one, what is told, and the attack that it must survive."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import heldout as ho
from heldout.audit import MemoryLedger, list_looks
from heldout.base.errors import OptionError

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
TEST = ho.Given(np.arange(100, 200))


def neighbours(k=5, *, X=X, test=TEST, **asked):
    return ho.evaluate(KNeighborsClassifier(k), X, y, test=test, jobs=1, checks="none", **asked)


def codes(result):
    return [finding.code for finding in result.findings]


def test_the_first_look_is_as_it_was():
    result = neighbours()
    assert codes(result) == []
    assert (result.risk.method, result.risk.guarantee, result.risk.reason) == ("Clopper–Pearson", "exact", None)


def test_the_second_look_warns_and_says_when_its_interval_holds(fresh_ledger):
    first, second = neighbours(5), neighbours(7)
    assert codes(second) == ["H402"]
    (finding,) = second.findings
    assert finding.severity == "warning"
    assert "One earlier look was taken at these test rows (KNeighborsClassifier())" in finding.message
    assert second.risk.guarantee == "heuristic"
    assert second.risk.method == "Clopper–Pearson, not widened for the 2nd look"
    assert "settled before the earlier looks" in " ".join(str(second).split())
    assert first.risk.low < first.risk.value < first.risk.high
    assert [one["learner"] for one in list_looks(fresh_ledger)] == [
        "KNeighborsClassifier()",
        "KNeighborsClassifier(n_neighbors=7)",
    ]


def test_asking_the_same_again_is_no_new_look(fresh_ledger):
    neighbours(5)
    second = neighbours(7)
    again = [neighbours(5), neighbours(7), neighbours(7, level=0.9), neighbours(7, backend="inline")]
    assert len(fresh_ledger.looks()) == 2
    assert codes(again[0]) == []
    assert codes(again[1]) == ["H402"]
    assert again[1].risk == second.risk
    fitted = KNeighborsClassifier(7).fit(X, y)
    ho.evaluate(fitted, X, y, test=TEST, jobs=1)
    assert len(fresh_ledger.looks()) == 2


def test_any_shared_row_is_a_look_and_other_rows_are_not():
    neighbours(5, test=ho.Given(np.arange(0, 50)))
    assert codes(neighbours(7, test=ho.Given(np.arange(50, 100)))) == []
    shared = neighbours(7, test=ho.Given(np.arange(49, 120)))
    assert "2 earlier looks were taken at test sets that share rows with this one" in shared.findings[0].message


def test_new_features_do_not_make_the_test_rows_new():
    neighbours(5)
    assert codes(neighbours(5, X=np.c_[X, X**2])) == ["H402"]


class Memoriser(ClassifierMixin, BaseEstimator):
    """Knows the labels of the test rows, in the order of their first feature."""

    def __init__(self, labels=None):
        self.labels = labels
        self.classes_ = np.unique(labels)
        self.is_fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.labels[np.argsort(np.argsort(X[:, 0]))]


SHUFFLE = np.random.default_rng(4).permutation(200)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X, 1 - y),
        lambda X, y: (X, np.array(["bad", "good"])[y]),
        lambda X, y: (np.c_[X[:, :2], 1000 * X[:, 2]][SHUFFLE], y[SHUFFLE]),
        lambda X, y: (np.c_[X, X[:, 0] * X[:, 1]][1:], y[1:]),
        lambda X, y: (np.c_[X, X[:, 0] * X[:, 1]][1:], np.array(["bad", "good"])[y][1:]),
    ],
)
def test_a_memoriser_of_a_changed_test_set_has_no_interval_that_is_vouched_for(change):
    def tested(learner, X, y):  # on all rows but the first
        return ho.evaluate(FrozenEstimator(learner), X, y, test=ho.Given(np.arange(1, len(y))), jobs=1)

    assert tested(KNeighborsClassifier().fit(X, y), X, y).risk.guarantee == "exact"
    data, labels = change(X, y)
    result = tested(Memoriser(labels[1:][np.argsort(data[1:, 0])]), data, labels)
    assert result.risk.value == 0
    assert result.risk.guarantee == "heuristic"
    assert codes(result) == ["H402"]
    assert "reordered, and changed in more than scale or columns, are not recognised" in result.findings[0].message


def test_each_loss_and_each_learner_counts(fresh_ledger):
    ho.evaluate(LogisticRegression(), X, y, test=TEST, loss=["zero_one", "log"], jobs=1)
    result = ho.evaluate(LogisticRegression(C=2), X, y, test=TEST, loss=["zero_one", "log"], jobs=1)
    assert len(fresh_ledger.looks()) == 4
    assert "3rd look" in result.risk.method
    assert "3rd look" in result.estimates["risk_log"].method


def test_cross_validation_is_no_look_at_a_test_set(fresh_ledger):
    neighbours(5, test=ho.KFold(4))
    neighbours(7, test=ho.KFold(4))
    assert fresh_ledger.looks() == ()
    assert codes(neighbours(5)) == []


def test_a_study_may_have_a_ledger_of_its_own(fresh_ledger):
    own = ho.Options(ledger=MemoryLedger())
    neighbours(5)
    assert codes(neighbours(7, options=own)) == []
    assert codes(neighbours(9, options=own)) == ["H402"]
    assert len(fresh_ledger.looks()) == 1


def test_a_function_that_changes_makes_another_learner(fresh_ledger):
    def learner(power):
        return make_pipeline(FunctionTransformer(lambda X: X**power), KNeighborsClassifier())

    for power in (1, 3, 3):
        ho.evaluate(learner(power), X, y, test=TEST, jobs=1)
    assert len({one.learner_key for one in fresh_ledger.looks()}) == 2


class Unpicklable(ClassifierMixin, BaseEstimator):
    """Cannot be pickled; with a lambda among its parameters its code does not tell it from another either."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def __reduce__(self):
        raise TypeError("no")


@pytest.mark.parametrize(("answer", "looks"), [(None, 1), (lambda: 0, 2)])
def test_a_learner_that_cannot_be_told_from_another_is_new_each_time(answer, looks, fresh_ledger):
    for _ in range(2):
        ho.evaluate(Unpicklable(answer), X, y, test=TEST, jobs=1, backend="inline")
    assert len(fresh_ledger.looks()) == looks


@pytest.mark.parametrize("answer", ["value", "rounded:0.05", "pass/fail:0.3"])
def test_withheld_rows_keep_the_bound(answer, tmp_path):
    options = ho.Options(answer=answer)
    first, second = neighbours(5, options=options), neighbours(7, options=options)
    assert codes(first) == []
    assert codes(second) == ["H401"]
    assert second.risk.method == "transcript bound, widened for the 2nd look"
    assert second.risk.guarantee == "finite-sample"
    assert second.risk.reason is None
    truth = neighbours(7, options=ho.Options(ledger=MemoryLedger())).risk
    assert second.risk.low < truth.low < truth.high < second.risk.high or answer.startswith("pass")
    second.save(tmp_path / "looked.zip")
    loaded = ho.load(tmp_path / "looked.zip")
    assert loaded.risk == second.risk
    for result in (second, loaded):
        with pytest.raises(OptionError, match="withheld"):
            _ = result.predictions


def test_nothing_that_is_kept_or_shown_tells_more_than_a_coarse_answer(tmp_path):
    full = neighbours(7, options=ho.Options(ledger=MemoryLedger()))
    exact = full.risk.value
    rounded = neighbours(7, options=ho.Options(answer="rounded:0.04"))
    assert rounded.risk.value == round(round(exact / 0.04) * 0.04, 12) != exact
    assert rounded.folds["zero_one"].tolist() == [rounded.risk.value]
    passed = neighbours(7, options=ho.Options(answer="pass/fail:0.9", ledger=MemoryLedger()))
    assert passed.folds["zero_one"].tolist() == ["pass"]
    for result in (rounded, passed):
        told = json.dumps(result.summary()) + str(result) + repr(result)
        assert f"{exact:.4g}" not in told.replace(result.record.about["fingerprint"], "")
        assert result.record.tables["predictions"] == {}
    assert "pass: at most 0.9" in str(passed)
    assert "rounded to 0.04" in str(rounded)
    assert "pass: at most 0.9" in repr(passed)


def test_a_look_that_showed_rows_ends_the_bound_for_coarse_ones_too():
    neighbours(5)
    later = neighbours(7, options=ho.Options(answer="rounded"))
    assert codes(later) == ["H402"]
    assert later.risk.guarantee == "heuristic"


def test_numbers_of_a_loss_without_bounds_end_it_as_well():
    target = X[:, 0] + rng.normal(size=200)
    options = ho.Options(answer="rounded")
    for alpha in (1, 2):
        result = ho.evaluate(Ridge(alpha), X, target, test=TEST, options=options, jobs=1)
    assert result.risk.low is None
    assert "has no bounds" in result.risk.reason
    assert codes(result) == ["H402"]


def test_many_looks_use_test_rows_up():
    options = ho.Options(answer="value")
    small = ho.Given(np.arange(190, 200))
    result = [neighbours(k, test=small, options=options) for k in range(1, 8)][-1]
    assert codes(result) == ["H401", "H403"]


def test_a_tuned_learner_looks_once(fresh_ledger):
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, validation=ho.KFold(3), random_state=0)
    result = ho.evaluate(tuned, X, y, test=TEST, options=ho.Options(answer="rounded"), jobs=1)
    assert len(fresh_ledger.looks()) == 1
    assert result.candidates["candidate"].tolist() == [0, 1, 2]
    assert not any(column.startswith("test") for column in result.candidates)


def test_a_study_whose_fit_failed_took_no_look(fresh_ledger):
    class Broken(KNeighborsClassifier):
        def fit(self, X, y):
            raise RuntimeError("broken")

    with pytest.raises(ho.HeldoutError):
        ho.evaluate(Broken(), X, y, test=TEST, jobs=1, backend="inline")
    assert fresh_ledger.looks() == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"options": {"answer": "rounded"}, "test": ho.KFold(4)}, "4 parts are held out in turn"),
        ({"options": {"answer": "pass/fail:0.1"}, "loss": ["zero_one", "accuracy"]}, "one mark, but there are several"),
        ({"options": {"answer": "rounded", "interval": "student"}}, "interval= would tell more"),
        ({"options": {"answer": "rounded", "learning_curve": True}}, "learning_curve= would tell more"),
        ({"options": {"ledger": {}}}, "takes a ledger"),
        ({"options": {"answer": "vague"}}, "no answer 'vague'"),
    ],
)
def test_what_cannot_be_told_is_refused_before_any_fit(asked, words):
    options = asked.pop("options")
    with pytest.raises(OptionError, match=words):
        neighbours(**asked, options=ho.Options(**options))


# --- the attack ---


class Fixed(ClassifierMixin, BaseEstimator):
    """Answers that were drawn once, row by row; the row's number is its feature."""

    def __init__(self, answers=None):
        self.answers = answers
        self.classes_ = np.array([0, 1])
        self.is_fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answers[X[:, 0].astype(int)]


def attacked(answer, k, seed):
    """The final estimate after k random predictors, through `evaluate`; and the same as a single look."""
    n, chance = 1000, np.random.default_rng(seed)
    labels, rows = chance.integers(0, 2, n + 1), np.arange(n + 1, dtype=float)[:, None]  # the last is not tested
    test = ho.Given(np.arange(n))

    def ask(answers, ledger, told=answer):
        options = ho.Options(answer=told, ledger=ledger)
        return ho.evaluate(FrozenEstimator(Fixed(answers)), rows, labels, test=test, options=options, jobs=1).risk

    ledger = MemoryLedger()
    guesses = chance.integers(0, 2, (k, n + 1))
    told = [ask(one, ledger) for one in guesses]
    if answer.startswith("pass"):
        weights = np.array([1.0 if one.answer.startswith("pass") else -1.0 for one in told])
    else:
        weights = np.array([0.5 - one.value for one in told])
    vote = (weights @ (2 * guesses - 1) > 0).astype(int)
    mark = np.ceil(np.mean((vote != labels)[:n]) * 100) / 100
    last = f"pass/fail:{mark}" if answer.startswith("pass") else answer
    return ask(vote, ledger, last), ask(vote, MemoryLedger(), last)


@pytest.mark.parametrize(("answer", "k"), [("pass/fail:0.5", 100), ("rounded:0.01", 60), ("value", 60)])
def test_the_interval_survives_the_attack_where_that_of_a_single_look_does_not(answer, k):
    stated, plain = attacked(answer, k, seed=1)
    assert plain.high < 0.5
    assert stated.low <= 0.5 <= stated.high
    assert stated.high - stated.low < 0.95
    assert stated.guarantee == "finite-sample"


@pytest.mark.parametrize("answer", ["value", "rounded:0.05", "pass/fail:0.7"])
def test_a_withheld_answer_tells_nothing_by_what_was_looked_for(answer):
    """Counts of findings would tell whether noise is worse than no model; signal and noise read the same."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    told = []
    for y in (rng.integers(0, 2, 300), (X[:, 0] + rng.normal(size=300) > 0).astype(int)):
        options = ho.Options(answer=answer, ledger=MemoryLedger())
        result = ho.evaluate("tree", X, y, test=ho.Holdout(0.3), options=options, progress=False)
        checks = result.summary()["checks"]
        assert "the learner is not shown to be better than no model" not in checks["looked"]
        told.append((checks["found"], checks["looked"]))
    assert told[0] == told[1]
