"""Leave-one-out for linear discriminant analysis, from one eigendecomposition a class: a rank-one change for each row.

Taking out a row subtracts n/(n − 1)·uuᵀ from the scatter of its class, where u is the row less the mean of its class,
and moves that mean by −u/(n − 1). A discriminant is −½ of the squared distance to the class mean, plus the log prior
and a number that all classes share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.discriminants.classes import Classes, amplified
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.discriminants.linear import BORDER, HOPELESS
from heldout.kernels.driver.contract import Group
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Bools, Floats, Undecided

LEVERAGE_LEFT = 1e-3  # a row that leaves less than this of the scatter in its own direction goes to brute force
NUMBERS = 1 << 18  # inverse variances in memory at a time, where each row has its own


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """Holds the scatter within classes with one row fewer in class `kind`, before any particular row is taken out."""

    form: Form
    classes: Classes
    shrinkages: Floats
    zero_matters: bool
    kind: int  # the class that loses a row
    share: float  # the factor of uuᵀ that is subtracted from the scatter matrix
    basis: Floats  # columns × directions
    values: Floats  # eigenvalues
    trace: float
    grown: float
    steep: Floats  # columns: the largest |coefficient|
    priors: Floats
    between: tuple[float, float, float]  # for solver "svd": see _between


def applies(group: Group, rows: int) -> bool:
    """Return whether leaving one row out is a rank-one change for this form."""
    if group.form.quadratic:
        return False
    if not group.form.whitens:
        return not group.columns.prepared
    return rows - 1 > int(group.data.X.shape[1]) + group.data.class_count


def leave_one_out(group: Group, classes: Classes, held: Rows, *, zero_matters: bool) -> tuple[Floats, Floats]:
    """Return the scores (held × candidates × numbers) of the fits without each held row, and their error bounds."""
    data, shrinkages, form = group.data, group.values, group.form
    assert data.codes is not None, "discriminants have classes"
    kinds = data.class_count
    numbers = 1 if kinds == 2 else kinds + zero_matters
    scores = np.full((len(held), len(shrinkages), numbers), np.nan)
    errors = np.full((len(held), len(shrinkages)), np.inf)
    classes = replace(classes, centre=-classes.shift, scale=np.ones(len(classes.shift)))  # units do not matter
    if classes.rows - 1 <= kinds:
        raise Undecided
    codes = data.codes[held]
    for kind in range(kinds):
        places = np.flatnonzero(codes == kind)
        if len(places):
            base = _base(form, classes, kind, shrinkages, zero_matters=zero_matters)
            size = max(32, NUMBERS // (len(shrinkages) * len(classes.shift)))
            chunks = [places[start : start + size] for start in range(0, len(places), size)]
            jobs = [(base, group, held[chunk]) for chunk in chunks]
            for chunk, (found, possible) in zip(chunks, group.spread(_answer_rows, jobs), strict=True):
                scores[chunk], errors[chunk] = found, possible
    return scores, errors


def _base(form: Form, classes: Classes, kind: int, shrinkages: Floats, *, zero_matters: bool) -> Base:
    counts = classes.counts.copy()
    counts[kind] -= 1
    if form.whitens or form.priors is None:
        weights = np.full(len(counts), 1.0 / counts.sum())
    else:
        weights = np.array(form.priors) / counts
    matrix = np.tensordot(weights, classes.scatter, axes=1)
    spread = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    unit = spread if form.whitens else np.ones(len(matrix))
    if not unit.all():
        raise Undecided
    values, vectors = np.linalg.eigh(matrix / np.outer(unit, unit))
    grown = amplified(weights @ classes.spread, weights @ classes.reach)
    if form.whitens and ROUNDINGS * EPS * grown * values[-1] > HOPELESS * values[0]:
        raise Undecided
    basis = vectors / unit[:, None]
    priors = counts / counts.sum() if form.priors is None else np.array(form.priors)
    along = (classes.means - priors @ classes.means) @ basis
    between = _between(along / np.sqrt(values), counts.sum() * priors) if form.whitens else (np.inf, 0.0, 0.0)
    target = float(np.trace(matrix)) / len(matrix)
    least = np.maximum(values, 0.0) * (1.0 - shrinkages.min()) + shrinkages.min() * target
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.abs((along / least) @ basis.T).max(axis=0)
    return Base(
        form=form,
        classes=classes,
        shrinkages=shrinkages,
        zero_matters=zero_matters,
        kind=kind,
        share=float(weights[kind] * (counts[kind] + 1) / counts[kind]),
        basis=basis,
        values=values,
        trace=float(np.trace(matrix)),
        grown=grown,
        steep=steep,
        priors=priors,
        between=between,
    )


def _between(inside: Floats, weights: Floats) -> tuple[float, float, float]:
    """Return the least and largest spread of the whitened class means, and how far moving a mean changes them."""
    roots = np.sqrt(weights / (len(weights) - 1))
    sizes = np.linalg.svd(roots[:, None] * inside, compute_uv=False)
    several = min(len(inside) - 1, inside.shape[1])
    least = float(sizes[several - 1]) if several > 1 else np.inf  # a single direction is never dropped
    return least, float(sizes[0]), 2.0 * float(roots.max())


def _may_drop(base: Base, u: Floats, left: Floats) -> Bools:
    """Return the rows without which scikit-learn might drop a direction of the scatter or of the class means."""
    tol = base.form.tol * (1.0 + BORDER)
    least, largest, weight = base.between
    moved = weight * np.sqrt((u * u) @ (1.0 / base.values))[:, None] / (base.classes.counts[base.kind] - 1)
    narrow = left * base.values[0] <= tol**2
    return np.asarray(narrow | (least - moved <= tol * (largest + moved) / np.sqrt(left)))


def _answer_rows(job: tuple[Base, Group, Rows]) -> tuple[Floats, Floats]:
    base, group, rows = job
    form, classes, kind = base.form, base.classes, base.kind
    x = np.subtract(group.data.X.take(rows, axis=0), classes.shift, dtype=np.float64)
    left_in = classes.counts[kind] - 1
    about = x - classes.means[kind]
    target = (base.trace - base.share * np.einsum("ij,ij->i", about, about)) / len(classes.shift)
    inverses = shrunk_inverses(base.values, base.shrinkages, target)
    u = about @ base.basis
    vectors = [(x - mean) @ base.basis for mean in classes.means]
    vectors[kind] = u * ((left_in + 1) / left_in)
    if base.zero_matters and len(vectors) > 2:
        vectors.append(_from_zero(base, x, u))
    share = base.share * (1.0 - base.shrinkages)
    found = distances(inverses, u, np.broadcast_to(share, (len(rows), len(share))), vectors)
    numbers = [-0.5 * one + log for one, log in zip(found.of, np.log(base.priors), strict=False)]
    if len(base.priors) == 2:
        numbers = [numbers[1] - numbers[0]]
    elif base.zero_matters:
        numbers.append(0.5 * found.of[-1])
    shrunk = base.values[-1] * (1.0 - base.shrinkages) + base.shrinkages * target[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        origin = np.zeros(1)
        if not form.whitens:
            origin = np.sqrt(inverses.squared(np.broadcast_to((classes.priors(form) @ classes.means + classes.shift)
                                                              @ base.basis, u.shape) ** 2))  # fmt: skip
        through = ROUNDINGS * EPS * base.grown * shrunk * (origin + np.sqrt(found.longest)) ** 2 / found.left**2
        raw = np.abs(x + classes.shift)
        # scikit-learn adds up rows one after the other for means of columns that are not centred
        raw += np.sqrt(classes.rows) * ~classes.centred * np.abs(classes.means[kind] + classes.shift)
        errors = through + ROUNDINGS * EPS * (raw @ base.steep)[:, None] / found.left
        hopeless = ROUNDINGS * EPS * base.grown * shrunk * inverses.largest > HOPELESS * found.left
        errors = np.where((found.left > LEVERAGE_LEFT) & ~hopeless, errors, np.inf)
    if form.whitens:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            errors = np.where(_may_drop(base, u, found.left), np.inf, errors)
    return np.stack(numbers, axis=2), errors


def _from_zero(base: Base, x: Floats, u: Floats) -> Floats:
    """Return each row, in the eigenvector basis, relative to the point where scikit-learn's decision values are 0."""
    classes, left_in = base.classes, base.classes.counts[base.kind] - 1
    if not base.form.whitens:
        return np.asarray((x + classes.shift) @ base.basis)
    if base.form.priors is None:
        mean = classes.counts @ classes.means / classes.rows
        return np.asarray((x - mean) @ base.basis * (classes.rows / (classes.rows - 1)))
    mean = base.priors @ classes.means
    return np.asarray((x - mean) @ base.basis + u * (base.priors[base.kind] / left_in))


