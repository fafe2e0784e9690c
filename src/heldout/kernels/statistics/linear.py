"""Ridge, least squares and RidgeClassifier from statistics, which become the sums of the ridge kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import LabelBinarizer

from heldout.base.responses import Responses
from heldout.kernels.designs.columns import Columns
from heldout.kernels.designs.linear import (
    Equations,
    LinearPredictors,
    class_responses,
    normal_equations,
    number_responses,
)
from heldout.kernels.driver.claim import methods_asked
from heldout.kernels.ridge.kernel import KERNEL, Form
from heldout.kernels.ridge.solve import solve
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.sums.dataset import Shift
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Floats, Undecided
from heldout.kernels.sums.training_sums import Sums
from heldout.losses import Loss
from heldout.task.task import Task

SURE_SHARE = 1e-6  # a sum of squared errors below this share of its terms has fewer than nine digits left
DOUBTFUL = (
    "columns are nearly collinear at this penalty, so that statistics cannot vouch for nine digits. "
    "Take a larger alpha, leave columns out, or load the data"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFamily:
    """Candidates of one form, which differ in alpha alone."""

    candidates: tuple[int, ...]
    alphas: Floats
    form: Form
    columns: Columns
    chains: tuple[Chain, ...]
    task: Task
    dtype: np.dtype[Any]

    @property
    def single(self) -> bool:
        return self.dtype == np.float32

    def fit(self, rows: Statistics) -> LinearFits:
        """Return one solution for each alpha."""
        sums = as_sums(rows, self.form)
        failures: dict[int, str] = {}
        solved: LinearPredictors | None = None
        try:
            solved = solve(self._equations(sums), self.alphas, cutoff=self.form.cutoff)
        except (Undecided, np.linalg.LinAlgError):
            failures = dict.fromkeys(range(len(self.alphas)), DOUBTFUL)
        if solved is not None:
            bad = np.flatnonzero(~np.isfinite(solved.coef).all(axis=(0, 2)) | _in_doubt(solved, sums))
            failures = dict.fromkeys(bad.tolist(), DOUBTFUL)
        return LinearFits(family=self, solved=solved, failures=failures, rows=rows)

    def _equations(self, sums: Sums) -> Equations:
        return normal_equations(self.columns, sums, intercept=self.form.intercept)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFits:
    """Holds linear predictors, one for each alpha: (x − shift)·coef + constant."""

    family: LinearFamily
    solved: LinearPredictors | None
    failures: Mapping[int, str]
    rows: Statistics

    def squares(self, held: Statistics) -> tuple[Floats, NDArray[np.bool_]] | None:
        """Return sums of squared errors, centred on the held-out rows to save digits, or None for classifiers."""
        if self.family.form.classifies or self.solved is None:
            return None
        M = held.grams[0, 0]
        count = float(M[-1, -1])
        weights = np.concatenate([-self.solved.coef[:, :, 0], np.ones((1, len(self.family.alphas)))])
        moved = (held.shift.x - self.solved.shift) @ self.solved.coef[:, :, 0]
        offset = self.solved.constant[:, 0] + moved - held.shift.y[0]
        means = M[:-1, -1] / count
        about = M[:-1, :-1] - count * np.outer(means, means)
        bias = means @ weights - offset
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ia,ia->a", weights, about @ weights) + count * bias**2
            terms = np.einsum("ia,ia->a", np.abs(weights), np.abs(about) @ np.abs(weights)) + count * bias**2
        return squares, np.asarray(~(squares >= SURE_SHARE * terms) & (terms > 0))

    def respond(self, X: Floats, losses: tuple[Loss, ...]) -> list[Responses | None]:
        alphas = len(self.family.alphas)
        if self.solved is None:
            return [None] * alphas
        flat = self.solved.coef.reshape(len(self.solved.coef), -1)
        values = (X - self.solved.shift) @ flat + self.solved.constant.reshape(-1)
        shaped = values.reshape(len(X), alphas, -1)
        family, task = self.family, self.family.task
        if family.form.classifies:
            methods = methods_asked(KERNEL.kernel.methods(family.form), losses)
            answered = class_responses(task, shaped, methods, family.dtype)
        else:
            answered = number_responses(task, shaped, family.dtype)
        return [None if place in self.failures else responses for place, responses in enumerate(answered)]

    def predictor(self, place: int, names: NDArray[Any] | None) -> Any:
        assert self.solved is not None, "a failed candidate has no predictor"
        chain, moments = self.family.chains[place], Moments.of(self.rows)
        centre, scale = chain.centre_and_scale(moments)
        coef = self.solved.coef[:, place, :]
        intercept = self.solved.constant[place] + (centre - self.solved.shift) @ coef
        if not self.family.form.intercept:
            intercept = np.zeros_like(intercept)
        return chain.fitted(moments, _learned(self, coef * scale[:, None], intercept), names)


def as_sums(rows: Statistics, form: Form) -> Sums:
    """Return the statistics of one cell in the form of the ridge kernel's sums."""
    if rows.classes is None:
        grams, counts = rows.grams[0], rows.counts[0]
        return _sums(grams, counts, rows.shift)
    targets = _class_targets(len(rows.classes))
    grams = np.stack([_with_targets(gram, row) for gram, row in zip(rows.grams[0], targets, strict=True)])
    shift = Shift(x=rows.shift.x, y=np.zeros(targets.shape[1]))
    if form.class_weight == "balanced":
        return _sums(grams, rows.counts[0], shift)
    weights = np.ones(len(grams))
    for label, weight in () if isinstance(form.class_weight, str) else form.class_weight or ():
        weights[rows.classes.tolist().index(label)] = weight
    whole = rows.grams[0].sum(axis=0)
    columns = rows.columns
    plain = np.stack([whole[:columns, -1], np.diagonal(whole)[:columns]])[None] if form.class_weight else None
    return _sums(np.tensordot(weights, grams, axes=1)[None], rows.counts[0].sum(keepdims=True), shift, plain)


