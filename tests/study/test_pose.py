from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold

import heldout as ho
from heldout.base.errors import OptionError, SplitError
from heldout.study.answers import Answer, Tables
from heldout.study.choose import advance
from heldout.study.study import FINAL, OUTER, TEST, VALIDATION, TrainRef, draw_validation, pose_tuning
from heldout.task import declare

X, y = (part[:60] for part in load_diabetes(return_X_y=True))
ALPHAS = {"alpha": [1.0, 2.0, 3.0]}


def tuned(**how):
    return ho.Tuned(Ridge(), ALPHAS, **{"validation": ho.KFold(4)} | how)


def pairs(splits):
    return [(splits.train_rows(p).tolist(), splits.held_rows(p).tolist()) for p in range(len(splits))]


def test_an_untuned_learner_asks_one_panel(asked):
    study = asked(Ridge(), X, y).study
    (panel,) = study.panels
    assert (panel.level, panel.candidates, panel.parts) == (TEST, range(1), range(3))
    assert not study.choices
    assert panel.trains_of(2) == (TrainRef(OUTER, 2),)


def test_a_tuned_learner_asks_a_choice_in_each_fold_before_its_test(asked):
    study = asked(tuned(), X, y).study
    assert [len(p.candidates) * len(p.parts) for p in study.of_level(VALIDATION)] == [12, 12, 12]
    assert [p.candidates for p in study.of_level(TEST)] == [None, None, None]
    assert [p.waits_for for p in study.of_level(TEST)] == [choice.key for choice in study.choices]
    assert [list(p.parts) for p in study.of_level(TEST)] == [[0], [1], [2]]


def test_validation_rows_are_inside_the_training_rows_of_their_fold(asked):
    study = asked(tuned(), X, y).study
    outer = study.splits[OUTER]
    for part in range(len(outer)):
        inner = study.splits[f"inner/{part}"]
        assert inner.rows.tolist() == outer.train_rows(part).tolist()
        assert not set(inner.held) & set(outer.held_rows(part))


def test_a_choice_says_which_test_part_it_is_for(asked):
    study = asked(tuned(), X, y).study
    assert [choice.fold for choice in study.choices] == [part for panel in study.of_level(TEST) for part in panel.parts]
    question = asked(tuned(), X, y)
    alone = pose_tuning(question.study.search, question.task, question.task.all_rows)
    assert [choice.fold for choice in alone.choices] == [None]


def test_only_answered_choices_are_made(asked):
    study = asked(tuned(), X, y).study
    tables = Tables()
    panel = study.panels[0]
    tables.open(study, [panel])
    for c in panel.candidates:
        for p in panel.parts:
            assert advance(study, tables).chosen == {}
            tables.put(Answer.of_cell(panel.key, (c, p), [abs(c - 1.0)]))
    after = advance(study, tables)
    assert list(after.chosen) == [study.choices[0].key]
    assert [p.candidates for p in after.of_level(TEST)] == [range(1, 2), None, None]
    assert study.chosen == {}  # the question before is left alone
    assert advance(after, tables).panels == after.panels


def test_where_every_candidate_failed_nothing_is_tested(asked):
    study = asked(tuned(), X, y, test=ho.Holdout(0.3)).study
    tables = Tables()
    panel = study.panels[0]
    tables.open(study, [panel])
    for c in panel.candidates:
        for p in panel.parts:
            tables.put(Answer.of_cell(panel.key, (c, p), [np.nan]))
    (test,) = advance(study, tables).of_level(TEST)
    assert test.candidates == range(0)


def test_final_says_what_the_tested_predictor_is_trained_on(asked):
    (retrained,) = asked(tuned(), X, y, test=ho.Holdout(0.3)).study.of_level(TEST)
    assert retrained.trains_of(0) == (TrainRef(OUTER, 0),)
    assert not retrained.averaged
    (averaged,) = asked(tuned(final="ensemble"), X, y, test=ho.Holdout(0.3)).study.of_level(TEST)
    assert averaged.trains_of(0) == tuple(TrainRef("inner/0", part) for part in range(4))
    assert averaged.averaged
    learner = tuned(final="keep", validation=ho.Holdout(0.25))
    (kept,) = asked(learner, X, y, test=ho.Holdout(0.3)).study.of_level(TEST)
    assert kept.trains_of(0) == (TrainRef("inner/0", 0),)
    assert not kept.averaged


def test_keep_needs_a_single_development_set(asked):
    with pytest.raises(SplitError, match="this validation has 4 parts"):
        asked(tuned(final="keep"), X, y)


def test_one_se_needs_two_parts(asked):
    with pytest.raises(OptionError, match="at least two validation parts"):
        asked(tuned(choose="one_se", validation=ho.Holdout(0.25)), X, y)


