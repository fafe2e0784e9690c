"""Answering a step: training sets from sums, coefficients for every penalty, brute force where they are in doubt."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from heldout.base.warnings import catch_warnings
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.lasso.forms import Form, Penalty
from heldout.kernels.lasso.problem import make_problem
from heldout.kernels.lasso.recognise import read_candidate
from heldout.kernels.lasso.sharpen import sharpened
from heldout.kernels.lasso.solve import solve
from heldout.kernels.ridge.blocks import by_brute_force, end_to_end, score_found
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.group import Group, make_group
from heldout.kernels.ridge.normal import LostDigits, Normal, normal_equations
from heldout.kernels.ridge.respond import lacking, linear_values
from heldout.kernels.ridge.solve import Solved, as_solved
from heldout.kernels.ridge.sums import sum_rows_apart
from heldout.kernels.sharp import answer_sharply
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.threads import spreading
from heldout.study.answers import Answer

Side = tuple[Training, Held, Floats, NDArray[np.bool_]]  # numbers on held-out rows, and the candidates that are sure
BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
SHARE_BYTES = 1 << 23  # products of columns that one thread has at hand
COEFFICIENT_BYTES = 1 << 26  # of all penalties on the training sets that one thread answers side by side
COPIES = 6  # of coefficients, from the path to the lines that answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Paths:
    """The candidates of one form, what answers them, and what each pays."""

    group: Group
    form: Form
    penalties: tuple[Penalty, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """Coefficients of every penalty on one training set."""

    weights: Floats  # columns × penalties × targets, of scaled columns
    solved: Solved  # the same as predictors of unscaled ones
    good: NDArray[np.bool_]  # penalties whose coefficients are surely near the optimum


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    forms: dict[Form, dict[int, Penalty]] = {}
    for candidate in step.candidates:
        form, penalty = read_candidate(work.search, work.task, candidate)
        forms.setdefault(form, {})[candidate] = penalty
    with spreading(work.jobs) as spread:
        for form, members in forms.items():
            alphas = {candidate: penalty.alpha for candidate, penalty in members.items()}
            group = make_group(form.linear, alphas, work, spread)
            yield from _answer_paths(Paths(group=group, form=form, penalties=tuple(members.values())), step)


def _answer_paths(paths: Paths, step: Step) -> Iterator[Answer]:
    group = paths.group
    lacks = {level for level, losses in group.work.losses.items() if lacking(paths.form.linear, losses)}
    able: Sequence[Training] = step.trainings
    if lacks:
        unable = [t for t in step.trainings if any(held.level in lacks for held in t.answers)]
        able = [t for t in step.trainings if not any(held.level in lacks for held in t.answers)]
        for training in unable:
            yield from by_brute_force(group, step, training, group.candidates)
    for batch in _batches(group, able):
        started = perf_counter()
        group.bank.read_ahead([training.trains[0] for training in batch])
        with catch_warnings():  # here and not in the threads: filters are of the whole process
            warnings.simplefilter("ignore", ConvergenceWarning)  # of sweeps that Newton steps go on from
            answered = group.spread(_answer_trainings, [(paths, some) for some in _shares(group, batch)])
        yield from _scored(paths, [one for many in answered for one in many], step, perf_counter() - started)


def _scored(paths: Paths, found: list[Side], step: Step, seconds: float) -> Iterator[Answer]:
    """Sides where all is sure in blocks; on the others what is not is fitted by scikit-learn, at a tight tolerance.

    At its usual tolerance its answer would not be of this tier, and a spot check would say so.
    """
    group = paths.group
    sure = [side for side in found if side[3].all()]
    if sure:
        yield from score_found(group, end_to_end(sure), step, seconds)
    for training, held, values, good in found:
        if good.all():
            continue
        kept = np.flatnonzero(good)
        if len(kept):
            some = replace(group, candidates=tuple(group.candidates[i] for i in kept), alphas=group.alphas[kept])
            yield from score_found(some, end_to_end([(training, held, values[:, kept], good[kept])]), step, 0.0)
        left = tuple(group.candidates[i] for i in np.flatnonzero(~good))
        alone = replace(step, candidates=left, trainings=(training._replace(answers=(held,)),))
        yield from answer_sharply(alone, group.work, sharpened)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[list[Training]]:
    """Trainings whose responses are held at once."""
    batch: list[Training] = []
    numbers = 0
    each = len(group.candidates) * group.design.Y.shape[1]
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))  # training sets may each have sums of their own
    for training in trainings:
        more = each * int(sum(len(group.work.held_rows(held)) for held in training.answers))
        if batch and (numbers + more > BATCH_NUMBERS or len(batch) >= most):
            yield batch
            batch, numbers = [], 0
        batch.append(training)
        numbers += more
    if batch:
        yield batch


def _shares(group: Group, batch: Sequence[Training]) -> Iterator[Sequence[Training]]:
    """Trainings that one thread answers side by side: as many for each, and products that memory is quick with."""
    coefficients = COPIES * 8 * group.design.width * len(group.candidates) * group.design.Y.shape[1]
    most = min(SHARE_BYTES // group.bank.bytes_of_sums, COEFFICIENT_BYTES // coefficients)
    size = min(-(-len(batch) // group.work.jobs), max(1, most))
    for start in range(0, len(batch), size):
        yield batch[start : start + size]


def _answer_trainings(job: tuple[Paths, Sequence[Training]]) -> list[Side]:
    paths, trainings = job
    return [
        (training, held, *_values(paths, fitted, held))
        for training, fitted in zip(trainings, fit(*job), strict=True)
        for held in training.answers
    ]


def _values(paths: Paths, fitted: Fitted | None, held: Held) -> tuple[Floats, NDArray[np.bool_]]:
    group, rows = paths.group, paths.group.work.held_rows(held)
    if fitted is None:
        values = np.zeros((len(rows), len(group.candidates), group.design.Y.shape[1]))
        return values, np.zeros(len(group.candidates), dtype=bool)
    values, finite = linear_values(fitted.solved, group.design, paths.form.linear, rows)
    return values, fitted.good & finite


def fit(paths: Paths, trainings: Sequence[Training]) -> list[Fitted | None]:
    """Every penalty on each training set, or None where too few digits of its products are left."""
    equations = [_equations(paths.group, training) for training in trainings]
    sound = [normal for normal in equations if normal is not None]
    solved = iter(solve([make_problem(paths.form, normal) for normal in sound], paths.penalties))
    return [None if normal is None else _fitted(normal, *next(solved)) for normal in equations]


def _fitted(normal: Normal, weights: Floats, good: NDArray[np.bool_]) -> Fitted:
    return Fitted(weights=weights, solved=as_solved(normal, weights, {}), good=good)


def _equations(group: Group, training: Training) -> Normal | None:
    """The products of one training set about its means."""
    ref = training.trains[0]
    try:
        try:
            return normal_equations(group.form, group.bank.sums_of(ref))
        except LostDigits:
            return normal_equations(group.form, sum_rows_apart(group.design, group.work.train_rows(ref)))
    except LostDigits:
        return None
