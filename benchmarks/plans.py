"""What `explain` says of the benchmark's studies, as a page: ``python -m benchmarks.plans > docs/plans.md``.

A table has every study. Below it stands one plan of each kind.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.accelerated import ROWS
from benchmarks.families import all_rows
from heldout.base.words import fit_words
from heldout.planner.account import Account

INSIDE_FITS = ("share_fits", "within")  # rules that share scikit-learn's own fits; all others are kernels


def main() -> None:
    """Print the page."""
    plans = {row.words: row.plan() for row in (build() for build in (ROWS | all_rows()).values())}
    print("# The plans of the benchmark's studies\n")
    print("Made by `python -m benchmarks.plans` from what `explain` says of each study of `make bench`.\n")
    print("| study | cells | fits | answered by | tier |\n| --- | ---: | --- | --- | --- |")
    for words, plan in plans.items():
        rules, tiers = (", then ".join(dict.fromkeys(found)) for found in _rules_and_tiers(plan))
        print(f"| {words} | {plan.cells:,} | {fit_words(plan.fits, plan.fits_before)} | {rules} | {tiers} |")
    print(
        "\nOne plan of each kind follows, with the rules that it uses. The plan of brute force is whole: it names every"
    )
    print("rule, and why the rule does not apply.\n")
    kinds: dict[object, tuple[str, Account]] = {}
    for words, plan in plans.items():
        kinds.setdefault(_kind(plan), (words, plan))
    for words, plan in kinds.values():
        used = tuple(one for one in plan.passes if one.used)
        print(f"## {words}\n\n```\n{replace(plan, passes=used or plan.passes)}\n```\n")


def _kind(plan: Account) -> object:
    """What tells a plan from others: how fits are shared or replaced, at which tier, and whether any are left."""
    used = {one.name if one.name in INSIDE_FITS else "kernel" for one in plan.passes if one.used}
    return frozenset(used), frozenset(line.tier for line in plan.lines), plan.fits == 0


def _rules_and_tiers(plan: Account) -> tuple[list[str], list[str]]:
    return [line.rule for line in plan.lines], [line.tier for line in plan.lines]


if __name__ == "__main__":
    main()
