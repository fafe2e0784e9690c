"""Rule `share_fits`: one fit serves every cell with the same candidates and the same training rows.

Law: a fit depends on the candidate, the sequence of training rows and the seed, and the seed on the rows' content. So
equal sequences give equal predictors, and their cells may be answered together. Tier: identical. It must refuse to
merge training rows that are equal as sets but not as sequences.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from heldout.base.rowkeys import key_minus, key_of
from heldout.kernels.step import Plain, Training, brute_step, splits_of
from heldout.planner.plan import Draft, Rewrite, refused
from heldout.splits.drawn import Splits
from heldout.task.task import Task

NOTHING_SHARED = "no two cells have the same candidate and training rows"


def share_fits(draft: Draft) -> Rewrite:
    """Merge the steps whose candidates and training rows are the same."""
    if _all_apart(draft):
        return refused(NOTHING_SHARED)
    used = set().union(*(splits_of(step.trainings) for step in draft.steps))
    keys = {name: train_keys(draft.splits[name], draft.task) for name in used}
    # By identity (candidates, averaging, rows): the step that keeps it, and the training with all answers.
    merged: dict[Any, tuple[int, Training]] = {}
    for number, step in enumerate(draft.steps):
        for training in step.trainings:
            rows = tuple(keys[ref.splits][ref.part] for ref in training.trains)
            identity = (step.candidates, training.averaged, rows)
            if identity in merged:
                keeper, first = merged[identity]
                merged[identity] = (keeper, first._replace(answers=first.answers + training.answers))
            else:
                merged[identity] = (number, training)
    if len(merged) == sum(len(step.trainings) for step in draft.steps):
        return refused(NOTHING_SHARED)
    kept: list[list[Training]] = [[] for _ in draft.steps]
    for number, training in merged.values():
        kept[number].append(training)
    pairs = zip(draft.steps, kept, strict=True)
    return Rewrite(steps=tuple(brute_step(step.candidates, tuple(own)) for step, own in pairs if own))


def _all_apart(draft: Draft) -> bool:
    """Return whether half of each key already shows that no two training sets are the same."""
    keys = []
    for piece in [piece for step in draft.steps for piece in step.pieces]:
        if not isinstance(piece, Plain) or draft.splits[piece.splits].train is not None:
            return False
        splits, hashes = draft.splits[piece.splits], draft.task.index_hashes[:, 0]
        held = np.add.reduceat(hashes[splits.held], splits.held_cuts[:-1])
        keys.append(hashes[splits.rows].sum() - held[piece.parts.start : piece.parts.stop])
    every = np.concatenate(keys) if keys else np.empty(0)
    return len(np.unique(every)) == len(every)


def train_keys(splits: Splits, task: Task) -> list[Any]:
    """Return the key of each part's training rows, without building those that are the complement of held-out rows."""
    hashes = task.index_hashes
    if splits.train is None or splits.train_cuts is None:
        whole = key_of(hashes, splits.rows)
        sums = np.add.reduceat(hashes[splits.held], splits.held_cuts[:-1], axis=0).tolist()
        return [key_minus(whole, (high << 64) | low) for low, high in sums]
    keys: list[Any] = []
    for part in range(len(splits)):
        rows = splits.train_rows(part)
        key: Any = key_of(hashes, rows)
        if len(rows) > 1 and not (np.diff(rows) > 0).all():  # not ascending, or repeated: part of the key
            key = (key, blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).digest())
        keys.append(key)
    return keys
