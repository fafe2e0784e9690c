"""A study as one step of a kernel, and what the kernel answers beside brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import heldout as ho
from heldout.api.question import prepare
from heldout.engine.run import work_of
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.step import Held, Step, Training, Work
from heldout.results.study_record import Question, Request
from heldout.study.answers import PanelTable


def ask(learner: Any, X: Any, y: Any, **more: Any) -> Question:
    """The checked question that `evaluate` would ask, over three folds unless `test` is given."""
    roles = {name: more.pop(name, None) for name in ("groups", "time", "sample_weight", "strata")}
    return prepare(learner, X, y, Request(**{"test": ho.KFold(3), "roles": roles, **more}))


def posed(
    learner: Any, X: Any, y: Any, *, kernel: str, most_panels: int | None = None, **more: Any
) -> tuple[Step, Work]:
    """The first panels of a study (the validation panels of a tuned learner, else the test panel) as one step."""
    asked = ask(learner, X, y, **more)
    everything = frozenset(panel.key for panel in asked.study.panels)
    work = replace(work_of(asked.study, asked.task, {}), keep_responses=everything, keep_rows=everything)
    panels = [panel for panel in asked.study.panels if panel.candidates is not None][:most_panels]
    trainings = tuple(
        Training(panel.trains_of(part), False, (Held(panel.key, panel.level, panel.splits, part),))
        for panel in panels
        for part in panel.parts
    )
    kind: dict[str, Any] = {"kernel": kernel, "rule": kernel, "tier": "rounding", "fits": 1}
    return Step(candidates=tuple(panels[0].candidates or ()), trainings=trainings, **kind), work


def tables_of(answers: Any, step: Step, work: Work) -> dict[str, PanelTable]:
    """The answers of a step by panel; every cell is there."""
    tables: dict[str, PanelTable] = {}
    for training in step.trainings:
        held = training.answers[0]
        sizes, losses = work.splits[held.splits].held_sizes, len(work.losses[held.level])
        empty = PanelTable.empty(range(len(step.candidates)), range(len(sizes)), losses, sizes=sizes)
        tables.setdefault(held.panel, empty)
    for answer in answers:
        tables[answer.panel].put(answer)
    assert all(table.complete for table in tables.values())
    return tables


def worst_difference(kernel: Any, step: Step, work: Work) -> float:
    """Of all responses from those of brute force, relative to the largest of each cell; the same cells fail."""
    ours = tables_of(kernel.answer(step, work), step, work)
    theirs = tables_of(answer_by_brute_force(step, work), step, work)
    worst = 0.0
    for panel, table in theirs.items():
        for candidate in table.candidates:
            for part in table.parts:
                one, other = ours[panel].responses(candidate, part), table.responses(candidate, part)
                assert (one is None) == (other is None)
                if one is not None and other is not None:
                    assert one.predict.shape == other.predict.shape
                    assert one.predict.dtype == other.predict.dtype
                    worst = max(worst, float(np.abs(one.predict - other.predict).max() / np.abs(other.predict).max()))
    return worst
