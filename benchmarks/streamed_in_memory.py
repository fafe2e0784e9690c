"""The same study twice: from a stream, and in memory with every cell replaced by its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import heldout as ho
from heldout.api.question import prepare
from heldout.engine.run import Outcome, Running, run_study
from heldout.engine.streams import run_streamed
from heldout.results.study_record import Question, Request
from heldout.splits.drawn import Splits
from heldout.study.study import Study
from heldout.task import declare


def both_ways(learner: Any, path: str, frame: Any) -> tuple[Outcome, Outcome]:
    """A nested study of the file at `path`, and of the same rows in `frame` with the same folds."""
    question = prepare(learner, path, "y", Request(test=ho.KFold(5)))
    assert question.stream is not None
    streamed = run_streamed(question.study, question.stream.source, question.stream.families, Running())
    task = declare(frame.drop(columns="y"), frame["y"], classification=False)
    return streamed.outcome, run_study(_study_of_rows(question), task, Running(backend="inline"))


def _study_of_rows(question: Question) -> Study:
    assert question.stream is not None
    source, study = question.stream.source, question.study
    labels = np.concatenate(list(source.each(lambda chunk, cells, codes: cells)))
    cells = [np.flatnonzero(labels == cell) for cell in range(source.plan.cells)]

    def as_rows(splits: Splits) -> Splits:
        held = [np.sort(np.concatenate([cells[c] for c in splits.held_rows(part)])) for part in range(len(splits))]
        rows = np.sort(np.concatenate([cells[cell] for cell in splits.rows]))
        return Splits.from_pairs(rows, [(None, one) for one in held], splits.recipe)

    return replace(study, splits={name: as_rows(one) for name, one in study.splits.items()})
