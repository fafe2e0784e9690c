"""Memory for what kernels keep: it may save time, and no bit depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.backends.limits import total_memory
from heldout.engine import run

rng = np.random.default_rng(3)
X, y = rng.normal(size=(90, 7)), rng.normal(size=90)
RIDGE = (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0, 10.0]})
NEAR = (KNeighborsRegressor(), {"n_neighbors": [1, 3, 8]})


@pytest.mark.parametrize(("estimator", "space"), [RIDGE, NEAR], ids=["ridge", "neighbours"])
@pytest.mark.parametrize("test", [ho.KFold(5), ho.KFold(3, repeats=2), ho.Resample(4, held_out=0.3), ho.LeaveOneOut()])
@pytest.mark.parametrize("validation", [ho.KFold(4), ho.Holdout(0.3), ho.LeaveOneOut()])
def test_no_bit_depends_on_the_room_for_products(estimator: Any, space: Any, test: Any, validation: Any) -> None:
    learner = ho.Tuned(estimator, space, validation=validation)
    rows = slice(None, 40)

    def losses(memory: Any) -> Any:
        options = ho.Options(memory=memory)
        result = ho.evaluate(learner, X[rows], y[rows], test=test, jobs=1, progress=False, options=options)
        return result.predictions["predict"].to_numpy(), result.candidates["validation_squared"].to_numpy()

    for few, many in zip(losses(1), losses("8GB"), strict=True):
        assert np.array_equal(few, many)


def test_the_room_is_a_quarter_of_the_machine_unless_asked(asked: Any) -> None:
    question = asked(Ridge(), X, y)
    work = run.work_of(question.study, question.task, {}, run.Running())
    assert work.room == total_memory() // 4
    assert work.budget == 1 << 30, "block sizes do not follow the machine"
    asked_for = run.Running(options=ho.Options(memory="64MiB"))
    assert run.work_of(question.study, question.task, {}, asked_for).room == 64 << 20
