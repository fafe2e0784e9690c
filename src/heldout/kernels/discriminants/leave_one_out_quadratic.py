"""Leave-one-out of quadratic discriminants: only the covariance of the row's own class changes, by rank one."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.discriminants.classes import Classes
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.discriminants.linear import BORDER
from heldout.kernels.discriminants.quadratic import Quadratic, Shape, shape_errors, solve_quadratic
from heldout.kernels.discriminants.rows_out import LEVERAGE_LEFT, NUMBERS, distances, shrunk_inverses
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.normal import EPS
from heldout.kernels.threads import Spread

Job = tuple[Form, Classes, Quadratic, Floats, Design, Rows, int]


def leave_one_out_quadratic(
    form: Form, classes: Classes, design: Design, held: Rows, *, shrinkages: Floats, spread: Spread
) -> tuple[Floats, Floats]:
    """Numbers (held × candidates × classes) of fits without each held row, and how far they may be off."""
    assert design.strata is not None, "discriminants have classes"
    solved = solve_quadratic(form, classes, shrinkages)
    values = np.full((len(held), len(shrinkages), design.strata_count), np.nan)
    errors = np.full((len(held), len(shrinkages)), np.inf)
    codes = design.strata[held]
    size = max(32, NUMBERS // (len(shrinkages) * len(classes.shift)))
    fewest = max(2, len(classes.shift)) if form.solver == "svd" else 2
    for kind in range(design.strata_count):
        places = np.flatnonzero(codes == kind)
        if classes.counts[kind] - 1 < fewest:
            continue  # scikit-learn's own fit says what is wrong
        chunks = [places[start : start + size] for start in range(0, len(places), size)]
        jobs: list[Job] = [(form, classes, solved, shrinkages, design, held[chunk], kind) for chunk in chunks]
        for chunk, (found, off) in zip(chunks, spread(_answer_rows, jobs), strict=True):
            values[chunk], errors[chunk] = found, off
    return values, errors


def _answer_rows(job: Job) -> tuple[Floats, Floats]:
    form, classes, solved, shrinkages, design, rows, kind = job
    x = np.subtract(design.X.take(rows, axis=0), classes.shift, dtype=np.float64)
    reading = EPS * np.abs(x + classes.shift).max(axis=1)[:, None]
    count = classes.counts.copy()
    count[kind] -= 1
    priors = count / count.sum() if form.priors is None else np.array(form.priors)
    numbers = np.empty((len(rows), len(shrinkages), len(priors)))
    errors = np.zeros(numbers.shape[:2])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for place, shape in enumerate(solved.shapes):
            log = np.log(priors[place])
            if place == kind:
                numbers[:, :, place], off = _own_class(form, classes, shrinkages, x - shape.mean, (shape, kind))
                numbers[:, :, place] += log
            else:
                squares = ((x - shape.mean) @ shape.basis) ** 2
                distance = squares @ shape.inverse
                log -= np.log(classes.priors(form)[place])
                numbers[:, :, place] = -0.5 * distance + shape.constant + log
                off = shape_errors(shape, distance, squares @ shape.inverse**2, reading)
            errors = np.maximum(errors, off)
    return numbers, errors + np.where(np.isfinite(errors), 0.0, np.inf)


def _own_class(
    form: Form, classes: Classes, shrinkages: Floats, about: Floats, own: tuple[Shape, int]
) -> tuple[Floats, Floats]:
    """−½(distance + log determinant) of the class that loses the row, and how far that may be off."""
    shape, kind = own
    count = classes.counts[kind]
    u = about @ shape.basis
    values = shape.values * (count / (count - 1))
    lost = count / (count - 1) ** 2  # of uuᵀ that the covariance loses
    target = np.ones(len(about))
    if form.to_trace:
        target = (values.sum() - lost * np.einsum("ij,ij->i", u, u)) / len(values)
    inverses = shrunk_inverses(values, shrinkages, target)
    share = np.broadcast_to(lost * (1.0 - shrinkages), (len(about), len(shrinkages)))
    found = distances(inverses, u, share, [u * (count / (count - 1))])
    logs = -np.log(inverses.values).sum(axis=0 if inverses.values.ndim == 2 else 2)
    numbers = -0.5 * (found.of[0] + logs + np.log(found.left))
    reading = EPS * np.abs(about + shape.mean + classes.shift).max(axis=1)[:, None]
    errors = shape_errors(shape, found.of[0], found.longest, reading) / found.left**2
    sure = (found.left > LEVERAGE_LEFT) & (found.left > form.tol * inverses.largest * (1.0 + BORDER))
    return numbers, np.where(sure & np.isfinite(errors), errors, np.inf)
