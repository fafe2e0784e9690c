"""Yardsticks: learners that ``checks="all"`` fits on the folds of a study, to hold its own learner against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heldout.base.options import Options
from heldout.engine.run import Outcome
from heldout.results.test_losses import read_test_losses
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Pair
from heldout.risk.record import Record
from heldout.study.study import Study
from heldout.task import Task

BOOSTING, PLAIN_LINEAR, DEFAULTS, COLUMN = "boosting", "a plain linear model", "the default parameters", "column"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Yardsticks:
    """Holds the studies of all yardsticks, each a family of one candidate, and why there are no others."""

    studies: Mapping[str, tuple[Study, Task]]  # by what they are called in a plan, each with the table it runs on
    without: Mapping[str, str]  # reasons by the names above


def pairs_with(
    yardsticks: Yardsticks, extra: Mapping[str, Outcome], record: Record, *, level: float, options: Options
) -> dict[str, Pair | str]:
    """Compare the learner with each yardstick on the same rows; of single columns with the best one alone."""
    found, records, single = dict[str, Pair | str](yardsticks.without), dict[str, Record](), dict[str, float]()
    for name, (study, task) in yardsticks.studies.items():
        for candidate, family in enumerate(study.search.families):
            records[family.name] = read_test_losses(task, extra[name], seed=record.seed, candidate=candidate).records[0]
            if family.name.startswith(COLUMN):
                single[family.name] = float(np.mean(records[family.name].fold_losses))
    best = min(single, key=lambda name: (np.isnan(single[name]), single[name]), default=None)
    for name, other in records.items():
        if name in single and name != best:
            continue
        if not np.isfinite([*other.fold_losses, *record.fold_losses]).all():
            found[name] = f"a fit of {name} failed"
            continue
        both = {"this learner": record, name: other}
        (found[name],) = compare_records(both, level=level, pool=options.pool, interval=options.interval)
    return found
