"""Judge interval rules by the records that are kept: nothing is fitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from benchmarks.coverage.measure import score
from benchmarks.coverage.run import spread
from benchmarks.coverage.settings import RECIPES, Setting, grid
from benchmarks.coverage.simulate import Replication, replications, restored
from benchmarks.coverage.tally import LEVEL, Cell, Shot, tally
from benchmarks.coverage.truth import Truth, read_truths, truth_path
from heldout.base.errors import OptionError
from heldout.risk.doubts import interval_warnings, leaning_note
from heldout.risk.estimands import Estimand, Subject
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.intervals import METHODS
from heldout.risk.record import Record

DEFAULT = "default"
OTHERS = 100  # replications by which methods other than the default are judged


def estimate_of(record: Record, method: str) -> Estimate:
    """The estimate by the default, or by a method that accepts the record."""
    asked = None if method == DEFAULT else method
    return estimate_risk(record, name="risk", estimand=Estimand("", Subject.LEARNER), level=LEVEL, interval=asked)


def warns(record: Record, columns: int) -> bool:
    """Whether a user is warned about the interval: by the losses, or since the learner leans to the commoner class."""
    return leans(record) or any(finding.severity == "warning" for finding in interval_warnings(record, columns=columns))


def leans(record: Record) -> bool:
    """Whether stratified parts flatter the learner, which a finding of the whole study says."""
    answers = record.answers
    if answers is None or answers.classes != 2 or not record.stratified or record.parts == 1:
        return False
    truth, predicted = np.concatenate(answers.truth), np.concatenate(answers.predicted)
    return leaning_note(truth == 1, predicted == 1) is not None


def judge_cells(
    second: bool, key: str, recipe: str, losses: Sequence[str], most: int, every_method: bool
) -> list[Cell]:
    """The cells of a setting under a recipe, in a worker."""
    setting = grid(second)[key]
    kept = list(replications(setting, recipe, most))
    if not kept or not truth_path(setting, recipe).exists():
        return []
    truths, found = read_truths(setting, recipe), list[Cell]()
    for loss in losses:
        if RECIPES[recipe].interval is not None:
            found.append(_with_fits(setting, recipe, loss, kept, truths[loss]))
            continue
        methods = (DEFAULT, *METHODS) if every_method else (DEFAULT,)
        shots = _shots(kept, loss, truths[loss], methods)
        studies = sum(loss in replication.records or loss in replication.refused for replication in kept)
        found += [
            tally(
                shots[method],
                studies=studies if method == DEFAULT else min(studies, OTHERS),
                truth_error=0.0 if RECIPES[recipe].one_set else truths[loss].error,
                setting=key,
                recipe=recipe,
                loss=loss,
                is_default=method == DEFAULT,
            )
            for method in methods
            if shots[method]
        ]
    return found


def _shots(kept: Iterable[Replication], loss: str, truth: Truth, methods: Iterable[str]) -> dict[str, list[Shot]]:
    """The intervals of each method, where it accepts the record."""
    found: dict[str, list[Shot]] = {method: [] for method in methods}
    for number, one in enumerate(kept):
        if loss not in one.records:
            continue
        record = restored(one.records[loss])
        at = truth.value if one.own is None else score(loss, one.own[loss])
        warned = warns(record, one.columns)
        for method in methods if number < OTHERS else (DEFAULT,):
            try:
                made = estimate_of(record, method)
            except OptionError:  # the method does not accept the record
                continue
            value = np.nan if made.value is None else made.value
            found[method].append(
                Shot(value=value, low=made.low, high=made.high, truth=at, warned=warned, method=made.method or "")
            )
    return found


def _with_fits(setting: Setting, recipe: str, loss: str, kept: list[Replication], truth: Truth) -> Cell:
    """The cell of a method that needed fits of its own, whose intervals were kept as they are."""
    made = [one.ends[loss] for one in kept if loss in one.ends]
    shots = [Shot(value=v, low=low, high=high, truth=truth.value, method=name) for v, low, high, name in made]
    about = {"setting": setting.key, "recipe": recipe, "loss": loss, "is_default": False}
    return tally(shots, studies=len(kept), truth_error=truth.error, **about)


def judge(
    pairs: Mapping[tuple[str, str], Sequence[str]], count: int, *, second: bool, every_method: bool = False
) -> list[Cell]:
    """The cells of these losses in settings under recipes, by as many replications."""
    jobs = [(second, key, recipe, losses, count, every_method) for (key, recipe), losses in pairs.items()]
    return [cell for cells in spread(judge_cells, jobs, words="cells judged", chunk=1) for cell in cells]
