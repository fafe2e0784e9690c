"""L-BFGS of many candidates in lock-step: SciPy decides every step, and all candidates share each pass over the rows.

`scipy.optimize.minimize` runs one minimisation at a time and asks for one point at a time. Here each candidate has its
own SciPy state. All are advanced until they ask for a point, and the objective evaluates these points together. SciPy
offers this "reverse communication" under a private name. So a small minimisation checks, once a process, that it ends
at the same bits as the public function. Where it does not, the public function runs, one candidate after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from heldout.kernels.sums.rounding import Floats

Evaluate = Callable[[list[int], Floats], tuple[Floats, Floats]]  # candidates, their points -> values, gradients
MEMORY = 10  # past steps that SciPy's L-BFGS-B keeps, its default
LINE_SEARCH = 50  # steps of one line search, as scikit-learn calls it
FTOL = 64 * float(np.finfo(float).eps)  # scikit-learn's tolerance too
NEW_ITERATION, CONVERGED, STOP, WANTS_VALUE = 1, 4, 5, 3  # tasks of SciPy's L-BFGS-B


class Minima(NamedTuple):
    """Holds where each candidate's minimisation ended."""

    points: Floats  # candidates × coefficients
    iterations: NDArray[np.intp]
    converged: NDArray[np.bool_]


def minimise_together(
    evaluate: Evaluate, starts: Floats, *, tol: float, max_iter: int, lockstep: bool | None = None
) -> Minima:
    """Minimise from each start, with the settings that scikit-learn gives SciPy.

    A minimisation that reaches `max_iter` has not converged. `lockstep` of None uses lock-step where this SciPy allows
    it.
    """
    if lockstep if lockstep is not None else has_reverse_communication():
        return _in_lockstep(evaluate, starts, tol, max_iter)
    found = [_by_public_function(evaluate, c, start, tol, max_iter) for c, start in enumerate(starts)]
    return Minima(
        np.array([x for x, _, _ in found]), np.array([n for _, n, _ in found]), np.array([g for *_, g in found])
    )


@cache
def has_reverse_communication() -> bool:
    """Return whether this SciPy can be driven step by step, to the same bits as its public function."""
    target = np.array([1.0, -2.0, 0.5])

    def evaluate(which: list[int], at: Floats) -> tuple[Floats, Floats]:
        gap = at - target
        return (gap**2).sum(axis=1) + (gap**4).sum(axis=1), 2 * gap + 4 * gap**3

    start = np.zeros((1, 3))
    try:
        ours, public = (
            minimise_together(evaluate, start, tol=1e-8, max_iter=100, lockstep=lockstep) for lockstep in (True, False)
        )
    except Exception:
        return False
    return all(np.array_equal(a, b) for a, b in zip(ours, public, strict=True))


def _by_public_function(evaluate: Evaluate, candidate: int, start: Floats, tol: float, max_iter: int) -> Any:
    def objective(at: Floats) -> tuple[float, Floats]:
        values, gradients = evaluate([candidate], at[None])
        return float(values[0]), gradients[0]

    options = {"maxiter": max_iter, "maxls": LINE_SEARCH, "gtol": tol, "ftol": FTOL}
    end = optimize.minimize(objective, start, method="L-BFGS-B", jac=True, options=options)  # type: ignore[call-overload]
    return end.x, end.nit, bool(end.success and end.nit < max_iter)


def _in_lockstep(evaluate: Evaluate, starts: Floats, tol: float, max_iter: int) -> Minima:
    states = [_State(start, tol, max_iter) for start in starts]
    waiting = [c for c, state in enumerate(states) if state.advance()]
    while waiting:
        values, gradients = evaluate(waiting, np.array([states[c].x for c in waiting]))
        for place, c in enumerate(waiting):
            states[c].f = np.array(values[place])
            states[c].g = gradients[place].copy()
        waiting = [c for c in waiting if states[c].advance()]
    return Minima(
        np.array([state.x for state in states]),
        np.array([state.iterations for state in states]),
        np.array([state.task[0] == CONVERGED for state in states]),
    )


class _State:
    """Holds the state of one minimisation, as SciPy's own loop keeps it."""

    def __init__(self, start: Floats, tol: float, max_iter: int) -> None:
        n, m = len(start), MEMORY
        self.x, self.f, self.g = start.copy(), np.array(0.0), np.zeros(n)
        self.iterations = 0
        self.task = np.zeros(2, dtype=np.int32)
        self._tol, self._max_iter = tol, max_iter
        self._bounds = np.zeros(n)  # never read: no coefficient is bounded
        self._bounded = np.zeros(n, dtype=np.int32)
        self._work = np.zeros(2 * m * n + 5 * n + 11 * m * m + 8 * m)
        self._saved: list[Any] = [
            np.zeros(3 * n, np.int32),
            np.zeros(4, np.int32),
            np.zeros(44, np.int32),
            np.zeros(29),
        ]
        self._line_task = np.zeros(2, dtype=np.int32)

    def advance(self) -> bool:
        """Continue with the current value and gradient. Return True if those of another point are needed."""
        lbfgsb: Any = getattr(optimize, "_lbfgsb")  # noqa: B009 - private, which `has_reverse_communication` checks
        integers, logicals, counts, reals = self._saved
        while True:
            lbfgsb.setulb(
                MEMORY, self.x, self._bounds, self._bounds, self._bounded, self.f, self.g, FTOL / np.finfo(float).eps,
                self._tol, self._work, integers, self.task, logicals, counts, reals, LINE_SEARCH, self._line_task,
            )  # fmt: skip
            if self.task[0] == WANTS_VALUE:
                return True
            if self.task[0] != NEW_ITERATION:
                return False
            self.iterations += 1
            if self.iterations >= self._max_iter:
                self.task[:] = STOP, 504
