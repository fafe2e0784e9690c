from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.base.errors import OptionError
from heldout.engine import run as module
from heldout.engine.run import Running, run_study
from heldout.study.study import pose_tuning

X, y = (part[:48] for part in load_diabetes(return_X_y=True))
LEARNER = ho.Tuned(DecisionTreeRegressor(), {"max_depth": [1, 2, 4]}, validation=ho.KFold(3))
WAYS = {
    "one job": Running(jobs=1),
    "two jobs": Running(jobs=2),
    "processes": Running(jobs=2, backend="processes"),
    "shuffled": Running(jobs=1, options=ho.Options(queue_seed=5)),
    "shuffled processes": Running(jobs=2, backend="processes", options=ho.Options(queue_seed=6)),
    "no sharing": Running(jobs=1, options=ho.Options(rules={"share_fits": False, "within": False})),
}


def answers(outcome):
    """Every number of an outcome, by where it stands."""
    found = {}
    for key, table in outcome.tables.panels.items():
        found[key] = table.losses.tobytes()
        for candidate in table.candidates:
            for part in table.parts:
                rows = table.row_losses(candidate, part)
                found[key, candidate, part] = None if rows is None else [r.tobytes() for r in rows]
                responses = table.responses(candidate, part)
                found[key, candidate, part, "predict"] = None if responses is None else responses.predict.tobytes()
    return found


@pytest.fixture(scope="module")
def first(asked):
    question = asked(LEARNER, X, y)
    return question, run_study(question.study, question.task, WAYS["one job"])


@pytest.mark.parametrize("way", list(WAYS)[1:])
def test_how_a_study_is_run_changes_no_bit(first, way):
    """The trees leave their seeds unset, so these too are the study's own."""
    question, expected = first
    outcome = run_study(question.study, question.task, WAYS[way])
    assert answers(outcome) == answers(expected)
    assert outcome.study.chosen == expected.study.chosen


def test_a_study_ends_with_every_panel_answered_and_every_choice_made(first):
    _, outcome = first
    assert [key for key, table in outcome.tables.panels.items() if not table.complete] == []
    assert len(outcome.tables.panels) == 6
    assert sorted(outcome.study.chosen) == ["fold/0", "fold/1", "fold/2"]
    assert all(panel.candidates is not None for panel in outcome.study.panels)


def test_the_question_is_left_as_it_was(first):
    question, _ = first
    assert question.study.chosen == {}


def test_test_cells_are_answered_for_the_chosen_alone(first):
    _, outcome = first
    for part in range(3):
        chosen = outcome.study.chosen[f"fold/{part}"].candidate
        assert outcome.tables[f"test/{part}"].candidates == range(chosen, chosen + 1)


def test_responses_and_row_losses_are_kept_of_test_cells_and_of_a_choice_that_is_corrected(first):
    _, outcome = first
    assert outcome.tables["validation/0"].responses(0, 0) is None
    assert outcome.tables["validation/0"].row_losses(0, 0) is None  # of several choices none is corrected
    task, search = first[0].task, first[0].study.search
    alone = run_study(pose_tuning(search, task, task.all_rows), task, Running(jobs=1))
    assert alone.tables["validation"].row_losses(0, 0) is not None
    chosen = outcome.study.chosen["fold/0"].candidate
    assert outcome.tables["test/0"].responses(chosen, 0) is not None


def test_row_losses_of_a_huge_validation_are_let_go(asked, monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT_ROW_LOSSES", 10)
    question = asked(LEARNER, X, y)
    task = question.task
    alone = run_study(pose_tuning(question.study.search, task, task.all_rows), task, Running(jobs=1))
    assert alone.tables["validation"].row_losses(0, 0) is None
    outcome = run_study(question.study, task, Running(jobs=1))
    chosen = outcome.study.chosen["fold/0"].candidate
    assert outcome.tables["test/0"].row_losses(chosen, 0) is not None


def test_the_account_agrees_with_what_was_done(first):
    _, outcome = first
    cells = sum(int(table.answered.sum()) for table in outcome.tables.panels.values())
    assert outcome.account.cells == cells == 3 * 3 * 3 + 3


def test_rules_can_be_switched_by_the_environment(asked, monkeypatch):
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.SharedBlocks())
    question = asked(learner, X, y, test=ho.KFold(4))

    def validation_fits():
        account = run_study(question.study, question.task, Running(jobs=1)).account
        return next(record for record in account.passes if record.name == "share_fits")

    assert validation_fits().fits_after < validation_fits().fits_before
    monkeypatch.setenv("HELDOUT_RULES", "share_fits=off")
    assert validation_fits().refusals == ("switched off",)
    monkeypatch.setenv("HELDOUT_RULES", "no_such_rule=off")
    with pytest.raises(OptionError, match="no rule 'no_such_rule'"):
        validation_fits()


class Counts(RegressorMixin, BaseEstimator):
    """Remembers the fit parameters it got."""

    seen: ClassVar = []

    def fit(self, X, y, own=None):
        Counts.seen.append((len(X), None if own is None else own.copy()))
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_fit_parameters_are_cut_to_the_training_rows(asked):
    question = asked(Counts(), X, y)
    Counts.seen.clear()
    own = np.arange(48)
    run_study(question.study, question.task, Running(jobs=1, backend="inline"), fit_params={"own": own})
    outer = question.study.splits["outer"]
    assert [rows.tolist() for _, rows in Counts.seen] == [outer.train_rows(part).tolist() for part in range(3)]


class Configured(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.display_ = sklearn.get_config()["display"]
        return self

    def predict(self, X):
        return np.full(len(X), 1 if self.display_ == "text" else 0)


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_fits_see_the_configuration_in_which_the_study_was_asked(asked, backend):
    question = asked(Configured(), X, (y > 100).astype(int))
    with sklearn.config_context(display="text"):
        outcome = run_study(question.study, question.task, Running(jobs=2, backend=backend))
    table = outcome.tables["test"]
    assert {int(v) for part in range(3) for v in table.responses(0, part).predict} == {1}


def test_a_study_where_everything_fails_still_ends(asked):
    learner = ho.Tuned(Ridge(), {"alpha": ["no", "never"]}, validation=ho.KFold(3))
    question = asked(learner, X, y)
    outcome = run_study(question.study, question.task, Running(jobs=1))
    assert all(chosen.candidate is None and chosen.failed == 2 for chosen in outcome.study.chosen.values())
    assert outcome.tables["test/0"].losses.size == 0
    assert len(outcome.tables.failures()) == 3 * 3 * 2
