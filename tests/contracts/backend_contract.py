"""The contract of a backend: the numbers of a study done here, failures by name, and nothing left under way."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.backends.base import BackendSettings
from heldout.backends.registry import is_usable, open_backend
from heldout.engine.run import work_of
from heldout.kernels.step import cut_brute_force, plan_brute_force
from heldout.planner.plan import ready_panels

X, y = (part[:80] for part in load_diabetes(return_X_y=True))


class Fussy(Ridge):
    """Refuses one value of its parameter."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Fussy:
        if self.alpha == 13.0:
            raise ValueError("not this one")
        return super().fit(X, y)


def check_backend(backend: Any, asked: Any) -> None:
    """Assert the contract of what `backend=` takes; `asked` makes a question of a learner and data."""
    assert is_usable(backend)
    _check_numbers(backend)
    _check_failures(backend)
    _check_steps(backend, asked)


def _check_numbers(backend: Any) -> None:
    families = {
        "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3]}),
        "ridge": (Ridge(), {"alpha": ho.log_grid(-2, 2, 5)}),
    }
    learner = ho.Tuned(families, validation=ho.KFold(3))
    here = ho.evaluate(learner, X, y, test=ho.KFold(3), backend="inline", progress=False)
    there = ho.evaluate(learner, X, y, test=ho.KFold(3), backend=backend, jobs=2, progress=False)
    assert there.risk == here.risk
    assert there.choices.equals(here.choices)
    assert np.array_equal(there.predictions["predict"], here.predictions["predict"])


def _check_failures(backend: Any) -> None:
    learner = ho.Tuned(Fussy(), {"alpha": [1.0, 13.0]}, validation=ho.Holdout(0.3))
    result = ho.evaluate(learner, X, y, test=ho.Holdout(0.25), backend=backend, jobs=2, progress=False)
    (failure,) = result.failures.to_dict("records")
    assert (failure["error"], failure["message"], failure["stage"]) == ("ValueError", "not this one", "fit")
    assert result.risk.value is not None


def _check_steps(backend: Any, asked: Any) -> None:
    """Every step comes back once; a caller that stops half-way leaves the backend as it was."""
    question = asked(DecisionTreeRegressor(random_state=0), X, y, test=ho.KFold(6))
    steps = cut_brute_force(plan_brute_force(ready_panels(question.study, frozenset())))
    work = work_of(question.study, question.task, {})
    with open_backend(backend, BackendSettings(jobs=2)) as opened:
        assert list(opened.run(work, [])) == []
        running = opened.run(work, steps)
        next(iter(running))
        running.close()  # type: ignore[attr-defined]
        answered = [answer for _, answers in opened.run(work, steps) for answer in answers]
    assert sorted(part for answer in answered for part in answer.parts) == [0, 1, 2, 3, 4, 5]
