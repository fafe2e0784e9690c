"""Solving machines on a kernel matrix, by the library that scikit-learn's own fit uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from heldout.kernels.vectors.kernel_values import Floats
from heldout.kernels.vectors.machines import Machine

SAME = 0.5  # of the bound: where the largest dual is below, no step of the solver was cut, so a larger C changes none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """The duals of one machine on one training set, as columns: one, or one for each pair of classes."""

    duals: Floats  # training rows × columns
    constants: Floats
    classes: NDArray[Any] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Targets:
    """What is learned on one training set."""

    y: NDArray[Any]
    weight: Floats | None


def solve_all(machines: Sequence[Machine], gram: Floats, targets: Targets) -> dict[int, Solved | None]:
    """Every machine of one kernel function, by candidate; None where scikit-learn's fit fails.

    Machines that differ in C alone are solved from the smallest up: once every dual is well below its bound, a
    larger one has the same solution.
    """
    chains: dict[Any, list[Machine]] = {}
    for machine in machines:
        chains.setdefault(machine.all_but_bound, []).append(machine)
    found: dict[int, Solved | None] = {}
    for chain in chains.values():
        same_for_larger: Solved | None = None
        for machine in sorted(chain, key=lambda one: (one.bound, one.candidate)):
            if same_for_larger is None:
                found[machine.candidate], unbounded = solve(machine, gram, targets)
                same_for_larger = found[machine.candidate] if unbounded else None
            else:
                found[machine.candidate] = same_for_larger
    return found


def solve(machine: Machine, gram: Floats, targets: Targets) -> tuple[Solved | None, bool]:
    """One machine, and whether every larger C has the same solution."""
    model = clone(machine.model).set_params(kernel="precomputed")
    if machine.classifies:
        model.set_params(random_state=0)  # nothing is drawn; None would move the state that the program shares
    try:
        model.fit(gram, targets.y, sample_weight=targets.weight)
    except Exception:  # brute force tells what is wrong
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
    """The duals of each pair of classes, from the compact table in which the library keeps them."""
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
    """Whether every dual lies well below its bound: C, times the weights of its row and class."""
    bound = np.full(len(targets.y), machine.bound)
    if targets.weight is not None:
        bound *= targets.weight
    if machine.classifies:
        bound *= model.class_weight_[np.searchsorted(model.classes_, targets.y)]
    return bool((np.abs(model.dual_coef_) < SAME * bound[model.support_]).all())
