"""`python tests/golden/make.py` writes golden.json anew; with names of studies, these alone.

Run it only where a change of numbers is meant, and look at the difference that git shows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden import store, surface
from golden.compare import as_json
from golden.ground import STUDIES, Ground, Study
from golden.seen import seen
from golden.studies import __name__ as _entered  # noqa: F401

LIBRARIES = ("sklearn", "numpy", "scipy", "pandas", "pyarrow", "lightgbm", "xgboost")


def study_seen(study: Study, folder: Path, **how: Any) -> Any:
    """What is pinned of a study, as it comes back from the golden file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_json(seen(study.run(Ground(folder=folder, **how))))


def surface_seen(folder: Path) -> Iterator[tuple[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "signatures", as_json(surface.signatures())
        yield "options_of_commands", as_json(surface.options_of_commands())
        for name in ("exit_codes", "answers_of_commands"):
            place = folder / name
            place.mkdir()
            yield name, as_json(getattr(surface, name)(place))


def near_ties(told: Any, path: str = "") -> Iterator[str]:
    """Choices between two candidates whose means differ by rounding alone: their like must not be pinned."""
    if isinstance(told, dict):
        for key, value in told.items():
            if key == "near_ties" and value:
                yield path
            yield from near_ties(value, f"{path}.{key}")


def versions() -> dict[str, str]:
    return {name: import_module(name).__version__ for name in LIBRARIES}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="studies; all, and the surface, when left out")
    asked = parser.parse_args()
    golden = store.read() if asked.names else {"studies": {}}
    golden["made_with"] = versions()
    bad = []
    for name, study in STUDIES.items():
        if asked.names and name not in asked.names:
            continue
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            golden["studies"][name] = study_seen(study, Path(folder))
        bad += [f"{name}{path}" for path in near_ties(golden["studies"][name])]
        sys.stdout.write(f"{name}: {time.perf_counter() - started:.2f} s\n")
    if not asked.names:
        with tempfile.TemporaryDirectory() as folder:
            golden.update(surface_seen(Path(folder)))
    for place in bad:
        sys.stdout.write(f"NEAR TIE, change the data of this study: {place}\n")
    if not bad:
        store.write(golden)
        sys.stdout.write(f"{store.PATH}: {store.PATH.stat().st_size:,} bytes\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
