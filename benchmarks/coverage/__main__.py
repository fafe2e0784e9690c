"""``python -m benchmarks.coverage``: prints the tables and writes them to docs/coverage.md.

``--share 0.1`` takes a tenth of the replications; ``--only ols,null`` takes some settings or tables, of which there are
also "null", "compare" and "ledger". In both cases nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.coverage import exchangeable, ledger, null, page
from benchmarks.coverage.cover import cover
from benchmarks.coverage.settings import SETTINGS
from benchmarks.coverage.tally import Row

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
NULLS, PAIRS, ATTACKS = 300, 1000, 100
EVERYTHING = ",".join((*SETTINGS, "null", "compare", "ledger"))


def main(arguments: list[str]) -> int:
    """Print everything; the exit status is 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default=EVERYTHING)
    asked = parser.parse_args(arguments)
    only, share, began = asked.only.split(","), asked.share, perf_counter()
    rows, refused = cover([key for key in only if key in SETTINGS], share)
    biases = null.table(round(share * NULLS)) if "null" in only else []
    rejections = exchangeable.table(round(share * PAIRS)) if "compare" in only else []
    looks = ledger.rows(round(share * ATTACKS)) if "ledger" in only else []
    summary, verdicts = page.defaults(rows)
    broken = [said for said in verdicts if said.startswith("FAILS")]
    broken += [row.verdict for row in (*biases, *rejections) if row.verdict.startswith("FAILS")]
    broken += [row.verdict for row in looks if row.verdict == "fails"]
    counts = f"{verdicts.count('covers')} defaults cover, {verdicts.count('warned')} do not and warn"
    blocks = [
        page.INTRODUCTION,
        "## Summary",
        f"{counts}, {len(broken)} promises are broken. {perf_counter() - began:.0f} seconds on two cores.",
        "## The defaults",
        page.settings_words(rows),
        summary,
        "## Limits",
        page.LIMITS,
        page.defaults(rows, limit=True)[0],
        "## Null data: labels independent of the features",
        page.null_table(biases),
        "## `compare` on exchangeable learners",
        page.comparison_table(rejections),
        f"## The ledger: {ledger.TEST_ROWS} test rows attacked by a vote of random predictors",
        page.ledger_table(looks),
        "## Every method",
        *[f"### {SETTINGS[s].words}, loss `{loss}`\n\n{page.all_methods(rows, s, loss)}" for s, loss in _keys(rows)],
        "## Refused",
        page.refusals(refused),
    ]
    text = "\n\n".join(blocks) + "\n"
    print(text)
    if share == 1.0 and asked.only == EVERYTHING:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if broken else 0


def _keys(rows: list[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.setting, row.loss) for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
