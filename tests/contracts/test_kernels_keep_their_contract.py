from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from kernel_contract import ALL_OFF, check_kernel, generated_studies
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import heldout as ho
from heldout.engine.run import Running, run_study
from heldout.kernels import perform
from heldout.kernels.brute import answer_by_brute_force, set_seeds
from heldout.kernels.perform import KERNELS
from heldout.planner import passes
from heldout.planner.plan import refused
from heldout.study.study import TEST


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_answers_as_brute_force_does(kernel):
    check_kernel(kernel, seed=0)


def plain_predictions(asked, candidate, train, held):
    """The candidate by scikit-learn's own clone, set_params, fit and predict, seeded as the design says."""
    search, task = asked.study.search, asked.task
    made = clone(search.families[0].estimator).set_params(**search.params_of(candidate))
    set_seeds(made, search.seed, task.content_key(train))
    last = f"{made.steps[-1][0]}__sample_weight" if hasattr(made, "steps") else "sample_weight"
    weights = {} if task.weight is None else {last: task.weight[train]}
    return made.fit(task.X[train], task.y[train], **weights).predict(task.X[held])


def check_cell(asked, panel, table, candidate, part):
    task, splits = asked.task, asked.study.splits[panel.splits]
    held = splits.held_rows(part)
    predicted = plain_predictions(asked, candidate, splits.train_rows(part), held)
    rows = (predicted != task.y[held]) if task.classification else (predicted - task.y[held]) ** 2
    weight = None if task.weight is None else task.weight[held]
    loss = table.losses[candidate - table.candidates.start, part - table.parts.start, 0]
    assert loss == pytest.approx(np.average(rows, weights=weight), rel=1e-12)
    if panel.level == TEST:
        np.testing.assert_array_equal(table.responses(candidate, part).predict, predicted)


def test_brute_force_is_clone_fit_predict():
    """What all others are measured by, measured by a plain loop: candidates, seeds, weights and losses."""
    cells = 0
    with threadpool_limits(1):
        for _, asked in generated_studies(seed=1):
            outcome = run_study(asked.study, asked.task, Running(jobs=1, options=ho.Options(rules=ALL_OFF)))
            for panel in outcome.study.panels:
                for candidate in panel.candidates:
                    for part in panel.parts[:1]:
                        check_cell(asked, panel, outcome.tables[panel.key], candidate, part)
                        cells += 1
    assert cells > 150


def test_the_contract_catches_a_kernel_that_is_wrong(monkeypatch):
    """A kernel that trains on one row too few is caught, and so is one that no study reaches."""

    def forgetful(step, work):
        splits = {
            name: type(one).from_pairs(
                one.rows, [(one.train_rows(p)[1:], one.held_rows(p)) for p in range(len(one))], one.recipe
            )
            for name, one in work.splits.items()
        }
        return answer_by_brute_force(step, replace(work, splits=splits))

    monkeypatch.setattr(perform, "KERNELS", dict(KERNELS) | {"within": forgetful})
    with pytest.raises(AssertionError):
        check_kernel("within", seed=0)
    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES, ("idle", lambda draft: refused("never"))))
    with pytest.raises(AssertionError, match="No study of the contract reaches the kernel 'idle'"):
        check_kernel("idle", seed=0)
