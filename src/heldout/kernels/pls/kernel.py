"""The kernel `pls`: PLSRegression of one target; one run on the Gram matrix gives every number of components."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.cross_decomposition import PLSRegression

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.linear import (
    Equations,
    LinearPredictors,
    equations_of_rows,
    linear_numbers,
    linear_predictors,
    normal_equations,
)
from heldout.kernels.driver.contract import Group, Kernel, Needs, Numbers, is_count, is_number, read_flag
from heldout.kernels.driver.driver import Driver
from heldout.kernels.sums.dataset import Layout, read_chunks
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats, Refuse, Undecided
from heldout.kernels.sums.training_sums import Sums
from heldout.search.search import Search
from heldout.task.task import Task

FEWEST_ROWS = 3
ROW_COPIES = 6  # memory that fitting from rows takes, in copies of these rows
SMALLEST_TARGET = 1e-4  # standard deviation of an unscaled target: scikit-learn calls it constant below 2e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Settings of PLSRegression. Candidates with equal forms differ only in the number of components."""

    scale: bool  # PLSRegression's own scaling, after that of a StandardScaler in front


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """Holds the predictors of one training set, and what bounds their rounding errors."""

    predictors: LinearPredictors
    unit: Floats  # columns: divisors before components are found
    by_length: Floats  # candidates: error of a response for a held-out row of length 1 in these units
    by_means: Floats  # candidates: error of every response from the rounding of column means that are far from zero
    possible: Bools  # candidates: whether the training set has so many components


class Products(NamedTuple):
    """Products of the centred and scaled columns of one training set, and of its target."""

    multiply: Callable[[Floats], Floats]  # of columns, with a vector
    squares: Floats  # of each column
    d: Floats  # of columns with the target
    yy: float  # of the target


