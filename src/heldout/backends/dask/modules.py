"""Code of the user that workers cannot import: it travels by value, or the packages to install are named."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.base.errors import BackendError

if TYPE_CHECKING:
    from distributed import Client


def lacking_here(packages: Iterable[str]) -> list[str]:
    """Which of these packages this process cannot import."""
    return [name for name in packages if name not in sys.modules and find_spec(name) is None]


def lacking_anywhere(client: Client, packages: frozenset[str]) -> frozenset[str]:
    """Which of these packages some worker cannot import and must be sent; one that was installed here is refused."""
    found = client.run(lacking_here, sorted(packages), on_error="return")
    lacking: set[str] = set()
    for worker, names in sorted(found.items()):
        if isinstance(names, BaseException):
            raise BackendError(f"The Dask worker {worker} cannot run heldout: {type(names).__name__}: {names}.")
        to_install = [name for name in names if _installed(name)]
        if to_install:
            raise BackendError(f"The Dask worker {worker} lacks {', '.join(to_install)}. Install the same there.")
        lacking.update(names)
    return frozenset(lacking)


def _installed(package: str) -> bool:
    """Whether a package came by an installer, as opposed to a script's own modules beside it."""
    module = sys.modules[package]
    file = getattr(module, "__file__", None)
    if file is None:
        return package in sys.builtin_module_names
    homes = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}
    return any(Path(file).resolve().is_relative_to(home) for home in homes)
