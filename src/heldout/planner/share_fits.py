"""Rule `share_fits`: one fit serves every cell with the same candidates and the same training rows.

Law: a fit depends on the candidate, the sequence of training rows and the seed, and the seed on the rows' content;
so equal sequences give equal predictors, and the cells may be answered together. Tier: identical.
It must refuse to merge training rows that are equal as sets but not as sequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from heldout.base.rowkeys import key_minus, key_of
from heldout.kernels.step import Step, Training
from heldout.splits.drawn import Splits
from heldout.study.panels import TrainRef
from heldout.task.task import Task


def share_fits(steps: tuple[Step, ...], splits: Mapping[str, Splits], task: Task) -> tuple[Step, ...] | None:
    """The steps with equal ones merged, or None when all differ."""
    keys = {name: train_keys(one, task) for name, one in splits.items()}
    merged: dict[Any, Step] = {}
    for step in steps:
        (training,) = step.trainings  # brute force's steps have one each
        identity = (training.averaged, step.candidates, tuple(_key(keys, ref) for ref in training.trains))
        earlier = merged.get(identity)
        merged[identity] = step if earlier is None else _joined(earlier, training)
    return tuple(merged.values()) if len(merged) < len(steps) else None


def _joined(step: Step, training: Training) -> Step:
    (first,) = step.trainings
    return replace(step, trainings=(first._replace(answers=first.answers + training.answers),))


def _key(keys: Mapping[str, list[Any]], ref: TrainRef) -> Any:
    return keys[ref.splits][ref.part]


def train_keys(splits: Splits, task: Task) -> list[Any]:
    """The identity key of each part's training rows, without building those that are simply the rest."""
    hashes = task.index_hashes
    if splits.train is None or splits.train_cuts is None:
        whole = key_of(hashes, splits.rows)
        sums = np.add.reduceat(hashes[splits.held], splits.held_cuts[:-1], axis=0)
        return [key_minus(whole, (int(high) << 64) | int(low)) for low, high in sums]
    found: list[Any] = []
    for part in range(len(splits)):
        rows = splits.train_rows(part)
        key: Any = key_of(hashes, rows)
        if len(rows) > 1 and not (np.diff(rows) > 0).all():  # an order of its own, or repeats: part of its identity
            key = (key, blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).digest())
        found.append(key)
    return found
