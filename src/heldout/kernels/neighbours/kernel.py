"""The kernel `neighbours`: KNeighborsClassifier and KNeighborsRegressor, for every n_neighbors and weighting at once.

Law: a neighbour list of a row, less the rows that do not train, is its neighbour list in that training set; so one
search serves every training set of a task whose columns are not prepared, and every k. Where two neighbours are as far
as each other within rounding, scikit-learn's own search decides. Tier: identical.
It must refuse training sets that lack a class, and functions of the user's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from heldout.base.warnings import catch_warnings
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import Claims
from heldout.kernels.fitting import fit_on_rows
from heldout.kernels.neighbours.answers import Outbox, Target, target_of
from heldout.kernels.neighbours.direct import answer_part
from heldout.kernels.neighbours.family import Group, survey
from heldout.kernels.neighbours.runs import Run, make_runs
from heldout.kernels.neighbours.shared import answer_shared, prepare, routes, setting_for
from heldout.kernels.neighbours.spread import spread
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Step, Training, Work
from heldout.losses import needed_methods
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

FIT = 2_000_000  # what a fit and a question cost besides distances, in operations
SORTING = 20  # operations that a distance costs besides its columns


class Neighbours:
    """One search for many cells."""

    name = "neighbours"
    tier = "identical"

    def claim(self, search: Search, task: Task) -> Claims:
        found = survey(search)
        reason = _task_refusal(task)
        if reason is not None and found.groups:
            return Claims(refusals=(reason,))
        groups = tuple(tuple(member.candidate for member in group.members) for group in found.groups)
        return Claims(groups=groups, refusals=found.refusals)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        if training.averaged or len(training.trains) != 1:
            return "the predictor is an average of several"
        ref = training.trains[0]
        own = splits[ref.splits]
        found = survey(search)
        n = int(own.train_sizes[ref.part])
        if found.largest > n:
            return f"a candidate asks for {found.largest} neighbours of {n} training rows"
        if task.classification and _lacks_class(task, own)[ref.part]:
            return "a training set lacks a class"
        held = sum(int(splits[held.splits].held_sizes[held.part]) for held in training.answers)
        return _cost_refusal(task, candidates=found.most, parts=len(own), trained_on=n, held=held)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 0

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        group = survey(work.search).group_of(step.candidates[0])
        if work.fit_params or not all(_can_score(group, work, level) for level in _levels(step)):
            yield from answer_by_brute_force(step, work)
            return
        members = {member.candidate: member for member in group.members}
        own = replace(group, members=tuple(members[candidate] for candidate in step.candidates))
        target = target_of(work.task, classifier=type(group.knn) is KNeighborsClassifier)
        proba = any(_needs_proba(work, level) for level in _levels(step))
        most = max(1, work.budget // 4 // Outbox.row_bytes(target, len(own.members), proba=proba))
        runs = list(make_runs(step.trainings, work, most))
        if not _prepare(own, runs, target, work):
            yield from answer_by_brute_force(step, work)
            return
        for run in runs:
            yield from _answer_run(own, run, target, step, work)


KERNEL = Neighbours()


def _prepare(group: Group, runs: list[Run], target: Target, work: Work) -> bool:
    """Make the lists that the runs read; False where scikit-learn fails or warns, which brute force must show."""
    setting = setting_for(group, work)
    if setting is None:
        return True
    asked = []
    for run in runs:
        empty = Outbox(group.members, target, 0, proba=False)
        asked.append((run, empty, routes(empty, run, setting, work, repeats=_repeats(run, work))))
    with catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _try_out(group, work)
            prepare(asked, setting, work)
        except Exception:
            return False
    return not caught


def _try_out(group: Group, work: Work) -> None:
    """Fit the learner on a few rows: a parameter that scikit-learn refuses or warns of shows here."""
    key = ("neighbours", "tried out", id(group.estimator))
    if key in work.products:
        return
    few = work.task.all_rows[:32]
    fitted = fit_on_rows(clone(group.estimator), work.task, few, seed=0, fit_params={})
    fitted.predict(work.task.take(few[:2]))
    work.products[key] = True


def _answer_run(group: Group, run: Run, target: Target, step: Step, work: Work) -> Iterator[Answer]:
    started = perf_counter()
    out = Outbox(group.members, target, len(run.rows), proba=_needs_proba(work, run.helds[0].level))
    with catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _fill_run(group, out, run, work)
            failed = False
        except Exception:  # brute force finds out which cell fails, and how
            failed = True
    if failed or caught:
        alone = [training._replace(answers=(held,)) for held, training in zip(run.helds, run.trainings, strict=True)]
        yield from answer_by_brute_force(replace(step, trainings=tuple(alone)), work)
        return
    responses = [out.responses(number) for number in range(len(group.members))]
    seconds = perf_counter() - started
    yield from score_block(work, run.helds, step.candidates, responses, seconds=seconds)


def _fill_run(group: Group, out: Outbox, run: Run, work: Work) -> None:
    setting = setting_for(group, work)
    alone: dict[int, list[int]] = {}  # members that need a search of one part's own training set
    for route, numbers in routes(out, run, setting, work, repeats=_repeats(run, work)).items():
        if route is None or setting is None:
            cells = [(part, number) for part in range(len(run.helds)) for number in numbers]
        else:
            cells = answer_shared(out, numbers, run, route, setting, work=work)
        for part, number in cells:
            alone.setdefault(part, []).append(number)
    spread(work.jobs, lambda part: answer_part(out, alone[part], run, part, work), sorted(alone), library=True)


def _repeats(run: Run, work: Work) -> bool:
    """Whether a training side names a row more than once."""
    for part in range(len(run.helds)):
        ref = run.ref(part)
        if work.splits[ref.splits].train is not None:
            rows = work.train_rows(ref)
            if len(np.unique(rows)) < len(rows):
                return True
    return False


def _levels(step: Step) -> set[str]:
    return {held.level for training in step.trainings for held in training.answers}


def _needs_proba(work: Work, level: str) -> bool:
    methods = needed_methods(work.losses[level])
    return any(next(m for m in one if m != "decision_function") == "predict_proba" for one in methods)


def _can_score(group: Group, work: Work, level: str) -> bool:
    """Whether the losses can be taken from what neighbours answer."""
    losses = work.losses[level]
    known = {"predict", "predict_proba"} if type(group.knn) is KNeighborsClassifier else {"predict"}
    if any(loss.asks_predictor for loss in losses) or any(not known & set(one) for one in needed_methods(losses)):
        return False
    return work.task.y.ndim == 1 or not _needs_proba(work, level)


def _task_refusal(task: Task) -> str | None:
    if task.weight is not None:
        return "the rows have weights, which nearest neighbours do not take"
    if len(task.X.shape) != 2:
        return "X is no table of columns"
    if not task.classification and task.y.dtype not in (np.float64, np.float32) and task.y.dtype.kind not in "iub":
        return f"y is of type {task.y.dtype}"
    return None


def _cost_refusal(task: Task, *, candidates: int, parts: int, trained_on: int, held: int) -> str | None:
    """Why fitting each candidate on each training set is cheaper, by operation counts."""
    each = (task.n_columns or 1) + SORTING
    brute = candidates * parts * (FIT + held * trained_on * each)
    shared = 2 * FIT + min(parts * held, len(task)) * len(task) * each
    if brute > shared:
        return None
    return f"with {candidates} candidate(s) and {parts} part(s), a search of each is cheaper than one of the whole"


_lacking: WeakKeyDictionary[Splits, NDArray[np.bool_]] = WeakKeyDictionary()


def _lacks_class(task: Task, splits: Splits) -> NDArray[np.bool_]:
    """For each part, whether its training side lacks a class of the task."""
    found = _lacking.get(splits)
    if found is None:
        target = target_of(task, classifier=True)
        found = np.zeros(len(splits), dtype=bool)
        for j, classes in enumerate(target.classes or ()):
            found |= (_class_counts(target.y[:, j], len(classes), splits) == 0).any(axis=1)
        _lacking[splits] = found
    return found


def _class_counts(codes: NDArray[Any], classes: int, splits: Splits) -> NDArray[np.intp]:
    """Parts × classes: how many training rows."""
    if splits.train is not None and splits.train_cuts is not None:
        return _counts_by_part(codes[splits.train], np.diff(splits.train_cuts), classes)
    whole = np.bincount(codes[splits.rows], minlength=classes)
    return np.asarray(whole - _counts_by_part(codes[splits.held], splits.held_sizes, classes))


def _counts_by_part(codes: NDArray[Any], sizes: NDArray[np.intp], classes: int) -> NDArray[np.intp]:
    part = np.repeat(np.arange(len(sizes)), sizes)
    return np.bincount(part * classes + codes, minlength=len(sizes) * classes).reshape(len(sizes), classes)