class PLSKernel(Kernel):
    """PLSRegression of a single target, alone or behind StandardScaler. Tier: rounding."""

    name = "pls"
    models: ClassVar[Mapping[type, tuple[str, ...]]] = {PLSRegression: ("n_components",)}
    words = "PLSRegression"

    def read(self, model: Any, task: Task) -> Form:
        if task.y.ndim > 1 and task.y.shape[1] > 1:
            raise Refuse("with several targets scikit-learn's iteration stops at a tolerance")
        scale = read_flag("scale", model.scale)
        if not read_flag("copy", model.copy):
            raise Refuse("copy=False writes into the training rows")
        if not is_count(model.max_iter) or not is_number(model.tol):
            raise Refuse("scikit-learn refuses this max_iter or tol")
        return Form(scale=scale)

    def value(self, form: Form, n_components: Any = 2) -> int:
        if not is_count(n_components):
            raise Refuse(f"n_components={n_components!r} is no whole number from 1")
        return int(n_components)

    def needs(self, form: Form) -> Needs:
        return Needs(numbers=True, weights=False, float32=False)

    def layout(self, form: Form) -> Layout:
        return Layout(targets="numbers")

    def refuses_size(self, search: Search, task: Task, rows: int) -> str | None:
        return "fewer than three training rows" if rows < FEWEST_ROWS else None

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Fitted:
        equations = normal_equations(group.columns, sums, intercept=True)
        C = equations.C
        squares = np.append(np.diagonal(C) * equations.scale**2, equations.yy)
        varies, before = squares > 0, np.maximum(sums.reach[0][:-1], squares)
        kept = (squares[varies] / before[varies]).min(initial=1.0)
        products = Products(lambda r: C @ r, np.diagonal(C), equations.d[:, 0], float(equations.yy[0]))
        return _fitted(group, equations, products, float(kept))

    def learns_from_rows(self, group: Group, rows: int) -> bool:
        return rows <= int(group.data.X.shape[1]) or 8 * group.sums.nbytes > group.work.budget

    def learn_from_rows(self, group: Group, rows: Rows) -> Fitted:
        if ROW_COPIES * 8 * len(rows) * group.data.X.shape[1] > group.work.budget:
            raise Undecided
        equations, Z, Y = equations_of_rows(group.columns, group.data, rows, intercept=True)
        y, squares = Y[:, 0], np.einsum("ij,ij->j", Z, Z)
        products = Products(lambda r: np.asarray(Z.T @ (Z @ r)), squares, Z.T @ y, float(y @ y))
        return _fitted(group, equations, products, 1.0)

    def respond(self, group: Group, learned: Fitted, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
        numbers, reliable = linear_numbers(learned.predictors, group.data, rows)
        longest = _longest_row(group, learned, rows)
        errors = learned.by_length * longest + learned.by_means
        reliable &= learned.possible & (errors <= TOLERANCE * np.abs(numbers).max(axis=(0, 2), initial=0.0))
        return (numbers,), reliable


def _fitted(group: Group, equations: Equations, products: Products, kept: float) -> Fitted:
    """Return the predictors. `kept` is the share of digits that sums of squares have left. Raises Undecided."""
    inner, y_scale = np.ones(len(products.d)), 1.0
    offset, freedom = equations.centre + equations.shift.x, equations.count - 1
    if group.form.scale:
        constant = products.squares == 0
        if not sums_exactly(offset[constant], equations.count).all():
            raise Undecided  # where the mean of equal numbers is inexact, scikit-learn divides one error by another
        inner = np.where(constant, 1.0, np.sqrt(products.squares / freedom))
        y_scale = float(np.sqrt(products.yy / freedom)) or 1.0
    elif np.sqrt(products.yy / equations.count) < SMALLEST_TARGET or np.linalg.norm(products.d) < 1e-9 * products.yy:
        raise Undecided  # scikit-learn's thresholds are absolute, and decide
    counts = group.values.astype(np.intp)
    most = min(int(counts.max()), len(products.d), equations.count)
    found = find_components(
        lambda r: products.multiply(r / inner) / inner,
        products.squares / inner**2,
        products.d / inner / y_scale,
        most,
    )
    places = np.minimum(counts, most) - 1
    weights = found.coef[places].T * (y_scale / inner)[:, None]
    predictors = linear_predictors(equations, weights[:, :, None])
    with np.errstate(over="ignore", invalid="ignore"):
        by_means = np.sqrt(((predictors.coef[:, :, 0] * offset[:, None]) ** 2).sum(axis=0))
    return Fitted(
        predictors=predictors,
        unit=equations.scale * inner,
        by_length=ROUNDINGS * EPS * y_scale / kept * found.growth[places],
        by_means=2 * ROUNDINGS * EPS * np.sqrt(equations.count) * by_means,
        possible=counts <= most,
    )


def _longest_row(group: Group, learned: Fitted, rows: Rows) -> float:
    """Return the length of the longest of these rows, in the units in which components are found."""
    data, predictors = group.data, learned.predictors
    longest = 0.0
    for _, chunk in read_chunks(data, rows, predictors.shift):
        x = (chunk - predictors.centre) / learned.unit
        longest = max(longest, float(np.einsum("ij,ij->i", x, x).max()))
    return float(np.sqrt(longest))


class Components(NamedTuple):
    """Holds the coefficients with 1, 2, … components."""

    coef: Floats  # components × columns
    growth: Floats  # components: what a relative rounding error moves the coefficients by; NaN past the rank


def find_components(multiply: Callable[[Floats], Floats], squares: Floats, d: Floats, count: int) -> Components:
    """Return the coefficients with 1 to `count` components.

    `multiply` gives the Gram matrix times a vector, `squares` are its diagonal, `d` the products of columns and target.
    The method is improved kernel PLS of one target (Dayal & MacGregor 1997, algorithm 2). Each weight is s, the
    remaining products with the target, made orthogonal to earlier weights. Rounding errors of s are about as large as
    those of its first value d, so a weight has an error of |d| / |s| roundings. The square of a component has as many
    as its terms are larger than itself. The coefficients have the sum of both, times the component. In independent,
    nearly collinear and smooth columns no error exceeded that sum more than fivefold.
    """
    W, coef, growth = np.empty((count, len(d))), np.empty((count, len(d))), np.empty(count)
    length, s = np.linalg.norm(d), d
    total, moved = np.zeros(len(d)), 0.0
    r = Cr = d
    square = 1.0
    with np.errstate(all="ignore"):  # past the rank numbers are not finite, and not used
        for k in range(count):
            w = s - W[:k].T @ (W[:k] @ s)
            left = np.linalg.norm(w)
            w = np.divide(w, left, out=W[k])
            r = w - (Cr @ w) / square * r if k else w
            Cr = multiply(r)
            square = r @ Cr
            share = (w @ s) / square
            s = s - share * Cr
            total = coef[k] = total + share * r
            roundings = length / left + squares @ r**2 / abs(square)
            moved = growth[k] = moved + roundings * abs(share) * np.linalg.norm(r)
    return Components(coef, growth)


def sums_exactly(values: Floats, count: int) -> Bools:
    """Return whether `count` times each value, and all sums on the way, are exact in floating point.

    >>> sums_exactly(np.array([0.0, 3.0, 0.1]), 50).tolist()
    [True, True, False]
    """
    mantissa, _ = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.asarray(whole % (1 << int(count).bit_length()) == 0)


KERNEL = Driver(PLSKernel())
