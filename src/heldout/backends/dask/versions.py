"""What must be the same on every worker as here, or the numbers would not be: libraries by their versions."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from heldout.base.errors import BackendError

if TYPE_CHECKING:
    from distributed import Client

ALWAYS = ("heldout", "scikit-learn", "numpy", "scipy")
# Where this process has loaded them, they hold the data or fit the learner.
IF_LOADED = ("pandas", "polars", "lightgbm", "xgboost", "catboost")
OTHER_NAMES = {"xgboost": ("xgboost-cpu",), "polars": ("polars-lts-cpu",)}  # distributions that bring the same module


def versions_here() -> dict[str, str]:
    """The versions that a worker must share with this process, by name.

    What was loaded but not installed, a module of the user's or a stand-in, has no version that could be asked for.
    """
    found = _version_reader([*ALWAYS, *(name for name in IF_LOADED if name in sys.modules)])()
    return {name: version for name, version in found.items() if version}


def check_workers(client: Client, *, arithmetic: bool = True) -> None:
    """Refuse a cluster whose workers run other versions than this process, naming what differs.

    Another processor or BLAS is not refused, since only last bits may differ by it; it is told in a warning.
    """
    here = versions_here()
    # The function travels by value: a worker without heldout can answer too.
    found = client.run(_version_reader(list(here)), on_error="return")
    problems = [f"{worker} {words}" for worker, there in sorted(found.items()) if (words := _differences(here, there))]
    if problems:
        raise BackendError(
            f"The Dask workers differ from this process ({_listed(here)}), so their numbers could too: "
            f"{'; '.join(problems)}. Install the same versions there."
        )
    if arithmetic:
        compare_arithmetic(client)


@cache
def check_versions_of_client(wanted: frozenset[tuple[str, str]]) -> None:
    """On a worker: refuse work of a client with other versions. Workers that join late are checked by this alone."""
    asked = dict(wanted)
    words = _differences(asked, _version_reader(list(asked))())
    if words:
        raise BackendError(
            f"A Dask worker {words}, but the client runs {_listed(asked)}. Install the same versions there."
        )


def _differences(here: Mapping[str, str], there: Mapping[str, str] | BaseException) -> str:
    if isinstance(there, BaseException):
        return f"cannot say its versions ({type(there).__name__}: {there})"
    missing = [name for name in here if not there[name]]
    other = [f"{name} {there[name]}" for name in here if there[name] and there[name] != here[name]]
    words = [f"lacks {', '.join(missing)}"] if missing else []
    return " and ".join(words + ([f"has {', '.join(other)}"] if other else []))


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _version_reader(names: Sequence[str]) -> Callable[[], dict[str, str]]:
    """A function that needs nothing of heldout: it goes by value because it is defined within another."""
    asked = {name: (name, *OTHER_NAMES.get(name, ())) for name in names}

    def read() -> dict[str, str]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        for name, distributions in asked.items():
            for distribution in distributions if name not in found else ():
                try:
                    found[name] = version(distribution)
                    break
                except PackageNotFoundError:
                    found[name] = ""
        return found

    return read


def arithmetic_here() -> tuple[str, ...]:
    """Which BLAS compute in this process, and for which processor."""
    import scipy.linalg  # noqa: F401 (loads its BLAS)
    from threadpoolctl import threadpool_info

    libraries: list[dict[str, Any]] = threadpool_info()
    blas = [one for one in libraries if one["user_api"] == "blas"]
    return tuple(
        sorted({f"{one['internal_api']} {one['version']} for {one.get('architecture', 'any')}" for one in blas})
    )


def compare_arithmetic(client: Client) -> None:
    """Warn where workers compute with another BLAS or processor than this process."""
    here = arithmetic_here()
    found = client.run(arithmetic_here, on_error="ignore")
    other = {worker: there for worker, there in found.items() if there != here}
    if other:
        worker, there = min(other.items())
        warnings.warn(
            f"{len(other)} of {len(found)} Dask workers compute with another BLAS or processor than this process, so "
            f"last bits may differ from a local run: {worker} has {', '.join(there)}; here it is {', '.join(here)}.",
            stacklevel=2,
        )
