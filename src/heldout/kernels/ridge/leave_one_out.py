"""Leave-one-out from one eigendecomposition: leaving out one row changes the equations by rank one.

Without row i the matrix is C − cᵢuᵢuᵢᵀ + α·Dᵢ and the right side d − cᵢuᵢvᵢ, with uᵢ and vᵢ the row and its target
about the centre. Without a scaler D is the identity, and Sherman–Morrison gives the held-out response from the
leverage. A scaler changes Dᵢ too: see `scaled_leave_one_out`. Least squares is the case α = 0, as long as scikit-learn
treats no direction as absent: without a row of leverage h the smallest eigenvalue keeps at least the share 1 − h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.linear import Equations, normal_equations
from heldout.kernels.driver.contract import Group
from heldout.kernels.ridge.scaled_leave_one_out import Change, Eigen, corrected
from heldout.kernels.ridge.solve import CUT_MARGIN, inverses, is_doubtful, sizes, with_ones
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats, Undecided
from heldout.kernels.sums.training_sums import Sums

NEARLY_ALL = 1e-3  # a row with all but this share of a sum of squares leaves too few digits behind
LEVERAGE_LEFT = 1e-3  # 1 − h below this needs a check, as a bad condition does
CUT_AWAY = 4.0  # how far the smallest eigenvalue must stay above the cutoff of least squares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """Holds the equations of the full set about its centre, and their eigendecomposition."""

    equations: Equations
    eigen: Eigen
    weight: Floats | None  # row weights by row number; None: 1 each
    factor: float  # times every weight: that of the class where classes are balanced
    places: NDArray[np.intp]  # of the alphas that this base answers
    squares: Floats | None  # columns: what shares are fractions of, infinite where there is no scaler
    doubtful: Bools  # alphas
    size: Floats  # alphas: how large errors of matrix and right side are
    spare: float = np.inf  # least squares: smallest over largest eigenvalue, divided by the least share that counts
    folded: Floats | float = 1.0  # columns: what turns shares of `squares` back into a scaler's own


def applies(group: Group, rows: int) -> bool:
    """Return whether leaving out one row is a rank-one change for this form, and rows outnumber columns."""
    if rows - 1 <= group.data.X.shape[1] + 1:
        return False
    if group.form.intercept or not np.any(group.columns.centred):
        return True
    # Centred by an unweighted mean, then no intercept: with equal weights the equations are those of an intercept.
    return bool(np.all(group.columns.centred)) and group.data.weight is None and group.data.codes is None


def leave_one_out(group: Group, total: Sums, held: Rows) -> tuple[Floats, Bools]:
    """Return responses (held × alphas × targets) of fits on all rows but each held row, and which are reliable.

    Raise LostDigits or Undecided if the set as a whole cannot be answered this way.
    """
    responses = np.empty((len(held), len(group.values), group.data.Y.shape[1]))
    reliable = np.zeros((len(held), len(group.values)), dtype=bool)
    step = max(32, group.data.chunk // 4)  # several arrays of a chunk are in memory at a time
    for base, rows in _bases(group, total, held):
        chunks = [rows[i : i + step] for i in range(0, len(rows), step)]
        jobs = [(base, group, held[chunk]) for chunk in chunks]
        for chunk, (numbers, good) in zip(chunks, group.spread(_answer_rows, jobs), strict=True):
            where = np.ix_(chunk, base.places)
            responses[where], reliable[where] = numbers, good
    return responses, reliable


def _bases(group: Group, total: Sums, held: Rows) -> Iterator[tuple[Base, NDArray[np.intp]]]:
    """Yield each base with the positions of its held rows: all, or those of one class if classes are balanced."""
    intercept = bool(group.form.intercept or np.any(group.columns.centred))  # see `applies`
    codes = group.data.codes
    if codes is None:
        for base in _decomposed(group, normal_equations(group.columns, total, intercept=intercept), 1.0):
            yield base, np.arange(len(held))
        return
    for code in range(group.data.class_count):
        rows = np.flatnonzero(codes[held] == code)
        if not len(rows):
            continue
        counts = total.counts.copy()
        counts[code] -= 1
        weights = counts.sum() / (len(counts) * counts)
        equations = normal_equations(group.columns, total, intercept=intercept, class_weights=weights)
        for base in _decomposed(group, equations, float(weights[code])):
            yield base, rows


def _decomposed(group: Group, equations: Equations, factor: float) -> Iterator[Base]:
    """Yield one decomposition for all alphas; then one each for alphas that its condition number leaves in doubt."""
    alphas = group.values
    scaled = group.columns.flags("scaled", len(equations.centre)) & (equations.squares > 0)
    # n − 1 in the place of n: the scale of a row left out is then the full set's times √(1 − share).
    unit = np.where(scaled, np.sqrt(np.where(scaled, equations.squares, 1.0) / (equations.count - 1)), 1.0)
    ratio = equations.scale / unit
    C, d = equations.C * np.outer(ratio, ratio), equations.d * ratio[:, None]
    squares = np.where(scaled, equations.squares, np.inf) if scaled.any() else None
    values, vectors = np.linalg.eigh(C)
    spare = _spare(values, group.form.cutoff)
    inverse, doubtful, size = _inverted(values, vectors, d, alphas, equations)
    eigen = Eigen(
        vectors=vectors, inverse=inverse, right=vectors.T @ d, unit=unit, matrix=C, d=d, ridge=alphas, penalty=alphas
    )
    common = Base(
        equations=equations,
        eigen=eigen,
        places=np.arange(len(alphas)),
        weight=group.data.weight,
        factor=factor,
        squares=squares,
        doubtful=doubtful,
        size=size,
        spare=spare,
    )
    yield common
    for place in np.flatnonzero(doubtful):
        # A diagonal of ones: units of columns do not matter, true collinearity does.
        more, A = with_ones(C, float(alphas[place]))
        right = d / more[:, None]
        values, vectors = np.linalg.eigh(A)
        inverse, doubt, size = _inverted(values, vectors, right, np.zeros(1), equations)
        alone = Eigen(
            vectors=vectors,
            inverse=inverse,
            right=vectors.T @ right,
            unit=unit * more,
            matrix=A,
            d=right,
            ridge=np.zeros(1),
            penalty=np.ones(1) if alphas[place] > 0 else np.zeros(1),
        )
        with np.errstate(over="ignore"):  # the penalty, where there is one, joins the shares
            folded = more**2 / float(alphas[place]) if alphas[place] > 0 else np.ones(len(more))
            own = None if squares is None else squares * folded
        here = np.array([place])
        yield replace(common, eigen=alone, places=here, squares=own, doubtful=doubt, size=size, folded=folded)


def _inverted(
    values: Floats, vectors: Floats, d: Floats, alphas: Floats, equations: Equations
) -> tuple[Floats, Bools, Floats]:
    """Return inverses for each alpha, which alphas are in doubt, and the size of rounding errors."""
    inverse = inverses(values, alphas, None)
    with np.errstate(over="ignore", invalid="ignore"):
        inside = inverse[:, :, None] * (vectors.T @ d)[:, None, :]
    return inverse, is_doubtful(values, inverse), sizes(float(values[-1]), inside, equations.yy)


def _spare(values: Floats, cutoff: float | None) -> float:
    """Return how far the smallest eigenvalue is above the cutoff of least squares. Raise Undecided if too near."""
    if cutoff is None:
        return np.inf
    least = cutoff**2 + CUT_MARGIN
    spare = float(values[0] / values[-1]) / least if values[-1] > 0 else 0.0
    if spare <= CUT_AWAY:
        raise Undecided
    return spare


def _answer_rows(job: tuple[Base, Group, Rows]) -> tuple[Floats, Bools]:
    base, group, rows = job
    equations, data = base.equations, group.data
    x = np.subtract(data.X.take(rows, axis=0), equations.shift.x, dtype=np.float64)
    v = data.Y.take(rows, axis=0) - equations.shift.y - equations.y_centre
    weight = np.full(len(rows), base.factor) if base.weight is None else base.factor * base.weight[rows]
    rest = equations.weight - weight
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        enlarged = equations.weight / rest if equations.intercept else np.ones(len(rows))
        share = None
        if base.squares is not None:
            share = equations.count / (equations.count - 1) * (x - equations.mean) ** 2 / base.squares
        change = Change(u=(x - equations.centre) / base.eigen.unit, v=v, c=weight * enlarged, share=share)
        inside, left, z = corrected(base.eigen, change)
        values = inside * enlarged[:, None, None]
        if group.form.intercept:
            values += equations.y_centre + equations.shift.y - (weight / rest)[:, None, None] * v[:, None, :]
        taken_out = None if share is None else (share * base.folded).max(axis=1)
        return values, _is_good(base, change, taken_out, left, z, values=values)


def _is_good(base: Base, change: Change, taken_out: Floats | None, left: Floats, z: Floats, *, values: Floats) -> Bools:
    """Return which rows and alphas stay within the tier in spite of rounding errors."""
    own = change.c[:, None] * change.v**2 > (1.0 - NEARLY_ALL) * base.equations.yy
    lost: Bools = np.any(own & (base.equations.yy > 0), axis=1)
    if taken_out is not None:
        lost = lost | (taken_out > 1.0 - NEARLY_ALL)
    good = np.isfinite(values).all(axis=2) & (left > 0) & ~lost[:, None]
    if base.spare < np.inf:  # scales shrink by the same shares as eigenvalues do, at most
        kept = left if taken_out is None else left * (1.0 - taken_out)[:, None] ** 2
        good &= kept * base.spare > CUT_AWAY
    check = (base.doubtful | (left < LEVERAGE_LEFT)) & good
    if check.any():
        growth = np.sqrt(z**2 @ base.eigen.inverse**2) / left
        error = ROUNDINGS * EPS * growth * base.size
        largest = np.abs(np.where(good[:, :, None], values, 0.0)).max(axis=(0, 2))
        good &= ~check | (error <= TOLERANCE * largest)
    return np.asarray(good)
