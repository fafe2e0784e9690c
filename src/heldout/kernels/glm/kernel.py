"""The kernel `glm`: fits all penalties of a training set together, by the same L-BFGS steps as scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.extmath import softmax

from heldout.base.responses import Responses
from heldout.kernels.claims import Claims
from heldout.kernels.driver.claim import lacking, methods_asked, target_problem
from heldout.kernels.driver.contract import Needs
from heldout.kernels.driver.prepared import Candidate, PreparedKernel, prepare_rows, score_training
from heldout.kernels.glm.lockstep import minimise_together
from heldout.kernels.glm.models import MODELS, WORDS, Glm, make_problem, matrix_of, strength_of
from heldout.kernels.glm.objectives import Objective
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.threads import spreading
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

SURE_ITERATIONS = 30  # up to here iterates agree with scikit-learn's within 1e-12
MOST_ITERATIONS = 60  # past it rounding errors have grown so much that hardly any fit agrees
AGREE = 1e-11  # of the largest linear predictor: how far two fits that sum in another order may differ
BORDER = 1e-10  # likewise: nearer to the border between two classes, rounding may decide the label
WORST_SCALING = 1e4  # largest mean square of a column over the smallest variance, past which L-BFGS takes many steps
BATCH = 64  # training sets that are solved before their answers are scored and freed
LOOKED_AT = 1000  # rows from which scaling is judged
MOST_COLUMNS = 500  # scaling is judged up to so many columns


class GlmKernel(PreparedKernel[Glm]):
    """LogisticRegression, Poisson-, Gamma- and TweedieRegressor by L-BFGS, alone or behind other steps. Tier: rounding.

    scikit-learn's default fit ends far from the optimum. So the kernel follows scikit-learn's iterates instead of
    solving the problem more exactly.
    """

    name = "glm"
    models = MODELS
    words = WORDS

    def read(self, candidate: Candidate) -> Glm:
        model = candidate.model
        return Glm(number=candidate.number, before=candidate.before, model=model, strength=strength_of(model))

    def claim(self, search: Search, task: Task) -> Claims:
        found, _ = self.read_all(search)
        several = len({glm.preparation for glm in found.values()}) > 1

        def problem(glm: Glm) -> str | None:
            about = _about_task(task, glm) or _about_preparation(glm, task, several)
            return about or lacking(glm.methods(task), search.losses)

        return self.claim_where(search, problem)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        own = training.trains[0]
        if int(splits[own.splits].train_sizes[own.part]) < 2:
            return "fewer than two training rows"
        return None

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return int(splits.train_sizes[parts.start : parts.stop].min()) >= 2

    def answer_prepared(self, candidates: list[Glm], step: Step, work: Work) -> Iterator[Answer]:
        # Where the first training set takes too many steps for some candidates, those are not tried in the others.
        tried, spread, trainings = candidates, spreading(work.jobs), step.trainings[:]
        for start, stop in pairwise([0, *range(1, len(trainings), BATCH), len(trainings)]):
            some = trainings[start:stop]
            started = perf_counter()
            solved = spread(partial(solve_training, candidates=tried, work=work), some)
            seconds = (perf_counter() - started) / len(some)
            for training, found in zip(some, solved, strict=True):
                yield from score_training(step, work, training, found, seconds=seconds)
            if start == 0:
                sure = set().union(*solved[0])
                tried = [glm for glm in candidates if glm.number in sure]


KERNEL = GlmKernel()


def solve_training(training: Training, *, candidates: Sequence[Glm], work: Work) -> list[dict[int, Responses]]:
    """Return, for each held-out part, the responses of the candidates whose fits are sure."""
    found: list[dict[int, Responses]] = [{} for _ in training.answers]
    if not candidates:
        return found
    sides = [work.held_rows(held) for held in training.answers]
    first = candidates[0]
    rows = prepare_rows(first.before, work, work.train_rows(training.trains[0]), sides)
    problem = None if rows is None else make_problem(candidates, rows)
    if rows is None or problem is None:
        return found
    model, methods = first.model, first.methods(work.task)
    points, sure = follow(problem.objective, problem.start, tol=float(model.tol), max_iter=int(model.max_iter))
    for place, held in enumerate(training.answers):
        X = matrix_of(rows.held[place])
        if X is None:
            continue
        asked = methods_asked(methods, work.losses[held.level])
        for which in np.flatnonzero(sure).tolist():
            coefficients = points[which].reshape(problem.objective.predictors, -1)
            predictors = np.asarray(X @ coefficients[:, : X.shape[1]].T)
            if problem.objective.intercept:
                predictors += coefficients[:, -1]
            responses = responses_of(predictors, problem.classes, asked)
            if responses is not None:
                found[place][candidates[which].number] = responses
    return found


def follow(objective: Objective, start: Floats, *, tol: float, max_iter: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the coefficients of every candidate, and which of them agree with scikit-learn's.

    Rounding errors grow with the iterations. Candidates that took many are fitted a second time with all sums in
    another order. Where that changes a fit, scikit-learn's own rounding would have changed it as well.
    """
    count = len(objective.penalties)
    most = min(MOST_ITERATIONS, max_iter)
    ends = minimise_together(objective, np.tile(start, (count, 1)), tol=tol, max_iter=most)
    sure = ends.converged & np.isfinite(ends.points).all(axis=1)
    again = np.flatnonzero(sure & (ends.iterations > SURE_ITERATIONS))
    if len(again):
        mirrored = objective.reversed(again)
        other = minimise_together(mirrored, np.tile(start, (len(again), 1)), tol=tol, max_iter=most)
        ours = objective.predictors_at(ends.points[again])
        theirs = mirrored.predictors_at(other.points)[:, :, ::-1]
        apart = np.abs(ours - theirs).max(axis=(1, 2))
        sure[again] = other.converged & (apart <= AGREE * np.abs(ours).max(axis=(1, 2)))
    return ends.points, sure


