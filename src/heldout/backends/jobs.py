"""How many workers this process may use, so that studies inside studies do not multiply them."""

from __future__ import annotations

import multiprocessing
import operator
import os
import sys

import joblib
from joblib.parallel import SequentialBackend, get_active_backend

from heldout.base.errors import Argument, OptionError, Sentence

WORKER_MARK = "HELDOUT_WORKER"

# WaitForMultipleObjects takes at most 64 handles.
_MOST_ON_WINDOWS = 60


def allowed_jobs(requested: int | None) -> int:
    """The number of workers to use for a request of `requested`.

    Parameters
    ----------
    requested : int or None
        A count; negative counts from the number of CPUs as in joblib (-1: all, -2: all but one); None: all CPUs that
        this process may use (its affinity and its cgroup's limit are honoured).

    Returns
    -------
    int
        At least 1, and exactly 1 where another level already runs in parallel.

    Examples
    --------
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
    """Whether another level shares the CPUs out: a heldout worker, a joblib or multiprocessing child, `one_thread`."""
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
