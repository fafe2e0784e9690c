from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.kernels.step import plan_brute_force
from heldout.planner.plan import Draft
from heldout.planner.share_fits import share_fits, train_keys
from heldout.splits.drawn import Recipe, Splits
from heldout.study.study import TEST, Panel
from heldout.task import declare

X, y = (part[:24] for part in load_diabetes(return_X_y=True))
TASK = declare(X, y, classification=False)
RECIPE = Recipe(kind="given", words="made up")


def splits_of(*trains, held=(23,)):
    pairs = [(np.array(train, dtype=np.intp), np.array(held, dtype=np.intp)) for train in trains]
    return Splits.from_pairs(TASK.all_rows, pairs, RECIPE)


def draft_of(splits, *, candidates=range(2), panels=None):
    search = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}).as_search(seed=0)
    panels = panels or [
        Panel(key=key, level=TEST, splits=key, parts=range(len(one)), candidates=candidates)
        for key, one in splits.items()
    ]
    return Draft(
        steps=plan_brute_force(panels),
        search=search,
        splits=splits,
        task=TASK,
        asks_predictor=False,
        own_fit_params=False,
    )


SEQUENCES = st.lists(st.integers(0, 5), min_size=1, max_size=5)


@settings(deadline=None, max_examples=100)
@given(st.lists(SEQUENCES, min_size=2, max_size=6))
def test_training_rows_have_one_key_exactly_when_they_are_one_sequence(trains):
    """Order and repeats count: a fit depends on both."""
    keys = train_keys(splits_of(*trains), TASK)
    for one, key in zip(trains, keys, strict=True):
        for other, other_key in zip(trains, keys, strict=True):
            assert (key == other_key) == (one == other)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_rows_that_are_the_rest_have_the_key_of_the_same_rows_written_out(k, seed):
    implicit = ho.KFold(k).draw(TASK, TASK.all_rows, seed=seed)
    assert implicit.train is None
    written = [implicit.train_rows(part) for part in range(k)]
    assert train_keys(implicit, TASK) == train_keys(splits_of(*written), TASK)


def test_equal_contents_under_other_numbers_are_not_one_row():
    """Duplicate rows are told apart, since a learner may look at their order."""
    task = declare(np.ones((4, 2)), np.arange(4) % 2 * 1.0, classification=False)
    keys = train_keys(ho.LeaveOneOut().draw(task, task.all_rows, seed=0), task)
    assert len(set(keys)) == 4


def test_one_fit_serves_both_panels():
    splits = {"a": splits_of([0, 1, 2], [3, 4]), "b": splits_of([5, 6], [0, 1, 2], held=(22,))}
    (first, second) = share_fits(draft_of(splits)).steps
    shared, alone = first.trainings
    assert [(held.panel, held.part) for held in shared.answers] == [("a", 0), ("b", 1)]
    assert [held.panel for held in alone.answers] == ["a"]
    assert [held.part for training in second.trainings for held in training.answers] == [0]
    assert (first.fits, second.fits) == (4, 2)


@pytest.mark.parametrize("other", [[2, 1, 0], [0, 1, 2, 2], [0, 1], [0, 1, 3]])
def test_rows_that_only_look_alike_are_not_shared(other):
    rewrite = share_fits(draft_of({"a": splits_of([0, 1, 2]), "b": splits_of(other)}))
    assert rewrite.steps is None
    assert rewrite.refusals == ("no two cells have the same candidate and training rows",)


def test_other_candidates_are_not_shared():
    splits = {"a": splits_of([0, 1, 2]), "b": splits_of([0, 1, 2])}
    panels = [
        Panel(key=key, level=TEST, splits=key, parts=range(1), candidates=range(c, c + 1))
        for c, key in enumerate(splits)
    ]
    assert share_fits(draft_of(splits, panels=panels)).steps is None


def test_an_average_is_not_a_single_predictor():
    splits = {"a": splits_of([0, 1, 2]), "b": splits_of([0, 1, 2])}
    single = Panel(key="a", level=TEST, splits="a", parts=range(1), candidates=range(1))
    averaged = replace(single, key="b", splits="b", averaged=True)
    assert share_fits(draft_of(splits, panels=[single, averaged])).steps is None
    assert len(share_fits(draft_of(splits, panels=[averaged, replace(averaged, key="c")])).steps) == 1


def test_shared_blocks_take_half_the_fits(asked):
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.SharedBlocks())
    study = asked(learner, X, y, test=ho.KFold(4)).study
    draft = draft_of(study.splits, panels=[p for p in study.panels if p.candidates is not None])
    assert sum(step.fits for step in draft.steps) == 4 * 3 * 2
    assert sum(step.fits for step in share_fits(draft).steps) == 4 * 3