def responses_of(predictors: Floats, classes: NDArray[Any] | None, methods: frozenset[str]) -> Responses | None:
    """Return responses from linear predictors (rows × predictors), or None if rounding decides a label."""
    if classes is None:
        with np.errstate(over="ignore"):
            return Responses(predict=np.exp(predictors[:, 0]))
    if len(classes) == 2:
        scores = np.ascontiguousarray(predictors[:, 0])
        codes, apart = (scores > 0).astype(np.intp), np.abs(scores)
    else:
        scores = predictors
        codes = scores.argmax(axis=1)
        apart = scores[np.arange(len(scores)), codes] - np.partition(scores, -2, axis=1)[:, -2]
    if (apart <= BORDER * np.abs(scores).max(initial=0.0)).any():
        return None
    shares = None
    if "predict_proba" in methods:
        shares = softmax(scores) if len(classes) > 2 else np.stack([1 - expit(scores), expit(scores)], axis=1)
    decision = scores if "decision_function" in methods else None
    return Responses(predict=classes[codes], predict_proba=shares, decision_function=decision, classes=classes)


def _about_task(task: Task, glm: Glm) -> str | None:
    needs = Needs(classes=glm.classifies, numbers=not glm.classifies, one_output=True)
    if problem := target_problem(task, needs):
        return problem
    least = 1.0 if glm.classifies else float(task.y.min())
    return "y has values that the loss does not take" if least < 0 or (glm.power == 2 and least == 0) else None


def _about_preparation(candidate: Glm, task: Task, several: bool) -> str | None:
    if several and candidate.before is not None and len(candidate.before.steps) > 1:
        return "candidates differ in several steps before the model, of which equal ones are better fitted once"
    if task.container == "array" and task.X.dtype == np.float32:
        return "X is float32, and so are scikit-learn's own steps"
    if candidate.before is not None:
        return None
    if task.container == "objects" or (X := matrix_of(task.X)) is None:
        return "X is no table of numbers"
    if _is_badly_scaled(X):
        return "columns differ so much in size or place that L-BFGS takes many steps, in which rounding errors grow"
    return None


def _is_badly_scaled(X: Any) -> bool:
    """Return whether some column's mean square is far above the smallest variance of a column."""
    if X.shape[1] > MOST_COLUMNS:
        return False
    rows = X[:: -(-X.shape[0] // LOOKED_AT)]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    spreads = rows.var(axis=0)[rows.min(axis=0) < rows.max(axis=0)]
    return bool(np.square(rows).mean(axis=0).max() > WORST_SCALING * spreads.min(initial=np.inf))
