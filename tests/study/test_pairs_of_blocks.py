"""The question behind the Bates–Hastie–Tibshirani interval: which rows train, and which choice each side waits for."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.study.study import SPREAD, VALIDATION

X = np.random.default_rng(0).normal(size=(36, 2))
Y = X[:, 0]
OPTIONS = ho.Options(interval="bht", repetitions=2)


def pairs_of(asked, learner):
    return asked(learner, X, Y, test=ho.KFold(3), options=OPTIONS).pairs


def rows_behind(study, panel, part):
    return [set(study.splits[ref.splits].train_rows(ref.part)) for ref in panel.trains_of(part)]


def test_every_pair_of_blocks_of_every_repetition_is_left_out_and_both_sides_asked(asked):
    pairs_of_blocks = pairs_of(asked, Ridge())
    study, blocks = pairs_of_blocks.study, pairs_of_blocks.study.splits["blocks"]
    assert pairs_of_blocks.known == 3
    found = set()
    for panel in study.of_level(SPREAD):
        for part in panel.parts:
            (train,) = rows_behind(study, panel, part)
            held = set(study.splits[panel.splits].held_rows(part))
            assert not train & held
            out = tuple(
                p for p in range(6) if p // 3 == _repetition(panel, part) and not train & set(blocks.held_rows(p))
            )
            asked_block = next(p for p in out if set(blocks.held_rows(p)) == held)
            found.add((out, asked_block))
    pairs = {((i, j), one) for i, j in ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)) for one in (i, j)}
    assert found == pairs | {((p,), p) for p in (3, 4, 5)}


def _repetition(panel, part):
    return (part if panel.splits == "blocks" else int(panel.splits.split("/")[1])) // 3


def test_a_tuned_learner_chooses_once_inside_each_training_set(asked):
    tuned = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.KFold(4))
    study = pairs_of(asked, tuned).study
    assert len(study.choices) == len(study.of_level(VALIDATION)) == 6 + 3
    for panel in study.of_level(SPREAD):
        choice = next(one for one in study.choices if one.key == panel.waits_for)
        inner = study.validation_splits(choice)
        (train,) = rows_behind(study, panel, panel.parts.start)
        assert set(inner.rows) == train  # the choice saw the training rows and nothing else
