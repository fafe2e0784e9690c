"""From linear predictors to numbers on held-out rows, and from those to the responses of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.solve import WITHIN, Solved, error_of
from heldout.kernels.ridge.sums import Space
from heldout.losses import Loss, needed_methods
from heldout.task.task import Task


def methods_of(form: Form) -> tuple[str, ...]:
    """The response methods that an estimator of this form has."""
    return ("predict", "decision_function") if form.classifies else ("predict",)


def lacking(form: Form, losses: tuple[Loss, ...]) -> str | None:
    """What these losses ask for that recorded responses of this form cannot give, in words; None if nothing."""
    has = methods_of(form)
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
    for alternatives in needed_methods(losses):
        if not any(method in has for method in alternatives):
            return f"the loss needs {' or '.join(alternatives)}, which these learners lack"
    return None


def linear_values(solved: Solved, design: Design, form: Form, rows: Rows) -> tuple[Floats, NDArray[np.bool_]]:
    """Numbers for held-out rows × alphas × targets, and the alphas whose rounding errors stay inside the tier."""
    width, alphas, targets = solved.coef.shape
    flat = np.ascontiguousarray(solved.coef.reshape(width, alphas * targets))
    values = np.empty((len(rows), alphas * targets))
    worst = np.zeros(alphas)
    space = Space(design, min(design.chunk, len(rows)))
    shift, places = whole_shift(solved.shift, form, design), form.columns.places
    for start in range(0, len(rows), design.chunk):
        chunk = rows[start : start + design.chunk]
        x = space.read(chunk, shift)
        x = x if places is None else x[:, list(places)]
        with np.errstate(all="ignore"):  # coefficients of a candidate that is left to fits may be of any size
            np.matmul(x, flat, out=values[start : start + len(chunk)])
        for checked, spectrum in solved.spectra.items():
            coordinates = ((x - solved.centre) / solved.scale) @ spectrum.basis
            worst[list(checked)] = np.maximum(worst[list(checked)], error_of(coordinates, spectrum))
    values += solved.constant.reshape(-1)
    shaped = values.reshape(len(rows), alphas, targets)
    largest = np.abs(shaped).max(axis=(0, 2), initial=0.0)
    good = np.isfinite(largest) & (worst <= WITHIN * largest)  # worst is 0 where nothing was doubtful
    return shaped, np.asarray(good)


def whole_shift(shift: Floats, form: Form, design: Design) -> Floats:
    """The shift of the model's columns as one of all columns of X."""
    if form.columns.places is None:
        return shift
    whole = np.zeros(design.X.shape[1])
    whole[list(form.columns.places)] = shift  # a column that is named twice has one shift
    return whole


def responses_of(
    form: Form, task: Task, values: Floats, dtype: np.dtype[Any], losses: tuple[Loss, ...]
) -> list[Responses]:
    """What an estimator of this form with each alpha answers, from numbers for rows × alphas × targets."""
    if not form.classifies:
        each = [values[:, place, 0] if task.y.ndim == 1 else values[:, place, :] for place in range(values.shape[1])]
        return [Responses(predict=np.ascontiguousarray(one, dtype=dtype)) for one in each]
    assert task.classes is not None
    # scikit-learn keeps labels that are text in the narrowest type that holds them.
    classes = np.asarray(task.classes.tolist()) if task.classes.dtype.kind in "UO" else task.classes
    wants_decision = any(
        next((m for m in alternatives if m in methods_of(form)), None) == "decision_function"
        for alternatives in needed_methods(losses)
    )
    found = []
    for place in range(values.shape[1]):
        scores = values[:, place, 0] if values.shape[2] == 1 else values[:, place, :]
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        decision = np.ascontiguousarray(scores, dtype=dtype) if wants_decision else None
        found.append(Responses(predict=classes[codes], decision_function=decision, classes=classes))
    return found
