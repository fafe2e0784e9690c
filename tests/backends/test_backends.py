from __future__ import annotations

import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.backends import processes as backends
from heldout.backends.base import BackendSettings, Inline
from heldout.backends.pool import Pool
from heldout.backends.processes import Processes
from heldout.backends.registry import open_backend
from heldout.base.errors import BackendError, FitFailed, OptionError
from heldout.engine.run import Running, run_study, work_of
from heldout.kernels.step import cut_brute_force, plan_brute_force
from heldout.planner.plan import ready_panels

X, y = (part[:40] for part in load_diabetes(return_X_y=True))
NO_RULES = ho.Options(rules={"share_fits": True, "within": False})


class Where(RegressorMixin, BaseEstimator):
    """Predicts the number of the process that fitted it, after a while."""

    def __init__(self, wait=0.0):
        self.wait = wait

    def fit(self, X, y):
        time.sleep(self.wait)
        self.pid_ = os.getpid()
        return self

    def predict(self, X):
        return np.full(len(X), float(self.pid_))


class Stuck:
    """Can be cloned, but cannot travel."""

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("stuck here")


class Holds(Ridge):
    """Holds something that cannot travel."""

    def __init__(self, alpha=1.0, tag=None):
        super().__init__(alpha=alpha)
        self.tag = tag


class Killer(Ridge):
    """Ends the process that fits it, when told so."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha == 13.0:
            os._exit(3)
        return super().fit(X, y)


def pids(question, **how):
    """Which processes did the test fits of a fixed learner."""
    outcome = run_study(question.study, question.task, Running(options=NO_RULES, **how))
    table = outcome.tables["test"]
    return {int(table.responses(0, part).predict[0]) for part in table.parts}


def test_one_job_works_here(asked):
    assert isinstance(_opened(None, 1), Inline)
    assert isinstance(_opened("inline", 4), Inline)
    assert isinstance(_opened("processes", 1), Processes)
    assert pids(asked(Where(), X, y), jobs=1) == {os.getpid()}


def _opened(backend, jobs):
    with open_backend(backend, BackendSettings(jobs=jobs)) as opened:
        return opened


def test_an_unknown_backend_is_refused_with_the_nearest():
    with pytest.raises(OptionError, match=r"no backend 'process'\. Did you mean 'processes'"):
        open_backend("process", BackendSettings(jobs=2))


def test_processes_work_elsewhere(asked):
    found = pids(asked(Where(), X, y, test=ho.KFold(8)), jobs=2, backend="processes")
    assert os.getpid() not in found


def test_a_short_study_starts_no_workers(asked, monkeypatch):
    """Nothing is started, though two jobs are allowed."""
    pool = SimpleNamespace(ready=lambda: 0, start=lambda steps: pytest.fail("workers were started"))
    monkeypatch.setattr(backends, "shared_pool", lambda jobs: pool)
    assert pids(asked(Where(), X, y), jobs=2) == {os.getpid()}


def test_work_that_lasts_moves_to_the_workers_once_they_are_ready(asked, monkeypatch):
    start = Pool.start

    def start_and_wait(self, most=None):
        start(self, most)
        while not self.ready():
            time.sleep(0.01)

    monkeypatch.setattr(Pool, "start", start_and_wait)
    monkeypatch.setattr(backends, "TRY_INLINE_FOR", 0.01)
    monkeypatch.setattr(backends, "WORTH_A_START", 0.02)
    found = pids(asked(Where(0.02), X, y, test=ho.Resample(50)), jobs=2)
    assert os.getpid() in found
    assert len(found) >= 2


def test_data_that_are_surely_large_go_to_the_workers_at_once(asked, monkeypatch):
    for ready_or_not in ("LARGE", "SURELY_LARGE"):
        monkeypatch.setattr(backends, ready_or_not, 10)
    assert os.getpid() not in pids(asked(Where(), X, y), jobs=2)


def test_a_step_that_spreads_is_done_where_the_study_was_asked(asked):
    question = asked(Where(), X, y, test=ho.KFold(4))
    steps = cut_brute_force(plan_brute_force(ready_panels(question.study, frozenset())))
    mixed = [replace(step, spreads=number == 2) for number, step in enumerate(steps)]
    work = work_of(question.study, question.task, {})
    found = {
        step.trainings[0].answers[0].part: int(answers[0].responses[0].predict[0])
        for step, answers in Processes(2, BackendSettings(), begin_inline=False).run(work, mixed)
    }
    assert sorted(found) == [0, 1, 2, 3]
    assert [part for part, pid in found.items() if pid == os.getpid()] == [2]


def test_what_cannot_travel_is_named_and_the_way_out_with_it(asked):
    question = asked(Holds(tag=Stuck()), X, y)
    with pytest.raises(BackendError, match=r"estimator\.tag: stuck here.*inline"):
        pids(question, jobs=2, backend="processes")


def test_a_fit_that_ends_its_worker_is_a_failure_with_a_name(asked):
    learner = ho.Tuned(Killer(), {"alpha": [1.0, 13.0, 2.0]}, validation=ho.Holdout(0.3))
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    outcome = run_study(question.study, question.task, Running(jobs=2, backend="processes", options=NO_RULES))
    ((panel, candidate, part, failure),) = outcome.tables.failures()
    assert (panel, candidate, part) == ("validation/0", 1, 0)
    assert failure.kind == "WorkerDied"
    assert "exit code 3" in failure.message
    assert outcome.study.chosen["fold/0"].candidate in (0, 2)
    assert outcome.tables["test/0"].complete


def test_error_score_raise_reaches_the_caller_from_a_worker(asked):
    learner = ho.Tuned(Ridge(), {"alpha": ["wrong"]}, validation=ho.KFold(3))
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    study = replace(question.study, search=replace(question.study.search, error_score="raise"))
    with pytest.raises(FitFailed, match="error_score="):
        run_study(study, question.task, Running(jobs=2, backend="processes"))


def test_steps_left_unread_do_not_block_the_next_study(asked):
    """A caller that stops half-way leaves the shared workers usable."""
    question = asked(Where(), X, y, test=ho.KFold(8))
    work = work_of(question.study, question.task, {})
    steps = cut_brute_force(plan_brute_force(ready_panels(question.study, frozenset())))
    running = Processes(2, BackendSettings(), begin_inline=False).run(work, steps)
    next(running)
    running.close()
    assert len(list(Processes(2, BackendSettings(), begin_inline=False).run(work, steps))) == 8
