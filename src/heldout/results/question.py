"""What was asked: a question that passed every check, before any fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heldout.base.options import Options
from heldout.results.extra_fits import Beside
from heldout.study.study import Study
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A question that passed every check, before any fit."""

    learner: Any
    task: Task
    study: Study
    seed: int
    level: float
    options: Options
    test: Any  # the strategy
    beside: Beside = field(default_factory=Beside)  # what is asked for an interval, or a learning curve
    call: str = ""  # the Python that asks the same
