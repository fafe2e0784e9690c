"""How much memory there is, and how much a process holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from heldout.base.errors import OptionError

SHARE_KEPT = 4  # what kernels keep for later steps takes at most one part in so many of the machine's memory
_ASSUMED = 4 << 30  # where the system does not tell


@cache
def total_memory() -> int:
    """The machine's memory in bytes, or what the control group of this process leaves it."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        total = _ASSUMED
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _text(file)
        if text.isdigit():
            total = min(total, int(text))
    return total


def private_memory() -> Callable[[int], int]:
    """How to read the bytes that a process holds for itself, without what it maps together with others.

    Raises
    ------
    OptionError
        Where this system does not tell.
    """
    if sys.platform.startswith("linux"):
        return _from_proc
    if find_spec("psutil") is not None:
        return _from_psutil
    raise OptionError(
        f"fit_memory= needs psutil on {sys.platform}, which is not installed. Install it (pip install psutil), or "
        "leave fit_memory out."
    )


def _from_proc(pid: int) -> int:
    fields = _text(f"/proc/{pid}/statm").split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 2 else 0


def _from_psutil(pid: int) -> int:
    psutil = import_module("psutil")
    try:
        held = psutil.Process(pid).memory_info()
    except psutil.Error:
        return 0
    return int(getattr(held, "private", held.rss))


def held_by_me() -> int:
    """The private memory of this process; 0 where the system does not tell."""
    try:
        return private_memory()(os.getpid())
    except OptionError:
        return 0


def memory_kills() -> int | None:
    """How many processes this system has killed for memory since it started; None where it does not say."""
    for line in _text("/proc/vmstat").splitlines():
        name, _, value = line.partition(" ")
        if name == "oom_kill":
            return int(value)
    return None


def offer_to_be_killed_first() -> None:
    """Ask the system to end this process, and not its parent, when memory runs out."""
    try:
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    except OSError:
        return  # not Linux, or not allowed: then the system picks by size


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""
