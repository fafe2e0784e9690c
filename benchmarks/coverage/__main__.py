"""``python -m benchmarks.coverage``: simulates, judges, and writes docs/coverage.md.

Simulated studies are kept in .coverage-cache, or in the folder named by HELDOUT_COVERAGE, so that an interrupted run
goes on and rules can be judged again without fits. HELDOUT_PROCESSES is how many processes work, 2 unless it is set.

``--only OLS logistic`` takes the settings whose names contain one of these words; the tables "null", "compare",
"power" and "ledger" can be named too. ``--losses squared roc_auc`` shows some losses. ``--share 0.1`` takes a tenth of
the replications. ``--judge`` simulates nothing, and judges the defaults alone. In all four cases nothing is written.
``--fresh`` simulates again what is there. ``--second`` takes the second grid and writes docs/coverage-second.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.coverage import compare_power, exchangeable, ledger, null, page
from benchmarks.coverage.figure import draw_coverage
from benchmarks.coverage.judge import judge
from benchmarks.coverage.settings import Setting, grid
from benchmarks.coverage.simulate import seconds_taken, simulate
from benchmarks.coverage.tally import COVERS, FAILS, NONE, WARNED, Cell
from benchmarks.coverage.truth import find_truths

DOCS = Path(__file__).parents[2] / "docs"
REPLICATIONS, AGAIN = 200, 1000  # a cell; a doubtful cell
NULLS, PAIRS, ATTACKS = 300, 1000, 100
TABLES = ("null", "compare", "power", "ledger")
VERDICTS = (COVERS, WARNED, FAILS, NONE)
WORST = 25  # cells shown first
POWER = """How often two learners are called different at 5 %. Where they are equally good that is the *size*, which
should be at most .05; elsewhere it is the *power*. *t over folds* was the default before, *paired rows* (κ 1.3) is
the default now. *Covers* is how often the interval of paired rows holds the expected difference, which is what it is
for; *covers the fits*, how often it holds the difference of the very predictors that were compared."""


def main(arguments: list[str]) -> int:
    """Print everything; the exit status is 1 where a promise is broken."""
    asked = _parser().parse_args(arguments)
    words, began = asked.only, perf_counter()
    settings = [
        setting
        for setting in grid(asked.second).values()
        if not words or any(word in setting.key for word in words if word not in TABLES)
    ]
    partial = bool(words or asked.losses or asked.judge) or asked.share < 1
    cells = _cells(asked, settings, every_method=not partial)
    if asked.losses:
        cells = [cell for cell in cells if cell.loss in asked.losses]
    blocks, broken = _blocks(cells, settings)
    everything = () if asked.second or asked.judge else TABLES
    for name in [word for word in words if word in TABLES] if words else everything:
        block, wrong = _table(name, asked.share)
        blocks += block
        broken += wrong
    counts = [f"{sum(cell.verdict == said for cell in cells if cell.is_default)} {said}" for said in VERDICTS]
    text = "\n\n".join(
        [
            "# How often the intervals cover" + (": the second grid" if asked.second else ""),
            page.introduction(cells, "make coverage-second" if asked.second else "make coverage"),
            f"Cells of defaults: {', '.join(counts)}. {len(broken)} promises are broken. This run took "
            f"{(perf_counter() - began) / 60:.0f} minutes.",
            "\n".join(f"- {words}" for words in broken),
            *blocks,
        ]
    )
    print(text)
    if not partial:
        name = "coverage-second" if asked.second else "coverage"
        (DOCS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
        draw_coverage(cells, DOCS / f"{name}.svg")
    return 1 if broken else 0


def _cells(asked: argparse.Namespace, settings: list[Setting], *, every_method: bool) -> list[Cell]:
    """Simulate what is missing, and judge; doubtful cells are simulated and judged again."""
    pairs = {(setting.key, recipe): setting.losses_under(recipe) for setting in settings for recipe in setting.recipes}
    if asked.judge:
        return judge(pairs, AGAIN, second=asked.second)  # by all that is there
    count, again = max(2, round(asked.share * REPLICATIONS)), round(asked.share * asked.again)
    find_truths(list(pairs), second=asked.second, fresh=asked.fresh)
    simulate(pairs, count, second=asked.second, fresh=asked.fresh)
    cells = judge(pairs, count, second=asked.second, every_method=every_method)
    doubtful: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if asked.again and cell.is_default and cell.doubtful:
            doubtful.setdefault((cell.setting, cell.recipe), []).append(cell.loss)
    if doubtful:
        simulate(doubtful, again, second=asked.second)
        judged_again = judge(doubtful, again, second=asked.second, every_method=every_method)
        sure = [cell for cell in cells if cell.loss not in doubtful.get((cell.setting, cell.recipe), ())]
        cells = sure + judged_again
    return cells


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of settings, or tables")
    parser.add_argument("--losses", nargs="*", default=[], help="losses to show")
    parser.add_argument("--share", type=float, default=1.0, help="of the replications")
    parser.add_argument("--judge", action="store_true", help="simulate nothing")
    parser.add_argument("--fresh", action="store_true", help="simulate again what is there")
    parser.add_argument("--again", type=int, default=AGAIN, help="replications of doubtful cells; 0: as they are")
    parser.add_argument("--second", action="store_true", help="the second grid")
    return parser


def _blocks(cells: list[Cell], settings: list[Setting]) -> tuple[list[str], list[str]]:
    """The blocks of the grid, and the promises that are broken."""
    defaults = page.defaults_of(cells)
    lines, broken = page.summary(defaults)
    seconds = {}
    for setting in settings:
        taken = [seconds_taken(setting, recipe) for recipe in setting.recipes]
        seconds[setting.key] = (max(count for count, _ in taken), sum(spent for _, spent in taken))
    blocks = [
        "## The worst cells",
        page.cells_table(defaults[:WORST]),
        "## By loss",
        "Means are over cells that are not warned of.",
        lines,
        "## By recipe",
        "Mean coverage, smallest coverage and mean width of cells that are not warned of.",
        page.by_recipe(defaults),
        "## What is shown to cover too seldom",
        page.dishonest(defaults),
        "## The other cells",
        page.cells_table(defaults[WORST:]),
    ]
    if len(cells) > len(defaults):
        blocks += ["## Every method", page.by_method(cells)]
    return [*blocks, "## Settings", page.settings_table(settings, seconds)], broken


def _table(name: str, share: float) -> tuple[list[str], list[str]]:
    """One of the other tables, and what is broken in it."""
    if name == "ledger":
        looks = ledger.rows(round(share * ATTACKS))
        head = f"## The ledger: {ledger.TEST_ROWS} test rows attacked by a vote of random predictors"
        return [head, page.ledger_table(looks)], [f"ledger: {row.answer}" for row in looks if row.verdict == "fails"]
    if name == "null":
        biases = null.table(round(share * NULLS))
        head, table, rows = "## Null data: labels independent of the features", page.null_table(biases), biases
        return [head, table], [f"null data: {row.words}" for row in rows if row.verdict.startswith("FAILS")]
    if name == "power":
        head, rows = "## `compare`: size and power, before and after", compare_power.table(round(share * PAIRS / 2))
        return [head, POWER, page.grid(*compare_power.lines(rows))], []
    rejections = exchangeable.table(round(share * PAIRS))
    wrong = [f"compare: {row.recipe}, {row.method}" for row in rejections if row.verdict.startswith("FAILS")]
    return ["## `compare` on exchangeable learners", page.comparison_table(rejections)], wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