# ---------------------------------------------------------------------- squared distances, by Sherman–Morrison


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inverses:
    """Inverse variances along the eigenvectors for each candidate: shared by all rows, or one set for each row."""

    values: Floats  # directions × candidates, or rows × candidates × directions

    def product(self, squares: Floats) -> Floats:
        """Return Σ squares · inverse over directions: rows × candidates."""
        if self.values.ndim == 2:
            return np.asarray(squares @ self.values)
        return np.asarray((self.values @ squares[:, :, None])[:, :, 0])

    def squared(self, squares: Floats) -> Floats:
        """Return Σ squares · inverse² over directions: rows × candidates."""
        return Inverses(values=self.values**2).product(squares)

    @property
    def largest(self) -> Floats:
        """The largest inverse variance: candidates, or rows × candidates."""
        return np.asarray(self.values.max(axis=0 if self.values.ndim == 2 else 2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distances:
    """Squared distances (rows × candidates) of several vectors for each row, after that row was taken out."""

    of: tuple[Floats, ...]
    left: Floats  # rows × candidates: what taking the row out leaves of the determinant
    longest: Floats  # rows × candidates: the largest squared length of inverse times vector


def distances(inverses: Inverses, u: Floats, share: Floats, vectors: Sequence[Floats]) -> Distances:
    """Return vᵀ(M − share·uuᵀ)⁻¹v for each vector v, all in the eigenvector basis of M (rows × directions)."""
    left = 1.0 - share * inverses.product(u * u)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        of = tuple(inverses.product(v * v) + share * inverses.product(v * u) ** 2 / left for v in vectors)
        longest = np.max([inverses.squared(v * v) for v in vectors], axis=0)
    return Distances(of=of, left=left, longest=longest)


def shrunk_inverses(values: Floats, shrinkages: Floats, target: Floats) -> Inverses:
    """Return 1/((1 − s)λ + s·target) with one target for each row.

    The result is shared by all rows where no candidate shrinks, or where all targets are equal.
    """
    plain = np.maximum(values, 0.0)
    with np.errstate(divide="ignore"):
        if not shrinkages.any():
            return Inverses(values=np.repeat(1.0 / plain[:, None], len(shrinkages), axis=1))
        if (target == target[0]).all():
            return Inverses(values=1.0 / (plain[:, None] * (1.0 - shrinkages) + shrinkages * target[0]))
        shrunk = plain * (1.0 - shrinkages)[:, None] + (target[:, None] * shrinkages)[:, :, None]
        return Inverses(values=1.0 / shrunk)
