"""Cells of streams: even, stratified, and the same however often they are dealt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout as ho
from heldout.base.errors import SplitError
from heldout.splits.cells import CellPlan, CellSplits, plan_cells


def planned(test, validation, *, rows=10_000, classification=False):
    return plan_cells(test, validation, rows=rows, seed=0, classification=classification)


def assigned(plan, sizes, strata=None, kinds=1):
    start, before, found = 0, None, []
    for size in sizes:
        codes = None if strata is None else strata[start : start + size]
        cells, before = plan.assign(start, size, codes, kinds=kinds, before=before)
        found.append(cells)
        start += size
    return np.concatenate(found)


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6), count=st.integers(1, 12), seed=st.integers(0, 2**32 - 1)
)
def test_sizes_differ_by_at_most_one(sizes, count, seed):
    cells = assigned(CellPlan(rows=sum(sizes), count=count, seed=seed), sizes)
    sizes_of_cells = np.bincount(cells, minlength=count)
    assert sizes_of_cells.max() - sizes_of_cells.min() <= 1
    assert len(sizes_of_cells) == count


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6), count=st.integers(1, 9), data=st.data())
def test_each_class_is_spread_evenly(sizes, count, data):
    strata = np.array(data.draw(st.lists(st.integers(0, 2), min_size=sum(sizes), max_size=sum(sizes))), dtype=np.int64)
    cells = assigned(CellPlan(rows=sum(sizes), count=count, seed=1), sizes, strata, kinds=3)
    for kind in range(3):
        each = np.bincount(cells[strata == kind], minlength=count)
        assert each.max() - each.min() <= 1


@given(rows=st.integers(10, 300), count=st.integers(1, 10))
def test_in_order_cells_are_neighbouring_rows(rows, count):
    plan = CellPlan(rows=rows, count=count, seed=0, in_order=True)
    cells = assigned(plan, [rows // 2, rows - rows // 2])
    assert (np.diff(cells) >= 0).all()
    sizes = np.bincount(cells, minlength=count)
    assert sizes.max() - sizes.min() <= 1


def test_every_row_may_meet_every_cell():
    first = [int(assigned(CellPlan(rows=20, count=4, seed=seed), [20])[0]) for seed in range(400)]
    assert (np.bincount(first, minlength=4) > 60).all()


@pytest.mark.parametrize(
    ("test", "validation", "cells"),
    [
        (ho.KFold(5), None, 5),
        (ho.KFold(5), ho.KFold(5), 25),
        (ho.KFold(5), ho.SharedBlocks(), 5),
        (ho.KFold(3), ho.Holdout(0.25), 300),
        (ho.Holdout(0.2), ho.Holdout(0.25), 100),
        (ho.KFold(5, repeats=3), ho.KFold(5), 100),
    ],
)
def test_how_many_cells(test, validation, cells):
    assert planned(test, validation).cells == cells


def test_parts_have_their_shares():
    plan = planned(ho.Holdout(0.2), ho.Holdout(0.25))
    task = plan.task(7)
    outer = plan.as_drawn(ho.Holdout(0.2)).draw(task, task.all_rows, seed=1)
    counted = CellSplits.of(outer, np.full(100, 100), stratified=False)
    assert counted.held_sizes.tolist() == [2_000]
    assert counted.train_sizes.tolist() == [8_000]
    assert counted.recipe.words == "hold-out of 20 of 100 cells of rows, at random"


def test_given_rows_are_a_family_of_their_own():
    held = np.array([3, 5, 8])
    plan = planned(ho.Given(held), ho.KFold(3), rows=400)
    cells = assigned(plan, [150, 250])
    task = plan.task(7)
    outer = plan.as_drawn(ho.Given(held)).draw(task, task.all_rows, seed=1)
    np.testing.assert_array_equal(np.flatnonzero(np.isin(cells, outer.held_rows(0))), held)


@pytest.mark.parametrize(
    ("test", "validation", "words"),
    [
        (ho.LeaveOneOut(), None, r"LeaveOneOut\(\) needs random access"),
        (ho.Forward(4), None, "needs random access"),
        (ho.KFold(5), ho.Given([1]), "needs random access"),
        (ho.Holdout(rows=20), None, "counts rows"),
        (ho.Resample(4, 30), None, "counts rows"),
        (ho.KFold(5, shuffle=False), ho.KFold(5), "shuffled or none"),
        (ho.KFold(200), ho.KFold(200), "40,000 cells"),
        (ho.KFold(50), ho.KFold(40), "it has 1000 rows"),
        (ho.Given([2_000]), None, "no row 2000"),
        (ho.Given(folds=[0, 1]), None, "2 fold labels"),
    ],
)
def test_what_cannot_stream_is_refused(test, validation, words):
    with pytest.raises(SplitError, match=words):
        planned(test, validation, rows=1_000)


def test_strata():
    assert planned(ho.KFold(5), None, classification=True).stratified
    assert not planned(ho.KFold(5, stratify=False), None, classification=True).stratified
    assert not planned(ho.KFold(5), ho.KFold(5)).stratified
    with pytest.raises(SplitError, match="target is a number"):
        planned(ho.KFold(5, stratify=True), None)
    with pytest.raises(SplitError, match="row order"):
        planned(ho.KFold(5, shuffle=False), None, classification=True)
