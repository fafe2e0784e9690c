"""Solves machines on a precomputed kernel matrix by LIBSVM, as scikit-learn's own fit does, and computes responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import _ovr_decision_function

from heldout.base.responses import Responses
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.vectors.machines import Machine

SAME = 0.5  # of the bound: with all duals below it no step of the solver was clipped, so a larger C changes none
BORDER = 1e-12  # of the sum of absolute terms: nearer to zero than this, rounding decides the side of a row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """The dual coefficients of one machine on one training set: one column, or one for each pair of classes."""

    duals: Floats  # training rows × columns
    constants: Floats
    classes: NDArray[Any] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Targets:
    """The targets and sample weights of one training set."""

    y: NDArray[Any]
    weight: Floats | None


def solve_all(machines: Sequence[Machine], gram: Floats, targets: Targets) -> dict[int, Solved | None]:
    """Return the solution of every machine of one kernel function, by candidate; None where scikit-learn's fit fails.

    Machines that differ only in C are solved from the smallest C up. Once every dual coefficient is well below its
    bound, a larger C has the same solution.
    """
    chains: dict[Any, list[Machine]] = {}
    for machine in machines:
        chains.setdefault(machine.all_but_bound, []).append(machine)
    found: dict[int, Solved | None] = {}
    for chain in chains.values():
        same_for_larger: Solved | None = None
        for machine in sorted(chain, key=lambda one: (one.bound, one.number)):
            if same_for_larger is None:
                found[machine.number], unbounded = solve(machine, gram, targets)
                same_for_larger = found[machine.number] if unbounded else None
            else:
                found[machine.number] = same_for_larger
    return found


def solve(machine: Machine, gram: Floats, targets: Targets) -> tuple[Solved | None, bool]:
    """Fit one SVM on its Gram matrix. Also return whether every larger C has the same solution."""
    model = clone(machine.model).set_params(kernel="precomputed")
    if machine.classifies:
        model.set_params(random_state=0)  # nothing random is drawn, but None would advance numpy's global state
    try:
        model.fit(gram, targets.y, sample_weight=targets.weight)
    except Exception:  # brute force reports the error
        return None, False
    n, classes = len(gram), getattr(model, "classes_", None)
    if classes is None or len(classes) == 2:
        duals = np.zeros((n, 1))
        duals[model.support_, 0] = model.dual_coef_[0]
    else:
        duals = _pairs(model, n)
    unbounded = np.isfinite(machine.bound) and _is_unbounded(model, machine, targets)
    return Solved(duals=duals, constants=np.array(model.intercept_), classes=classes), bool(unbounded)


def _pairs(model: Any, n: int) -> Floats:
    """Return the dual coefficients of each pair of classes, from LIBSVM's compact table."""
    count = len(model.classes_)
    cuts = np.concatenate([[0], np.cumsum(model.n_support_)])
    columns = []
    for one in range(count):
        for other in range(one + 1, count):
            column = np.zeros(n)
            for own, row in ((one, other - 1), (other, one)):
                places = slice(cuts[own], cuts[own + 1])
                column[model.support_[places]] = model.dual_coef_[row, places]
            columns.append(column)
    return np.stack(columns, axis=1)


def _is_unbounded(model: Any, machine: Machine, targets: Targets) -> bool:
    """Return whether every dual lies well below its bound: C, times the weights of its row and class."""
    bound = np.full(len(targets.y), machine.bound)
    if targets.weight is not None:
        bound *= targets.weight
    if machine.classifies:
        bound *= model.class_weight_[np.searchsorted(model.classes_, targets.y)]
    return bool((np.abs(model.dual_coef_) < SAME * bound[model.support_]).all())


def values_of(solved: Solved, gram: Floats) -> Floats | None:
    """Return decision values (held-out rows × columns of duals), or None where rounding would decide a label."""
    values = np.asarray(gram @ solved.duals + solved.constants)
    if solved.classes is not None and len(gram):
        added = np.abs(gram).max() * np.abs(solved.duals).sum(axis=0) + np.abs(solved.constants)
        if (np.abs(values) <= BORDER * added).any():
            return None
    return values


def responses_of(machine: Machine, solved: Solved, values: Floats, methods: frozenset[str]) -> Responses:
    """Return the responses of the fitted machine, from its decision values."""
    classes = solved.classes
    if classes is None:
        return Responses(predict=np.ascontiguousarray(values[:, 0]))
    decision = _decision(machine, values, classes) if "decision_function" in methods else None
    return Responses(predict=classes[_codes(machine, values, classes)], decision_function=decision, classes=classes)


def _codes(machine: Machine, values: Floats, classes: NDArray[np.generic]) -> NDArray[np.intp]:
    if len(classes) == 2:
        return (values[:, 0] >= 0).astype(np.intp)
    if machine.model.break_ties and machine.model.decision_function_shape == "ovr":
        return np.asarray(_decision(machine, values, classes).argmax(axis=1))
    votes = np.zeros((len(values), len(classes)), dtype=np.intp)
    first, second = np.triu_indices(len(classes), k=1)
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        wins = values[:, pair] > 0
        votes[wins, one] += 1
        votes[~wins, other] += 1
    return np.asarray(votes.argmax(axis=1))


def _decision(machine: Machine, values: Floats, classes: NDArray[np.generic]) -> Floats:
    if len(classes) == 2:
        return np.ascontiguousarray(values[:, 0])
    if machine.model.decision_function_shape == "ovr":
        return np.asarray(_ovr_decision_function(values < 0, -values, len(classes)))
    return values
