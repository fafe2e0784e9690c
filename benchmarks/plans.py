"""What `explain` says of each accelerated study, as a page: ``python -m benchmarks.plans > docs/plans.md``."""

from __future__ import annotations

from benchmarks.accelerated import ROWS
from benchmarks.families import all_rows


def main() -> None:
    """Print the page."""
    print("# The plans of the benchmark's studies\n")
    print("Made by `python -m benchmarks.plans`: what `explain` prints for each study of `make bench`.\n")
    for build in (ROWS | all_rows()).values():
        row = build()
        print(f"## {row.words}\n\n```\n{row.plan()}\n```\n")


if __name__ == "__main__":
    main()
