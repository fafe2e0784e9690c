"""Limits of a study: the number of worker processes, the time of a fit and of the whole study, and memory."""

from __future__ import annotations

import multiprocessing
import operator
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

import joblib
import psutil
from joblib.parallel import SequentialBackend, get_active_backend

from heldout.base.errors import Argument, OptionError, Sentence
from heldout.base.options import Options

WORKER_MARK = "HELDOUT_WORKER"  # environment variable of worker processes: the folder of their files
TRACES = "traces"  # file in that folder: where a worker was when it ended
PRELOAD = "HELDOUT_PRELOAD"  # environment variable of theirs: the modules to import before the first task
SHARE_KEPT = 4  # what kernels keep for later steps takes at most one part in so many of the machine's memory
USE_INLINE = Sentence("Use {} (inline).", Argument("jobs", 1))  # the way out of most trouble with workers
_MOST_ON_WINDOWS = 60  # WaitForMultipleObjects takes at most 64 handles


class OutOfTime(Exception):
    """The time limit of the study has passed. The engine always catches this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The resources that a run may use. None is no limit."""

    fit_seconds: float | None = None
    fit_bytes: int | None = None
    deadline: float | None = None  # on the monotonic clock

    @property
    def of_fits(self) -> bool:
        """Whether single fits are limited, which needs a worker process that can be ended."""
        return self.fit_seconds is not None or self.fit_bytes is not None

    def time_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - monotonic()

    def check_time(self) -> None:
        if self.time_left() <= 0:
            raise OutOfTime


NO_LIMITS = Limits()


def limits_of(options: Options, *, deadline: float | None = None) -> Limits:
    """Return the limits that the options set."""
    assert options.fit_memory is None or isinstance(options.fit_memory, int), "Options reads texts"
    return Limits(fit_seconds=options.fit_timeout, fit_bytes=options.fit_memory, deadline=deadline)


def allowed_jobs(requested: int | None) -> int:
    """Return the number of workers for a request of `requested`; 1 if another level already runs in parallel.

    Negative numbers count from the number of CPUs as in joblib (-1: all, -2: all but one). None stands for all CPUs
    that this process may use (its affinity and its cgroup's limit are honoured).

    >>> allowed_jobs(1)
    1
    >>> allowed_jobs(0)
    Traceback (most recent call last):
    ...
    heldout.base.errors.OptionError: jobs=0 is no number of workers. Pass a count from 1, -1 for all CPUs, or None.
    """
    wanted = _whole_number(requested)
    if already_parallel():
        return 1
    if wanted is not None and wanted > 0:
        jobs = wanted  # CPUs are not counted, which takes a look at several files
    else:
        cpus = int(joblib.cpu_count())
        jobs = cpus if wanted is None else max(1, cpus + 1 + wanted)
    return min(jobs, _MOST_ON_WINDOWS) if sys.platform == "win32" else jobs


def already_parallel() -> bool:
    """Return whether an outer level divides the CPUs already: a heldout, joblib or other worker, or `one_thread`."""
    if os.environ.get(WORKER_MARK) or multiprocessing.parent_process() is not None:
        return True
    backend = get_active_backend()[0]
    return isinstance(backend, SequentialBackend) or bool(backend.nesting_level)


def _whole_number(requested: int | None) -> int | None:
    if requested is None:
        return None
    try:
        number = None if isinstance(requested, bool) else operator.index(requested)
    except TypeError:
        number = None
    if not number:
        raise OptionError(
            Sentence("{} is no number of workers.", Argument("jobs", requested)),
            "Pass a count from 1, -1 for all CPUs, or None.",
        )
    return number


@cache
def total_memory() -> int:
    """Return the machine's memory in bytes, or the limit of this process's control group if that is lower."""
    total = int(psutil.virtual_memory().total)
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _text(file)
        if text.isdigit():
            total = min(total, int(text))
    return total


def private_memory(pid: int) -> int:
    """Return a process's private memory in bytes, without memory that it shares with others; 0 once it has ended."""
    try:
        held = psutil.Process(pid).memory_info()
    except psutil.Error:
        return 0
    return int(getattr(held, "private", held.rss - getattr(held, "shared", 0)))


def memory_kills() -> int | None:
    """Return how many processes this system has killed for memory since it started; None if it does not say."""
    counts = dict(line.partition(" ")[::2] for line in _text("/proc/vmstat").splitlines())
    return int(counts["oom_kill"]) if "oom_kill" in counts else None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""
