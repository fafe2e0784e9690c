"""`compare_across`: ranks over datasets, probabilities where losses are on one scale, failures and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.errors import FitFailed, InputError, LossError

DATASETS = {
    f"made {seed}": make_classification(60, 6, n_informative=4, random_state=seed, class_sep=2.0) for seed in range(8)
}
LEARNERS = {
    "prior": DummyClassifier(),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}


class Fails(ClassifierMixin, BaseEstimator):
    """Fails on the datasets with this many rows."""

    def __init__(self, rows=48):
        self.rows = rows

    def fit(self, X, y):
        if len(y) == self.rows:
            raise RuntimeError("no")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture(scope="module")
def found():
    return ho.compare_across(LEARNERS, DATASETS, rope=0.02)


def test_friedman_is_of_the_risks_that_compare_gives(found):
    losses = found.losses
    assert losses["dataset"].tolist() == list(DATASETS)
    theirs = stats.friedmanchisquare(*(losses[name] for name in LEARNERS))
    assert found.ranks.friedman.p == pytest.approx(theirs.pvalue, rel=1e-10)
    alone = ho.evaluate(LEARNERS["bayes"], *DATASETS["made 3"])
    assert losses["bayes"][3] == alone.risk.value


def test_what_is_said_of_each_pair(found):
    table = found.table.set_index(["first", "second"])
    assert table.loc[("prior", "bayes"), "verdict"] == "second better"
    assert found.sentences[0].startswith("bayes ranks better than prior over 8 datasets (mean ranks ")
    assert table.loc[("bayes", "tree"), "verdict"] in ("no difference shown", "practically equal")
    assert table.loc[("prior", "bayes"), "chance_second_better"] > 0.99
    sides = table[["chance_first_better", "chance_equal", "chance_second_better"]].sum(axis=1)
    assert sides.to_numpy() == pytest.approx(np.ones(3))
    text = str(found)
    assert "mean ranks must differ by 1.172 at 95 %" in text
    json.dumps(found.summary(), allow_nan=False)


def test_equality_takes_more_than_a_few_datasets():
    learners = {"tree": LEARNERS["tree"], "same": LEARNERS["tree"]}
    few, more = (ho.compare_across(learners, dict(list(DATASETS.items())[:n]), rope=0.02) for n in (4, 5))
    assert few.table["chance_equal"].tolist() == more.table["chance_equal"].tolist() == [1.0]
    assert few.table["verdict"].tolist() == ["no difference shown"]
    assert more.table["verdict"].tolist() == ["practically equal"]


def test_scores_rank_greater_first():
    by_score = ho.compare_across(LEARNERS, DATASETS, loss="accuracy")
    by_loss = ho.compare_across(LEARNERS, DATASETS)
    assert by_score.ranks.friedman.mean_ranks == by_loss.ranks.friedman.mean_ranks
    assert by_score.table["chance_equal"].isna().all()


def test_losses_without_a_common_scale_have_ranks_alone():
    rng = np.random.default_rng(0)
    datasets = {}
    for scale in (1.0, 100.0, 1e4, 1e6):
        X = rng.normal(size=(40, 2))
        datasets[f"× {scale:g}"] = (X, scale * (X.sum(axis=1) + rng.normal(size=40)))
    found = ho.compare_across({"line": LinearRegression(), "mean": DummyRegressor()}, datasets)
    assert found.ranks.friedman.mean_ranks == (1.0, 2.0)
    assert found.table["chance_first_better"].isna().all()
    assert found.table["verdict"].tolist() == ["no difference shown"]  # four coins agree one time in eight
    assert "is not on one scale" in str(found)


def test_a_learner_that_fails_somewhere_is_left_out_and_the_others_go_on():
    small = {name: (X[:50], y[:50]) for name, (X, y) in list(DATASETS.items())[:1]}
    found = ho.compare_across({**LEARNERS, "fails": Fails(rows=40)}, {**DATASETS, **small, "whole": DATASETS["made 1"]})
    assert found.ranks.names == ("prior", "bayes", "tree")
    assert found.left_out["fails"] == "Learner 'fails' has no value on 'made 0': it cannot be ranked there."
    assert "Left out" in str(found)


def test_a_dataset_on_which_nothing_works_is_left_out():
    X, y = DATASETS["made 0"]
    bad = np.full_like(X, np.nan)
    learners = {"bayes": GaussianNB(), "flat": GaussianNB(var_smoothing=1.0)}
    found = ho.compare_across(learners, {**DATASETS, "bad": (bad, y)})
    assert "bad" not in found.comparisons
    assert found.left_out["bad"].startswith("Dataset 'bad': Not one of the 2 learners worked")
    with pytest.raises(FitFailed, match="nothing left to compare"):
        ho.compare_across(learners, {"good": (X, y), "bad": (bad, y)})


def test_datasets_may_have_roles():
    X, y = DATASETS["made 0"]
    groups = np.arange(len(y)) // 2
    found = ho.compare_across(LEARNERS, {"plain": (X, y), "grouped": {"X": X, "y": y, "groups": groups}})
    assert "groups kept whole" in found.comparisons["grouped"].about["test"]


@pytest.mark.parametrize(
    ("datasets", "words"),
    [
        ({"one": DATASETS["made 0"]}, "ranked over several datasets"),
        ([DATASETS["made 0"], DATASETS["made 1"]], "ranked over several datasets"),
        ({"one": DATASETS["made 0"], "two": 3}, "Dataset 'two' is no pair"),
        ({"one": DATASETS["made 0"], 2: DATASETS["made 1"]}, "no printable text"),
        ({"one": DATASETS["made 0"], "two": {"X": 1, "y": 2, "colour": 3}}, "has 'colour'"),
        ({"one": DATASETS["made 0"], "two": (np.zeros((5, 2)), np.zeros(4))}, "Dataset 'two': Found input variables"),
    ],
)
def test_what_are_no_datasets_is_refused(datasets, words):
    with pytest.raises(InputError) as caught:
        ho.compare_across(LEARNERS, datasets)
    assert words in str(caught.value)


def test_the_loss_must_be_one_on_all_datasets():
    tuned = ho.Tuned(DecisionTreeClassifier(), {"max_depth": [1, 2]}, loss="log")
    with pytest.raises(LossError, match="Dataset 'made 0': The own loss of 'tuned' is 'log'"):
        ho.compare_across({"tuned": tuned, "prior": DummyClassifier()}, DATASETS)
