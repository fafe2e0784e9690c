"""Catches warnings in several threads at once, and restores the program's filters after the last one is done.

Python's filters and its function to show warnings belong to the whole process. If two threads catch warnings, the one
that leaves last would restore what it found, which is the other thread's state.
"""

from __future__ import annotations

import os
import warnings
from threading import Lock
from typing import Any


class _Before:
    """Remembers the filters from before the first thread that now catches warnings."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset the state. A forked child calls this, since it has none of the threads that caught warnings."""
        self._lock = Lock()
        self._inside = 0
        self._filters: Any = None
        self._contents: list[Any] = []
        self._shown: dict[str, Any] = {}

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._filters, self._contents = warnings.filters, list(warnings.filters)
                self._shown = {name: getattr(warnings, name) for name in _SHOWING if hasattr(warnings, name)}
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            self._filters[:] = self._contents
            warnings.filters = self._filters
            for name, function in self._shown.items():
                setattr(warnings, name, function)
            if (mutated := getattr(warnings, "_filters_mutated", None)) is not None:
                mutated()  # what was shown once by other filters may be shown again


_SHOWING = ("showwarning", "_showwarnmsg_impl")
_before = _Before()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_before.forget)


class catch_warnings(warnings.catch_warnings):
    """Like Python's own ``catch_warnings``, but safe in several threads at once."""

    def __enter__(self) -> Any:
        _before.enter()
        return super().__enter__()

    def __exit__(self, *of_error: Any) -> None:
        try:
            super().__exit__(*of_error)
        finally:
            _before.leave()