def test_given_names_rows_of_the_whole_task(asked):
    with pytest.raises(SplitError, match="cannot be the validation of each of 3 test folds"):
        asked(tuned(validation=ho.Given([1, 2, 3])), X, y)
    learner, test = tuned(validation=ho.Given([1, 2, 3])), ho.Given([4, 5, 6])
    inner = asked(learner, X, y, test=test).study.splits["inner/0"]
    assert inner.held.tolist() == [1, 2, 3]
    assert not set(inner.train_rows(0)) & {1, 2, 3, 4, 5, 6}


def test_a_validation_that_cannot_be_drawn_names_the_fold(asked):
    with pytest.raises(SplitError, match="Validation splits inside test fold 0"):
        asked(tuned(validation=ho.KFold(41)), X, y)


def test_validation_draws_depend_on_the_rows_and_not_on_their_numbers():
    """The rows of a fold, set apart as a task of their own, are drawn from as they were inside the study."""
    task = declare(X, y, classification=False)
    rows = np.flatnonzero(np.arange(len(y)) % 3)
    alone = declare(X[rows], y[rows], classification=False)
    search = tuned().as_search(seed=0)
    inside, apart = draw_validation(search, task, rows), draw_validation(search, alone, alone.all_rows)
    assert inside.held.tolist() == rows[apart.held].tolist()
    other = draw_validation(replace(search, seed=1), task, rows)
    assert other.held.tolist() != inside.held.tolist()


def test_an_order_of_their_own_is_kept_by_what_is_drawn_from_rows():
    task = declare(X, y, classification=False, time=np.arange(len(y)) % 7)
    rows = np.random.default_rng(0).permutation(len(y))[:40]
    alone = declare(X[rows], y[rows], classification=False, time=task.time[rows])
    for validation in (ho.KFold(3, buffer=1), ho.Forward(2), ho.LeaveOneOut(), ho.Holdout(0.3)):
        search = tuned(validation=validation).as_search(seed=0)
        inside, apart = draw_validation(search, task, rows), draw_validation(search, alone, alone.all_rows)
        assert inside.recipe == apart.recipe
        for part in range(len(apart)):
            assert inside.train_rows(part).tolist() == rows[apart.train_rows(part)].tolist()
            assert inside.held_rows(part).tolist() == rows[apart.held_rows(part)].tolist()


def test_training_rows_in_an_order_of_their_own_are_not_named_by_the_billion(monkeypatch):
    monkeypatch.setattr("heldout.splits.strategy.MOST_NUMBERS", 1000)
    task = declare(X, y, classification=False)
    search = tuned(validation=ho.LeaveOneOut()).as_search(seed=0)
    assert len(draw_validation(search, task, task.all_rows)) == len(y)
    with pytest.raises(SplitError, match=r"would name .* training rows.*Sort its training rows"):
        draw_validation(search, task, task.all_rows[::-1])


def test_shared_blocks_are_the_other_outer_blocks(asked):
    study = asked(tuned(validation=ho.SharedBlocks()), X, y, test=ho.KFold(4)).study
    outer = study.splits[OUTER]
    for part in range(4):
        held = [rows for _, rows in pairs(study.splits[f"inner/{part}"])]
        assert held == [rows for p, (_, rows) in enumerate(pairs(outer)) if p != part]


def test_tuning_alone_asks_one_choice_on_all_rows():
    task = declare(X, y, classification=False)
    study = pose_tuning(tuned().as_search(seed=0), task, task.all_rows)
    assert [c.key for c in study.choices] == [FINAL]
    assert study.splits[FINAL].rows.tolist() == list(range(60))
    assert [len(p.candidates) * len(p.parts) for p in study.panels] == [12]


def test_shared_blocks_choose_finally_on_the_outer_blocks():
    task = declare(X, y, classification=False)
    search = tuned(validation=ho.SharedBlocks()).as_search(seed=0)
    outer = ho.KFold(4).draw(task, task.all_rows, seed=1)
    assert pairs(pose_tuning(search, task, task.all_rows, outer=outer).splits[FINAL]) == pairs(outer)
    with pytest.raises(SplitError, match="no blocks of its own"):
        pose_tuning(search, task, task.all_rows)


SPACE = {"fit_intercept": [True, False]}  # of a learner that leaves nothing to chance


def test_splits_that_take_no_seed_wait_for_no_hash_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over all columns that nothing of the fit wants; shuffled splits do want it."""

    def hashed(*_: object) -> object:
        raise AssertionError("rows were hashed")

    X, y = np.arange(24.0).reshape(12, 2) ** 2, np.arange(12.0)
    monkeypatch.setattr("heldout.task.task.row_hashes", hashed)
    for validation in (KFold(3), ho.LeaveOneOut(), [(np.arange(8), np.arange(8, 12))]):
        tuned = ho.Tuned(LinearRegression(), SPACE, validation=validation, random_state=0).fit(X, y)
        assert tuned.estimates_  # nor do corrections of the best number, which draw rows by their targets
    with pytest.raises(AssertionError, match="hashed"):
        ho.Tuned(LinearRegression(), SPACE, validation=ho.KFold(3), random_state=0).fit(X, y)
