"""Further learner families beside scikit-learn and the specialists that a user would pick instead, one file a family.

Run ``python -m benchmarks families``, or name rows: ``python -m benchmarks.families bayes lasso``. How both sides are
measured: :mod:`benchmarks.table`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from benchmarks.table import Row, print_table


def all_rows() -> dict[str, Callable[[], Row]]:
    """The rows of every file here, each a function that makes its data when it is measured."""
    found: dict[str, Callable[[], Row]] = {}
    for module in sorted(one.name for one in iter_modules(__path__) if not one.name.startswith("_")):
        found |= import_module(f"benchmarks.families.{module}").ROWS
    return found


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    print(__doc__)
    print_table(all_rows(), sys.argv[1:])
