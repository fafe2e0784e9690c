"""The remark on classes with fewer rows than folds."""

from __future__ import annotations

import numpy as np

from heldout.splits.remarks import rare_class_note


def test_it_names_the_class_and_suggests_k(make_task):
    task = make_task(30, y=["a"] * 27 + ["b"] * 3)
    note = rare_class_note(task, task.all_rows, 5)
    assert note == (
        "Class 'b' has 3 rows, fewer than the 5 folds, so some folds hold out none of it. "
        "KFold(3) gives each fold at least one."
    )


def test_it_looks_at_the_rows_of_this_level(make_task):
    task = make_task(20, y=[0] * 12 + [1] * 8)
    assert rare_class_note(task, task.all_rows, 5) is None
    assert "Class 1 has 2 rows" in rare_class_note(task, np.arange(14), 5)


def test_a_single_row_has_no_k_and_others_are_counted(make_task):
    task = make_task(20, y=[0] * 15 + [1] * 2 + [2] * 2 + [3])
    note = rare_class_note(task, task.all_rows, 5)
    assert "Class 3 has 1 row, fewer than the 5 folds (so have 2 more)" in note
    assert "No number of folds gives each fold one." in note
    assert "(so has one more)" in rare_class_note(task, np.arange(19), 5)


def test_strata_go_before_classes_and_numbers_have_none(make_task):
    task = make_task(9, y=[0, 1, 2] * 3, strata=np.array([4] * 7 + [5] * 2))
    assert rare_class_note(task, task.all_rows, 3).startswith("Stratum 5 has 2 rows")
    assert rare_class_note(make_task(9), np.arange(9), 3) is None


def test_with_groups_it_counts_groups(make_task):
    task = make_task(60, y=["a"] * 40 + ["b"] * 20, groups=np.append(np.arange(40) // 4, np.arange(20) // 10 + 10))
    assert rare_class_note(task, task.all_rows, 5) == (
        "Class 'b' is in 2 groups, fewer than the 5 folds, so some folds hold out none of it. "
        "KFold(2) can give each fold one."
    )
    assert rare_class_note(task, task.all_rows, 2) is None


def test_labels_are_counted_too(make_task):
    y = np.zeros((20, 2), dtype=int)
    y[:12, 0] = 1
    y[10:13, 1] = 1
    assert rare_class_note(make_task(20, y=y), np.arange(20), 5).startswith(
        "Label 1 has 3 rows, fewer than the 5 folds"
    )
