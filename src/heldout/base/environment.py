"""The software and machine that numbers depend on, and which modules belong to installed libraries."""

from __future__ import annotations

import platform
import sys
import sysconfig
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path


@cache  # reading the metadata of four packages takes longer than a small study
def _builds() -> tuple[tuple[str, str], ...]:
    names = ("heldout", "scikit-learn", "numpy", "scipy")
    return (("python", platform.python_version()), ("machine", platform.machine()), *((n, version(n)) for n in names))


def environment() -> dict[str, str]:
    """Return the software versions and machine type that numbers depend on."""
    return dict(_builds())


@cache
def _library_folders() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys(Path(paths[name]).resolve() for name in names if name in paths))


@cache
def is_library(module: str) -> bool:
    """Return whether a module was installed, rather than written by the user next to the study."""
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top in sys.stdlib_module_names or top == "heldout":
        return True
    if module == "__main__" or module not in sys.modules:
        return False
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return not hasattr(sys.modules[module], "__path__") and top in sys.modules
    path = Path(file).resolve()
    return any(part in ("site-packages", "dist-packages") for part in path.parts) or any(
        folder in path.parents for folder in _library_folders()
    )


_distributions = cache(packages_distributions)


@cache
def library_version(module: str) -> tuple[str, str] | None:
    """Return the name and version of a module's library; None for the standard library, which has Python's version."""
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return None
    names = {"sklearn": "scikit-learn"}.get(top) or next(iter(_distributions().get(top, ())), top)
    try:
        return names, version(names)
    except PackageNotFoundError:
        return names, str(getattr(sys.modules.get(top), "__version__", "unknown"))
