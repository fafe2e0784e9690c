"""Strategies as the command line writes them."""

from __future__ import annotations

import pytest

from heldout.base.errors import SplitError
from heldout.splits import Forward, Holdout, KFold, LeaveOneOut, Resample, SharedBlocks
from heldout.splits.parse import parse


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("kfold:5", KFold(5)),
        ("KFold:10 ", KFold(10)),
        ("kfold", KFold()),
        ("kfold:5x3", KFold(5, repeats=3)),
        ("kfold:4:contiguous", KFold(4, shuffle=False, stratify=False)),
        ("holdout:0.2", Holdout(0.2)),
        ("holdout", Holdout()),
        ("holdout:100", Holdout(rows=100)),
        ("resample:20:0.25", Resample(20, 0.25)),
        ("resample:20:30", Resample(20, 30)),
        ("resample:20", Resample(20)),
        ("loo", LeaveOneOut()),
        ("forward:4", Forward(4)),
        ("forward", Forward()),
        ("shared", SharedBlocks()),
    ],
)
def test_each_form(text, strategy):
    assert parse(text) == strategy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kfolds:5", r"Unknown splits 'kfolds:5'. Did you mean 'kfold'\?"),
        ("bootstrap", "Known: forward, holdout, kfold, loo, resample, shared"),
        ("kfold:five", "'kfold:five' cannot be read. Write it as kfold:5"),
        ("kfold:2.5", "cannot be read"),
        ("kfold:5:sorted", "or kfold:5:contiguous"),
        ("kfold:5x3:contiguous", "cannot be read"),
        ("kfold:5:contiguous:6", "says too much"),
        ("loo:5", "'loo:5' says too much. Write it as loo"),
        ("resample", "Write it as resample:20:0.2"),
        ("kfold:1", "must be at least 2, but is 1"),
        ("holdout:1.5", "share between 0 and 1"),
        ("holdout:nan", "share between 0 and 1"),
    ],
)
def test_refusals_name_the_nearest(text, message):
    with pytest.raises(SplitError, match=message):
        parse(text)
