"""The builds that numbers depend on: versions of Python and of the numeric libraries, and the kind of machine."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version


@cache  # reading the metadata of four packages takes longer than a small study
def _builds() -> tuple[tuple[str, str], ...]:
    names = ("heldout", "scikit-learn", "numpy", "scipy")
    return (("python", platform.python_version()), ("machine", platform.machine()), *((n, version(n)) for n in names))


def environment() -> dict[str, str]:
    """The builds that the numbers depend on."""
    return dict(_builds())