def _sums(grams: Floats, counts: NDArray[np.int64], shift: Shift, plain: Floats | None = None) -> Sums:
    return Sums(grams=grams, counts=counts, weights=grams[:, -1, -1], plain=plain, shift=shift)


def _class_targets(classes: int) -> Floats:
    """Return the targets that rows of each class have: ±1 for each class, a single one if there are two classes."""
    return np.array([[-1.0], [1.0]]) if classes == 2 else 2.0 * np.eye(classes) - 1.0


def _with_targets(gram: Floats, targets: Floats) -> Floats:
    """Return products of [x, targets, 1] from those of [x, 1] over rows of one class, whose targets are equal."""
    beside = np.append(targets, 1.0)
    sums = np.outer(gram[:-1, -1], beside)
    return np.block([[gram[:-1, :-1], sums], [sums.T, gram[-1, -1] * np.outer(beside, beside)]])


def _in_doubt(solved: LinearPredictors, sums: Sums) -> NDArray[np.bool_]:
    """Return which alphas have rounding errors that may exceed the tier, on average over the training rows.

    The ridge kernel checks each held-out row. A stream has already passed those, so training rows stand in for them.
    """
    doubt = np.zeros(solved.coef.shape[1], dtype=bool)
    M = sums.grams.sum(axis=0)
    columns, count = len(solved.shift), float(M[-1, -1])
    means = M[:columns, -1] / count
    about = M[:columns, :columns] / count - np.outer(means, means)
    for places, spectrum in solved.doubtful.items():
        basis = spectrum.basis
        coordinates = np.einsum("ij,ij->j", basis, about @ basis) + ((means - solved.centre) @ basis) ** 2
        coef = solved.coef[:, list(places), :]
        spread = np.einsum("iat,iat->at", coef, np.tensordot(about, coef, axes=1)).sum(axis=1)
        middle = (np.tensordot(means, coef, axes=1) + solved.constant[list(places)]) ** 2
        with np.errstate(over="ignore", invalid="ignore"):
            error = ROUNDINGS * EPS * np.sqrt(np.maximum(coordinates, 0.0) @ spectrum.inverse**2) * spectrum.size
            doubt[list(places)] = ~(error <= TOLERANCE * np.sqrt(np.maximum(spread + middle.sum(axis=1), 0.0)))
    return doubt


def _learned(fits: LinearFits, coef: Floats, intercept: Floats) -> dict[str, Any]:
    """Return the attributes that scikit-learn's own fit sets on the model."""
    family, form = fits.family, fits.family.form
    learned: dict[str, Any] = {
        "coef_": coef.T.astype(family.dtype) if form.classifies else coef[:, 0].astype(family.dtype),
        "intercept_": intercept.astype(family.dtype) if form.classifies else family.dtype.type(intercept[0]),
    }
    if form.cutoff is not None:
        return learned | {"rank_": len(coef), "singular_": None}
    learned |= {"n_iter_": None, "solver_": "cholesky"}
    if form.classifies:
        learned["_label_binarizer"] = LabelBinarizer(pos_label=1, neg_label=-1).fit(fits.rows.classes)
        learned["classes_"] = fits.rows.classes
    return learned
