"""`make exactness`: every rule and kernel against brute force, on generated studies, with a table of what was seen."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from compare import Comparison, compare  # noqa: E402


def main() -> int:
    """Run the study modules named, or all; exit 1 when a study passes its tier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="study modules, such as within or ridge; all when left out")
    parser.add_argument("--only", default="", help="studies whose label contains this")
    asked = parser.parse_args()
    failed = 0
    for path in sorted(HERE.glob("*_studies.py")):
        name = path.stem.removesuffix("_studies")
        if not asked.names or name in asked.names:
            failed += _run_module(name, _load(path), asked.only)
    sys.stdout.write(f"{failed} failed\n")
    return 1 if failed else 0


def _run_module(name: str, module: ModuleType, only: str) -> int:
    found: list[Comparison] = []
    for label, build in module.studies():
        if only in label:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(_compared(module, label, build))
    used = [one for one in found if one.used]
    bad = [one for one in found if not one.passed]
    worst = max((one.difference for one in found), default=0.0)
    sys.stdout.write(
        f"{name}: rule {module.RULE}, tier {module.TIER}: {len(found)} studies, rule used in {len(used)}, "
        f"largest difference {worst:.2g}, {len(bad)} past the tier\n"
    )
    for reason, times in Counter(reason for one in found for reason in one.refusals).most_common():
        sys.stdout.write(f"    refused {times}×: {reason}\n")
    for one in bad:
        choices = "" if one.same_choices else ", choices differ"
        sys.stdout.write(f"    FAILED {one.label}: {one.difference:.3g} (allowed {one.allowed:.3g}){choices}\n")
    sys.stdout.flush()
    return len(bad)


def _compared(module: ModuleType, label: str, build: Callable[[], Any]) -> Comparison:
    """By responses, choices and validation losses; a module of the tier `solver` compares objectives itself."""
    if hasattr(module, "check"):
        own: Comparison = module.check(label, build)
        return own
    return compare(label, build, module.RULE, module.TIER, getattr(module, "reference", None))


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
