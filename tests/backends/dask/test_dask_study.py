"""Studies on a cluster: the numbers of a local run, bit for bit, and what comes of the fits that fail there."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from distributed import KilledWorker
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.backends import dask as dask_backend
from heldout.backends.base import BackendSettings
from heldout.backends.dask_worker import RemoteFile, Unseen
from heldout.backends.registry import open_backend
from heldout.base.errors import BackendError, FitFailed
from heldout.engine.run import Running, run_study, work_of
from heldout.kernels.step import cut_brute_force, plan_brute_force
from heldout.planner.plan import ready_panels

X, y = (part[:90] for part in load_diabetes(return_X_y=True))
NO_RULES = ho.Options(rules={"within": False})


class Where(RegressorMixin, BaseEstimator):
    """Predicts the number of the process that fitted it."""

    def fit(self, X: Any, y: Any) -> Where:
        self.pid_ = os.getpid()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), float(self.pid_))


class Deadly(Ridge):
    """Ends the process that fits it, or hangs, when told so."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Deadly:
        if self.alpha == 13.0:
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.alpha == 17.0:
            time.sleep(600)
        return super().fit(X, y)


class Endless(RegressorMixin, BaseEstimator):
    """Writes down which process fits it, and does not come to an end."""

    def __init__(self, place: str = "") -> None:
        self.place = place

    def fit(self, X: Any, y: Any) -> Endless:
        Path(self.place, str(os.getpid())).touch()
        time.sleep(600)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


class Holds(Ridge):
    """Holds what cannot travel."""

    def __init__(self, alpha: float = 1.0, tag: Any = None) -> None:
        super().__init__(alpha=alpha)
        self.tag = tag


