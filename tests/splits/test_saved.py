"""Splits know their task again, and say what another has different."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from heldout.base.errors import SplitError
from heldout.splits import KFold
from heldout.splits.saved import SavedSplits, TaskIdentity
from heldout.task import declare

N = 30
CHANCE = np.random.default_rng(2)
X = CHANCE.normal(size=(N, 3))
Y = CHANCE.normal(size=N)
ROLES = {
    "groups": np.arange(N) % 5,
    "time": np.arange(N),
    "sample_weight": np.linspace(1, 2, N),
    "strata": np.arange(N) % 2,
}


def task_of(X=X, y=Y, *, classification=False, **roles):
    return declare(X, y, classification=classification, **roles)


def other_values(role):
    return ROLES[role] + 1.0 if role in ("time", "sample_weight") else ROLES[role][::-1] // 2


CHANGES = {
    "it had 30 rows, this one has 29": lambda: task_of(X[1:], Y[1:]),
    "y has other values": lambda: task_of(y=Y + 1),
    "X has other values": lambda: task_of(X=X * 2),
    "X has other columns": lambda: task_of(X=X[:, :2]),
}


@pytest.mark.parametrize("words", CHANGES)
def test_what_differs_is_said(words):
    (said,) = TaskIdentity.of(task_of()).differences(CHANGES[words]())
    assert said.startswith(words)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_that_is_new_or_gone_or_another(role):
    plain, declared = task_of(), task_of(**{role: ROLES[role]})
    was, has = ("were", "have") if role in ("groups", "strata") else ("was", "has")
    assert TaskIdentity.of(plain).differences(declared) == (f"{role} {was} not declared then",)
    assert TaskIdentity.of(declared).differences(plain) == (f"{role} {was} declared then, and not here",)
    other = task_of(**{role: other_values(role)})
    assert TaskIdentity.of(declared).differences(other) == (f"{role} {has} other values",)


def test_a_time_that_got_an_end_is_another_time():
    ended = task_of(time=(ROLES["time"], ROLES["time"] + 1))
    assert TaskIdentity.of(task_of(time=ROLES["time"])).differences(ended) == ("time has other values",)


def test_classes_or_numbers_and_types():
    labels = (Y > 0).astype(int)
    said = TaskIdentity.of(task_of(y=labels)).differences(task_of(y=labels, classification=True))
    assert said == ("y was taken as numbers, here as classes",)
    same = pd.DataFrame(np.round(X), columns=["a", "b", "c"])
    assert TaskIdentity.of(task_of(X=same)).differences(task_of(X=same.astype("float32"))) == (
        "columns of X have other types",
    )


def test_several_differences_are_all_said():
    said = TaskIdentity.of(task_of(groups=ROLES["groups"])).differences(task_of(X=X * 2, time=ROLES["time"]))
    assert said == (
        "X has other values, or in another order",
        "groups were declared then, and not here",
        "time was not declared then",
    )


def test_the_same_data_in_the_same_roles_are_the_same_task():
    assert TaskIdentity.of(task_of(**ROLES)).differences(task_of(X.copy(), Y.tolist(), **ROLES)) == ()
    names = np.array(["no", "yes"])[(Y > 0).astype(int)]
    assert (
        TaskIdentity.of(task_of(y=names, classification=True)).differences(
            task_of(y=names.astype("U9"), classification=True)
        )
        == ()
    )


def test_kept_splits_serve_their_own_task_on_all_of_its_rows():
    task = task_of()
    splits = KFold(5).draw(task, task.all_rows, seed=4)
    kept = SavedSplits(splits=splits, origin=TaskIdentity.of(task))
    assert kept.draw(task_of(), task.all_rows, seed=99) is splits
    with pytest.raises(SplitError, match=r"5-fold, shuffled.* drawn from another task: X has other values.*draw new"):
        kept.draw(task_of(X=X * 2), task.all_rows, seed=0)
    with pytest.raises(SplitError, match=r"cannot split the training part of a level above.*as validation="):
        kept.draw(task, task.all_rows[:20], seed=0)
    assert not kept.inner_ok_under_partition
    assert "5 parts drawn before" in repr(kept)


def test_kept_splits_are_checked_again():
    """A fingerprint is no proof that the rows beside it are good ones."""
    task = task_of(groups=ROLES["groups"])
    bad = KFold(5).draw(replace(task, groups=None, group_names=()), task.all_rows, seed=0)
    with pytest.raises(SplitError, match="is both in training and held out"):
        SavedSplits(splits=bad, origin=TaskIdentity.of(task)).draw(task, task.all_rows, seed=0)
