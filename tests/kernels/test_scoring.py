"""Scoring blocks is scoring their cells one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB

import heldout as ho
from heldout.base.responses import Responses, cut_rows
from heldout.kernels.scoring import score_block, score_cell
from heldout.kernels.step import Held, Work
from heldout.study.answers import PanelTable, Tables
from heldout.study.study import TEST, VALIDATION

REGRESSION = load_diabetes(return_X_y=True)
FLOWERS = load_iris(return_X_y=True)
CANDIDATES = (3, 1)


def own_area(y, scores):
    return roc_auc_score(y, scores)


def prepared(asked, learner, data, test, loss, weight=None):
    X, y = (part[:60] for part in data)
    question = asked(learner, X, y, test=test, loss=loss, sample_weight=weight)
    splits = question.study.splits["outer"]
    work = Work(
        task=question.task,
        search=question.study.search,
        splits=question.study.splits,
        losses={TEST: question.study.reported, VALIDATION: question.study.search.losses},
        keep_rows=frozenset({"test"}),
        keep_responses=frozenset({"test"}),
    )
    helds = [Held("test", TEST, "outer", part) for part in range(len(splits))]
    return work, helds


def filled(work, answers, parts):
    tables = Tables()
    sizes = work.splits["outer"].held_sizes
    tables.panels["test"] = PanelTable.empty(range(4), range(parts), len(work.losses[TEST]), sizes=sizes)
    for answer in answers:
        tables.put(answer)
    return tables["test"]


def compare(work, helds, responses):
    """Both ways, and that they agree on every number."""
    cuts = np.concatenate([[0], np.cumsum([len(work.held_rows(held)) for held in helds])])
    cells = [
        score_cell(work, held, candidate, cut_rows(one, slice(cuts[i], cuts[i + 1])))
        for candidate, one in zip(CANDIDATES, responses, strict=True)
        for i, held in enumerate(helds)
    ]
    answers = score_block(work, helds, CANDIDATES, responses, seconds=1.0)
    block, single = filled(work, answers, len(helds)), filled(work, cells, len(helds))
    np.testing.assert_allclose(block.losses, single.losses, rtol=1e-15)
    np.testing.assert_array_equal(block.answered, single.answered)
    assert set(block.failures) == set(single.failures)
    for candidate in CANDIDATES:
        for part in range(len(helds)):
            if (candidate, part) in single.failures:
                continue
            for ours, theirs in zip(block.row_losses(candidate, part), single.row_losses(candidate, part), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(
                block.responses(candidate, part).predict, single.responses(candidate, part).predict
            )
    return answers


def numbers(n, seed):
    return Responses(predict=np.random.default_rng(seed).normal(150, 50, n))


@pytest.mark.parametrize(
    ("test", "loss"),
    [
        (ho.KFold(4), "squared"),
        (ho.KFold(4), ["absolute", "r2"]),
        (ho.LeaveOneOut(), "squared"),
        (ho.LeaveOneOut(), "neg_mean_absolute_error"),
        (ho.Holdout(0.3), ["neg_mean_absolute_error", "squared"]),
        (ho.Resample(3), "absolute"),
    ],
)
def test_a_block_of_numbers(asked, test, loss):
    work, helds = prepared(asked, Ridge(), REGRESSION, test, loss)
    n = sum(len(work.held_rows(held)) for held in helds)
    (answer,) = compare(work, helds, [numbers(n, 1), numbers(n, 2)])
    assert answer.count == 2 * len(helds)


@pytest.mark.parametrize("test", [ho.KFold(4), ho.LeaveOneOut()], ids=repr)
def test_a_weighted_block(asked, test):
    work, helds = prepared(asked, Ridge(), REGRESSION, test, "squared", weight=np.linspace(0.1, 4, 60))
    (answer,) = compare(work, helds, [numbers(60, 1), numbers(60, 2)])
    assert answer.count == 2 * len(helds)


def test_a_block_of_probabilities(asked):
    data = (FLOWERS[0][::3], FLOWERS[1][::3])
    work, helds = prepared(asked, LogisticRegression(), data, ho.KFold(4), ["log", "zero_one"])
    made = []
    for seed in (1, 2):
        proba = np.random.default_rng(seed).dirichlet([1, 1, 1], 50)
        made.append(Responses(predict=proba.argmax(axis=1), predict_proba=proba, classes=np.arange(3)))
    (answer,) = compare(work, helds, made)
    assert answer.count == 2 * len(helds)


def test_a_number_that_is_not_finite_fails_its_own_cell_alone(asked):
    work, helds = prepared(asked, Ridge(), REGRESSION, ho.KFold(4), "squared")
    good, bad = numbers(60, 1), numbers(60, 2)
    bad.predict[20] = np.inf  # in part 1
    answers = compare(work, helds, [bad, good])
    assert [answer.count for answer in answers] == [1] * 8
    failed = [(cell, failure.stage) for answer in answers for cell, failure in answer.failures.items()]
    assert failed == [((CANDIDATES[0], 1), "predict")]


def test_a_score_without_a_value_fails_its_own_cell_alone(asked):
    """Where one class alone is held out, an area under the curve is not defined; scikit-learn's own is foreseen."""
    y = np.array([0, 1] * 20 + [1] * 20)
    question_data = (REGRESSION[0], np.concatenate([y, y]))
    test = [(np.arange(20), np.arange(20, 40)), (np.arange(20), np.arange(40, 60))]
    area = make_scorer(own_area, response_method="decision_function")
    work, helds = prepared(asked, LogisticRegression(), question_data, test, area)
    scores = np.random.default_rng(0).normal(size=40)
    one = Responses(predict=(scores > 0).astype(int), decision_function=scores, classes=np.arange(2))
    answers = compare(work, helds, [one, one])
    failed = [(cell, failure.stage) for answer in answers for cell, failure in answer.failures.items()]
    assert failed == [((candidate, 1), "score") for candidate in CANDIDATES]


@pytest.mark.parametrize("jobs", [1, 2])
def test_warnings_of_scores_belong_to_their_cells_and_reach_nobody_else(jobs, recwarn):
    X, y = FLOWERS[0][:, :1], FLOWERS[1]
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [10.0, 1e-9]}, loss="balanced_accuracy", validation=ho.KFold(3))
    asked = {"test": ho.Given(np.arange(20)), "progress": False, "jobs": jobs}
    on = ho.evaluate(learner, X, y, **asked)
    off = ho.evaluate(learner, X, y, **asked, options=ho.Options(rules={"bayes": False}))
    assert next(record for record in on.plan.passes if record.name == "bayes").used
    assert [f.message for f in on.findings] == [f.message for f in off.findings]
    assert any("1 fit gave UserWarning" in finding.message for finding in on.findings)
    assert not recwarn.list
