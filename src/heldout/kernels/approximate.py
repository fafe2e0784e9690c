"""The kernel `approximate_loo`: approximates leave-one-out by one Newton step from the fit on all rows.

For a row z with residual r (fitted less observed, weighted) and curvature w, let h = zᵀ(ZᵀWZ + P)⁻¹z. Without the row,
the linear predictor η of the fit on all rows becomes η + h·r/(1 − h·w). The kernel runs only if the user asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone

from heldout.base.warnings import catch_warnings
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import Claims
from heldout.kernels.driver.claim import lacking, methods_asked
from heldout.kernels.driver.driver import BLOCK_NUMBERS, runs_of
from heldout.kernels.driver.prepared import PreparedRows, prepare_rows
from heldout.kernels.glm.kernel import GlmKernel, responses_of
from heldout.kernels.glm.models import Glm, Problem, make_problem, matrix_of
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Plain, Step, Training, Work, pieces_of
from heldout.kernels.sums.rounding import Floats
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

FEWEST = 20  # rows: with fewer, fits are as cheap as the check of an approximation
MOST_OWN = 0.9  # largest leverage h·w of a row: above it one step is not accurate enough
OPTIMUM = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 150}  # one step must start at the optimum itself
NOT_SINGLE = "only leave-one-out is approximated"
TOO_FEW = f"leave-one-out of fewer than {FEWEST} rows is not approximated"
SEVERAL = "leave-one-out of several classes is not approximated"
BALANCED = "class_weight='balanced' weighs every training set anew"


class ApproximateKernel(GlmKernel):
    """Leave-one-out of binary LogisticRegression, Poisson-, Gamma- and TweedieRegressor. Tier: approximate.

    The steps before the model, such as a scaler, are fitted on all rows.
    """

    name = "approximate_loo"
    tier = "approximate"

    def claim(self, search: Search, task: Task) -> Claims:
        claims = super().claim(search, task)
        if claims.groups and task.classes is not None and len(task.classes) > 2:
            return Claims(refusals=(*claims.refusals, SEVERAL))
        candidates, _ = self.read_all(search)
        models = {group: candidates[group[0]].model for group in claims.groups}
        balanced = [group for group, model in models.items() if getattr(model, "class_weight", None) == "balanced"]
        if not balanced:
            return claims
        groups = tuple(group for group in claims.groups if group not in balanced)
        return Claims(groups=groups, refusals=(*claims.refusals, BALANCED))

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        own = training.trains[0]
        held = [(one.splits, one.part) for one in training.answers]
        if _leaves_one_out(splits[own.splits], fewest=2) and len(splits[own.splits].rows) < FEWEST:
            return TOO_FEW
        if not _leaves_one_out(splits[own.splits]) or held != [(own.splits, own.part)]:
            return NOT_SINGLE
        return super().refuses(search, task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return _leaves_one_out(splits) and super().takes_all(search, task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 1

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        read, _ = self.read_all(work.search)
        candidates = [read[candidate] for candidate in step.candidates]
        methods = candidates[0].methods(work.task)
        for trainings in _of_one_splits(step.trainings):
            own = replace(step, trainings=trainings)
            if work.fit_params or lacking(methods, work.losses[trainings[0].answers[0].level]):
                yield from answer_by_brute_force(own, work)
            else:
                yield from _answer_splits(own, work, candidates)


def _leaves_one_out(splits: Splits, fewest: int = FEWEST) -> bool:
    """Return whether the splits are leave-one-out of one set of at least `fewest` rows."""
    return splits.train is None and len(splits.rows) >= fewest and bool((splits.held_sizes == 1).all())


def _of_one_splits(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            yield piece
        else:
            each = groupby(piece, key=lambda training: training.answers[0][:3])
            yield from (sorted(own, key=lambda training: training.answers[0].part) for _, own in each)


def _answer_splits(step: Step, work: Work, candidates: Sequence[Glm]) -> Iterator[Answer]:
    """Yield the answers of one splits' trainings, from one fit on all its rows and a Newton step for each row."""
    started = perf_counter()
    helds = [training.answers[0] for training in step.trainings]
    splits = work.splits[helds[0].splits]
    rows = splits.held[splits.held_cuts[[held.part for held in helds]]]
    places = np.searchsorted(splits.rows, rows)
    eta, sure = np.zeros((len(candidates), len(rows))), np.zeros((len(candidates), len(rows)), dtype=bool)
    prepared = prepare_rows(candidates[0].before, work, splits.rows, [])
    problem = None if prepared is None else make_problem(candidates, prepared)
    if prepared is not None and problem is not None:
        for place, glm in enumerate(candidates):
            coefficients = fit_to_optimum(glm, prepared)
            if coefficients is not None:
                eta[place], sure[place] = without_each(problem, place, coefficients, places)
    seconds = (perf_counter() - started) / len(helds)
    classes = None if problem is None else problem.classes
    methods = methods_asked(candidates[0].methods(work.task), work.losses[helds[0].level])
    scored = np.zeros(len(rows), dtype=bool)
    for run in runs_of(
        step.trainings, np.arange(len(rows) + 1), np.flatnonzero(sure.all(axis=0)), BLOCK_NUMBERS // len(candidates)
    ):
        block = slice(run.start, run.stop)
        responses = [responses_of(each[block, None], classes, methods) for each in eta]
        whole = [one for one in responses if one is not None]
        if len(whole) == len(responses):
            scored[block] = True
            yield from score_block(work, helds[block], step.candidates, whole, seconds=seconds * len(run))
    for place in np.flatnonzero(~scored).tolist():
        yield from answer_by_brute_force(replace(step, trainings=(step.trainings[place],)), work)