def outcome_of(question: Any, backend: Any, **options: Any) -> Any:
    how = Running(jobs=1, backend=backend, options=ho.Options(rules={"within": False}, **options))
    return run_study(question.study, question.task, how)


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes agree to the last bit: every loss, every row, every response that was kept."""
    for key, table in one.tables.panels.items():
        there = other.tables[key]
        if not np.array_equal(table.losses, there.losses, equal_nan=True):
            return False
        for candidate in table.candidates:
            for part in table.parts:
                here = table.responses(candidate, part)
                if here is not None and not np.array_equal(here.predict, there.responses(candidate, part).predict):
                    return False
    return [choice.candidate for choice in one.study.chosen.values()] == [
        choice.candidate for choice in other.study.chosen.values()
    ]


def families() -> ho.Tuned:
    """Brute force, and two kernels that spread over threads where they may."""
    return ho.Tuned(
        {
            "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3]}),
            "ridge": (Ridge(), {"alpha": ho.log_grid(-2, 2, 5)}),
            "knn": (KNeighborsRegressor(), {"n_neighbors": [1, 3, 9]}),
        },
        validation=ho.KFold(3),
    )


def test_the_numbers_are_those_of_a_local_run_by_client_and_by_address(asked, client, address) -> None:
    question = asked(families(), X, y, test=ho.KFold(3))
    here = outcome_of(question, "inline")
    assert same(here, outcome_of(question, client))
    assert same(here, outcome_of(question, address))


def test_steps_that_spread_come_first_and_share_the_threads_of_the_cluster(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Ridge(), X, y, test=ho.KFold(4)))
    mixed = [replace(step, spreads=number == 2) for number, step in enumerate(steps)]
    submit, sent = dask_backend.DaskBackend.submit, []

    def noted(self: Any, data: Any, context: Any, batch: Any, *, threads: int) -> Any:
        sent.append((len(batch), batch[0].spreads, threads))
        return submit(self, data, context, batch, threads=threads)

    monkeypatch.setattr(dask_backend.DaskBackend, "submit", noted)
    with open_backend(client, BackendSettings()) as opened:
        answered = [step for step, _ in opened.run(work, mixed)]
    assert sent[0] == (1, True, 2)
    assert {(spreads, threads) for _, spreads, threads in sent[1:]} == {(False, 1)}
    assert answered[0] is mixed[2]
    assert {id(step) for step in answered} == {id(step) for step in mixed}


def test_fits_run_in_processes_of_their_own(asked, client) -> None:
    table = outcome_of(asked(Where(), X, y, test=ho.KFold(6)), client).tables["test"]
    pids = {int(table.responses(0, part).predict[0]) for part in table.parts}
    workers = set(client.run(os.getpid).values())
    assert pids.isdisjoint({os.getpid(), *workers})


def test_data_that_a_worker_does_not_see_are_sent(asked, client, monkeypatch) -> None:
    question = asked(families(), X, y, test=ho.KFold(3))
    original, unseen = RemoteFile.ref, []

    def blind(self: RemoteFile) -> Any:
        if not self._content:
            unseen.append(self)
            raise Unseen("A Dask worker does not see it.")
        return original(self)

    monkeypatch.setattr(RemoteFile, "ref", blind)
    assert same(outcome_of(question, "inline"), outcome_of(question, client))
    assert unseen


def test_data_that_nobody_can_load_end_the_study(asked, client, monkeypatch) -> None:
    def blind(self: RemoteFile) -> Any:
        raise Unseen("A Dask worker does not see it.")

    monkeypatch.setattr(RemoteFile, "ref", blind)
    with pytest.raises(BackendError, match="cannot load the data of the study: A Dask worker does not see it"):
        outcome_of(asked(Ridge(), X, y), client)


def test_nothing_is_left_on_the_cluster(asked, client) -> None:
    outcome_of(asked(families(), X, y), client)
    assert not keys_left(client)


def keys_left(client: Any) -> list[str]:
    """What the scheduler still knows, once it had the time to forget."""
    deadline = time.monotonic() + 60
    while True:
        found: list[str] = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


def test_a_crash_costs_its_own_fit_and_is_named_as_it_is_at_home(asked, client) -> None:
    learner = ho.Tuned(Deadly(), {"alpha": [1.0, 13.0, 2.0]}, validation=ho.Holdout(0.3))
    outcome = outcome_of(asked(learner, X, y, test=ho.Holdout(0.25)), client)
    ((panel, candidate, part, failure),) = outcome.tables.failures()
    assert (panel, candidate, part) == ("validation/0", 1, 0)
    assert failure.kind == "WorkerDied"
    assert "SIGSEGV" in failure.message
    assert outcome.tables["test/0"].complete
    assert [event.again for event in outcome.lost] == [True, False]


def test_a_fit_that_hangs_is_ended_at_its_limit(asked, client) -> None:
    learner = ho.Tuned(Deadly(), {"alpha": [1.0, 17.0]}, validation=ho.Holdout(0.3))
    outcome = outcome_of(asked(learner, X, y, test=ho.Holdout(0.25)), client, fit_timeout=3.0)
    ((_, candidate, _, failure),) = outcome.tables.failures()
    assert candidate == 1
    assert "limit of 3 s" in failure.message
    assert outcome.tables["test/0"].complete


def test_a_study_whose_time_is_up_returns_what_it_has_and_frees_the_workers(asked, client) -> None:
    learner = ho.Tuned(Deadly(), {"alpha": [1.0, 17.0]}, validation=ho.Holdout(0.3))
    started = time.monotonic()
    outcome = outcome_of(asked(learner, X, y, test=ho.Holdout(0.25)), client, timeout=3.0)
    assert time.monotonic() - started < 60, "the fit that hangs takes ten minutes"
    assert "time limit" in outcome.stopped
    assert not keys_left(client)
    assert outcome_of(asked(Ridge(), X, y), client).tables["test"].complete, (
        "no thread is taken up by the fit that hung"
    )


def test_error_score_raise_reaches_the_caller(asked, client) -> None:
    question = asked(ho.Tuned(Ridge(), {"alpha": ["wrong"]}, validation=ho.KFold(3)), X, y, test=ho.Holdout(0.25))
    study = replace(question.study, search=replace(question.study.search, error_score="raise"))
    with pytest.raises(FitFailed, match="error_score="):
        run_study(study, question.task, Running(backend=client))


def test_what_cannot_travel_is_named(asked, client) -> None:
    question = asked(Holds(tag=_Stuck()), X, y)
    with pytest.raises(BackendError, match=r"estimator\.tag: stuck here.*inline"):
        outcome_of(question, client)


class _Stuck:
    def __deepcopy__(self, memo: Any) -> _Stuck:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("stuck here")


def test_a_module_that_workers_lack_goes_along(asked, client, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine_alone.py").write_text(
        "from sklearn.linear_model import Ridge\n\n\ndef doubled(alpha):\n    return 2 * alpha\n\n\n"
        "class Mine(Ridge):\n    def fit(self, X, y):\n        self.alpha_used_ = doubled(self.alpha)\n"
        "        return super().fit(X, y)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import mine_alone

    question = asked(mine_alone.Mine(), X, y)
    here = outcome_of(question, "inline")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(tmp_path)])
    assert same(here, outcome_of(question, client))


def steps_of(question: Any) -> tuple[Any, list[Any]]:
    steps = list(cut_brute_force(plan_brute_force(ready_panels(question.study, frozenset()))))
    return work_of(question.study, question.task, {}, Running(jobs=1)), steps


def test_the_window_is_bounded_and_a_caller_that_stops_leaves_nothing(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Where(), X, y, test=ho.Resample(60)))
    most: list[int] = []
    feed = dask_backend.InFlight.feed

    def counted(self: Any) -> None:
        feed(self)
        most.append(len(self._in_flight))

    monkeypatch.setattr(dask_backend.InFlight, "feed", counted)
    with open_backend(client, BackendSettings()) as opened:
        running = opened.run(work, steps)
        next(running)
        running.close()
        assert max(most) == 2 * dask_backend.IN_FLIGHT
        assert len(list(opened.run(work, steps))) == 60
    assert max(most) == 2 * dask_backend.IN_FLIGHT
    assert not keys_left(client)


def test_the_journal_of_a_study_on_a_cluster_is_that_of_any_other(client, tmp_path: Path) -> None:
    learner = ho.Tuned(DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3]})
    journal = tmp_path / "study.db"
    there = ho.evaluate(learner, X, y, backend=client, journal=journal)
    here = ho.evaluate(learner, X, y, jobs=1, journal=journal)
    assert here.risk == there.risk
    assert here.journal.computed == 0


def test_fits_that_nobody_waits_for_are_ended(asked, client, tmp_path: Path) -> None:
    work, steps = steps_of(asked(Endless(str(tmp_path)), X, y, test=ho.KFold(6)))

    def interrupt() -> None:
        begun = time.monotonic()
        while not os.listdir(tmp_path) and time.monotonic() < begun + 120:
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    with open_backend(client, BackendSettings()) as opened, pytest.raises(KeyboardInterrupt):
        list(opened.run(work, steps))
    watcher.join()
    pids = [int(name) for name in os.listdir(tmp_path)]
    deadline = time.monotonic() + 60
    while any(psutil.pid_exists(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert outcome_of(asked(Ridge(), X, y), client).tables["test"].complete


class FakeFuture:
    """A future that has ended so."""

    def __init__(self, key: str, error: BaseException) -> None:
        self.key, self._error = key, error

    def add_done_callback(self, function: Any) -> None:
        function(self)

    def result(self, timeout: float) -> Any:
        raise self._error

    def release(self) -> None:
        pass


def killed(key: str) -> KilledWorker:
    return KilledWorker(key, type("Worker", (), {"address": "tcp://there:1"})(), 3)


def test_a_poison_step_is_tried_alone_and_then_blamed_by_name(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Ridge(), X, y, test=ho.KFold(6)))
    submit, alone = dask_backend.DaskBackend.submit, []

    def poisoned(self: Any, data: Any, context: Any, batch: Any, *, threads: int) -> Any:
        if steps[2] in batch:
            key = f"poison-{threading.get_ident()}-{len(alone)}"
            alone.append(len(batch))
            return FakeFuture(key, killed(key))
        return submit(self, data, context, batch, threads=threads)

    monkeypatch.setattr(dask_backend.DaskBackend, "submit", poisoned)
    with open_backend(client, BackendSettings()) as opened:
        answered = list(opened.run(work, steps))
    assert len(answered) == 6
    assert alone[-1] == 1
    assert len(alone) == 2
    failed = next(answers for step, answers in answered if step is steps[2])
    failures = [failure for answer in failed for failure in answer.failures.values()]
    assert {failure.kind for failure in failures} == {"KilledWorker"}
    assert "died, also when it ran alone: 4 of them, the last was tcp://there:1" in failures[0].message
    assert not any(answer.failures for step, answers in answered if step is not steps[2] for answer in answers)


def test_a_load_that_killed_workers_is_done_again_and_blames_no_step(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Ridge(), X, y, test=ho.KFold(4)))
    submit, lost = dask_backend.DaskBackend.submit, []

    def unlucky(self: Any, data: Any, context: Any, batch: Any, *, threads: int) -> Any:
        if not lost or data.key == lost[0]:
            lost.append(data.key)
            return FakeFuture(f"unlucky-{len(lost)}", killed(data.key))
        return submit(self, data, context, batch, threads=threads)

    monkeypatch.setattr(dask_backend.DaskBackend, "submit", unlucky)
    with open_backend(client, BackendSettings()) as opened:
        answered = list(opened.run(work, steps))
        assert opened.sendings == 2, "all that waited for the first sending are served by the second"
    assert len(lost) == 4
    assert len(answered) == 4
    assert not any(answer.failures for _, answers in answered for answer in answers)


def test_a_worker_without_our_package_is_told_what_to_install(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Ridge(), X, y, test=ho.KFold(4)))
    lacks = ModuleNotFoundError("No module named 'heldout'")
    monkeypatch.setattr(dask_backend.DaskBackend, "submit", lambda *_, **__: FakeFuture("lacks", lacks))
    with (
        open_backend(client, BackendSettings()) as opened,
        pytest.raises(BackendError, match=r"No module named 'heldout'\. Install the versions .* heldout \d"),
    ):
        list(opened.run(work, steps))


def test_a_cluster_that_loses_all_workers_is_given_up(asked, client, monkeypatch) -> None:
    work, steps = steps_of(asked(Ridge(), X, y, test=ho.KFold(4)))
    monkeypatch.setattr(dask_backend, "threads_by_worker", lambda client: {})
    monkeypatch.setattr(dask_backend, "NO_WORKERS_SECONDS", -1.0)
    with (
        open_backend(client, BackendSettings()) as opened,
        pytest.raises(BackendError, match=r"has had no workers.*journal=…"),
    ):
        list(opened.run(work, steps))