def fit_to_optimum(glm: Glm, rows: PreparedRows) -> Floats | None:
    """Return coefficients and intercept at the optimum, or None if scikit-learn's Newton solver fails or warns."""
    model = clone(glm.model).set_params(**OPTIMUM)
    try:
        with catch_warnings():
            warnings.simplefilter("error")
            model.fit(matrix_of(rows.train), rows.y, sample_weight=rows.weight)
    except Exception:
        return None
    coefficients = np.ravel(model.coef_)
    return np.append(coefficients, model.intercept_) if model.fit_intercept else coefficients


def without_each(
    problem: Problem, candidate: int, coefficients: Floats, places: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each row's linear predictor without that row, and whether one Newton step is accurate enough."""
    objective = problem.objective
    Z = objective.columns.T
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)
    eta = Z @ coefficients
    weight = np.full(len(Z), 1 / len(Z)) if objective.weight is None else objective.weight
    residual, curvature = (weight * one for one in _derivatives(eta, objective.y, problem.classes, objective.power))
    second = (Z.T * curvature) @ Z
    penalised = np.arange(Z.shape[1] - 1 if objective.intercept else Z.shape[1])
    second[penalised, penalised] += objective.penalties[candidate]
    # A mean loss over fewer rows lets the penalty weigh less; the penalty of a classifier goes with the total weight.
    shrinkage = np.zeros(Z.shape[1])
    if problem.classes is None:
        shrinkage[penalised] = objective.penalties[candidate] * coefficients[penalised]
    try:
        own = np.einsum("rj,rj->r", Z[places], np.linalg.solve(second, Z[places].T).T)
        released = weight[places] * (Z[places] @ np.linalg.solve(second, shrinkage))
    except np.linalg.LinAlgError:
        return np.zeros(len(places)), np.zeros(len(places), dtype=bool)
    pull = own * curvature[places]
    sure = np.isfinite(pull) & (pull < MOST_OWN)
    return eta[places] + (own * residual[places] + released) / np.where(sure, 1.0 - pull, 1.0), sure


def _derivatives(eta: Floats, y: Floats, classes: NDArray[Any] | None, power: float) -> tuple[Floats, Floats]:
    """Return the first and second derivatives of each row's loss with respect to its linear predictor."""
    if classes is not None:
        share = expit(eta)
        return share - y, share * (1 - share)
    mean, target = np.exp((2 - power) * eta), y * np.exp((1 - power) * eta)
    return mean - target, (2 - power) * mean + (power - 1) * target


KERNEL = ApproximateKernel()
