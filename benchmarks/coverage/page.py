"""The page: tables in Markdown that read well in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.coverage.exchangeable import Rejections
from benchmarks.coverage.ledger import Row as Look
from benchmarks.coverage.null import Bias
from benchmarks.coverage.settings import Setting
from benchmarks.coverage.tally import COVERS, DOUBTFUL, FAILS, LEAST, NONE, OFTEN, SHOWN, WARNED, Cell

INTRODUCTION = f"""Made by `{{command}}`, from simulated data whose truth is known. All numbers here come from that run.

A *cell* is one loss in one setting (a learner, a population, a number of rows) under one recipe. Its *coverage* is the
share of simulated studies whose 95 % interval holds the truth: the expected risk (or score) at the training size of the
estimate, or, for one test set, that of the tested predictor. *Width* is the mean width of the interval over that of the
ideal one, ±1.96 standard deviations of the estimate. *Warns* is the share of studies in which a warning about the
interval fires. *Low* and *high* count the intervals that lie wholly below and above the truth.

A cell **covers** unless it is shown to cover less than {LEAST:.0%} (one-sided p < {SHOWN}). One that is shown to is
**warned** of where a warning fires in at least {OFTEN:.0%} of its studies, and **FAILS** otherwise. Cells that cover
less than {DOUBTFUL:.0%} are simulated again with more replications before they are judged. Truths are means over
400 training sets or more; their Monte-Carlo error is at most {{error:.0%}} of the standard deviation of an estimate."""

NAMES = {
    "zero_one": "0/1",
    "neg_brier_score": "Brier",
    "absolute": "absolute (MAE)",
    "roc_auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "f1_macro": "F1, macro",
    "matthews_corrcoef": "MCC",
    "r2": "R²",
    "neg_root_mean_squared_error": "RMSE",
    "neg_mean_poisson_deviance": "Poisson deviance",
    "neg_mean_gamma_deviance": "gamma deviance",
}
# At most so wide in the mean, over the ideal; and at most so many warnings where the default covers.
WIDEST = {"squared": 1.35, "neg_brier_score": 1.35, "r2": 1.35}
WIDE = 1.25
LEAST_IN_MEAN = 0.95
MOST_WARNINGS = {"zero_one": 0.10, "squared": 0.35}


def named(loss: str) -> str:
    """A loss or score as people call it."""
    return NAMES.get(loss, loss)


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with columns of even width."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(text)


def number(value: float, form: str = ".3f") -> str:
    """A number, or a dash where there is none."""
    return "–" if np.isnan(value) else format(value, form)


def mean(values: Iterable[float]) -> float:
    """The mean of what is known."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def introduction(cells: Sequence[Cell], command: str) -> str:
    """What the words of the page mean."""
    errors = [cell.truth_error for cell in cells if np.isfinite(cell.truth_error)]
    return INTRODUCTION.format(command=command, error=max(errors, default=0.0))


def defaults_of(cells: Sequence[Cell]) -> list[Cell]:
    """The intervals that a user gets unasked, where there are any; the worst first."""
    chosen = [cell for cell in cells if cell.is_default]
    return sorted(chosen, key=lambda cell: (cell.verdict == NONE, cell.coverage, cell.p_value))


def cells_table(cells: Sequence[Cell]) -> str:
    """Cells line by line."""
    head = ("setting", "recipe", "loss", "method", "studies", "covers", "low", "high", "width", "warns", "verdict")
    lines = [
        (
            cell.setting,
            cell.recipe,
            named(cell.loss),
            cell.method or "none",
            str(cell.studies) if cell.replications == cell.studies else f"{cell.replications} of {cell.studies}",
            number(cell.coverage),
            str(cell.below),
            str(cell.above),
            number(cell.width, ".2f"),
            f"{cell.warns:.0%}",
            cell.verdict,
        )
        for cell in cells
    ]
    return grid(head, lines)


def summary(cells: Sequence[Cell]) -> tuple[str, list[str]]:
    """One line a loss, over its cells that are not warned of; and the promises that are broken."""
    broken: list[str] = []
    lines = []
    for loss in dict.fromkeys(cell.loss for cell in cells):
        every = [cell for cell in cells if cell.loss == loss and cell.verdict != NONE]
        quiet = [cell for cell in every if not cell.warned_of]
        if not quiet:
            continue
        worst = min(quiet, key=lambda cell: cell.coverage)
        covers, width = mean(cell.coverage for cell in quiet), mean(cell.width for cell in quiet)
        needless = mean(cell.warns for cell in every if cell.verdict == COVERS)
        failing = [cell for cell in every if cell.verdict == FAILS]
        widest, most = WIDEST.get(loss, WIDE), MOST_WARNINGS.get(loss, 1.0)
        said = [
            (bool(failing), f"{len(failing)} cells fail"),
            (covers < LEAST_IN_MEAN, f"mean coverage {covers:.3f} < {LEAST_IN_MEAN}"),
            (width > widest, f"width {width:.2f} > {widest}"),
            (needless > most, f"warns in {needless:.0%} > {most:.0%} where it covers"),
        ]
        wrong = [words for is_wrong, words in said if is_wrong]
        broken += [f"{named(loss)}: {words}" for words in wrong]
        lines.append(
            (
                named(loss),
                f"{len(every)}",
                f"{len(every) - len(quiet)}",
                number(covers),
                f"{worst.coverage:.3f}: {worst.setting}, {worst.recipe}",
                number(width, ".2f"),
                number(needless, ".0%"),
                "; ".join(wrong) or "kept",
            )
        )
    head = ("loss", "cells", "warned of", "mean coverage", "worst not warned of", "width", "warns where it covers")
    return grid((*head, "promise"), lines), broken


def by_recipe(cells: Sequence[Cell]) -> str:
    """Mean coverage, smallest coverage and mean width, of cells that are not warned of: losses by recipes."""
    quiet = [cell for cell in cells if not cell.warned_of and cell.verdict != NONE]
    recipes, losses = (list(dict.fromkeys(getattr(cell, at) for cell in cells)) for at in ("recipe", "loss"))

    def entry(loss: str, recipe: str) -> str:
        found = [cell for cell in quiet if (cell.loss, cell.recipe) == (loss, recipe)]
        if not found:
            return ""
        covers = [cell.coverage for cell in found]
        return f"{mean(covers):.3f} {min(covers):.3f} {number(mean(cell.width for cell in found), '.2f')}"

    return grid(("loss", *recipes), [(named(loss), *(entry(loss, recipe) for recipe in recipes)) for loss in losses])


def by_method(cells: Sequence[Cell]) -> str:
    """Each method over all cells that it accepts, warned of or not, beside the default on the same cells."""

    def at(cell: Cell) -> tuple[str, str, str]:
        return cell.setting, cell.recipe.split(", bht")[0], cell.loss

    standard = {at(cell): cell for cell in cells if cell.is_default and cell.replications}
    others = [cell for cell in cells if not cell.is_default and cell.replications >= cell.studies / 2]
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in others:
        groups.setdefault((cell.loss, cell.method), []).append(cell)
    lines = []
    for (loss, method), found in sorted(groups.items()):
        beside = [standard[at(cell)] for cell in found if at(cell) in standard]
        lines.append((named(loss), method, str(len(found)), *_entries(found), *_entries(beside)))
    head = ("loss", "method", "cells", "mean", "worst", "width", "default: mean", "worst", "width")
    return grid(head, lines)


def _entries(cells: Sequence[Cell]) -> tuple[str, str, str]:
    covers = [cell.coverage for cell in cells]
    return (
        number(mean(covers)),
        number(min(covers, default=np.nan)),
        number(mean(cell.width for cell in cells), ".2f"),
    )


def dishonest(cells: Sequence[Cell]) -> str:
    """What is shown to cover too seldom, warned of or not, as a list."""
    found = [cell for cell in cells if cell.verdict in (WARNED, FAILS)]
    lines = []
    for cell in found:
        said = f"warned of in {cell.warns:.0%} of the studies"
        if cell.verdict == FAILS:
            missed = number(cell.misses_warned, ".0%")
            said = f"**not warned of** ({cell.warns:.0%} of the studies, {missed} of those that miss)"
        lines.append(f"- {cell.setting}, {cell.recipe}, {named(cell.loss)}: {cell.coverage:.3f}, {said}")
    return "\n".join(lines) or "No cell is shown to cover too seldom."


def settings_table(settings: Iterable[Setting], seconds: dict[str, tuple[int, float]]) -> str:
    """What each setting is, and how long a hundred of its studies took under all its recipes together."""
    lines = []
    for setting in settings:
        studies, taken = seconds[setting.key]
        lines.append(
            (
                setting.key,
                " ".join(repr(setting.learner).split())[:60],
                repr(setting.population),
                ", ".join(setting.recipes),
                number(100 * taken / studies if studies else np.nan, ".1f"),
            )
        )
    return grid(("setting", "learner", "population", "recipes", "seconds a hundred studies"), lines)


def null_table(rows: Sequence[Bias]) -> str:
    """The bias of each estimate on null data."""
    return grid(
        ("estimate", "bias", "verdict"),
        [(row.words, f"{row.bias:+.4f} ± {row.error:.4f}", row.verdict) for row in rows],
    )


def comparison_table(rows: Sequence[Rejections]) -> str:
    """How often exchangeable learners were called different."""
    head = ("recipe", "loss", "method", "pairs", "rejects", "verdict")
    lines = [
        (row.recipe, row.loss, row.method, str(row.pairs), f"{row.share:.3f} (.050 ± {row.error:.3f})", row.verdict)
        for row in rows
    ]
    return grid(head, lines)


def ledger_table(rows: Sequence[Look]) -> str:
    """What is left of a test set under attack."""
    head = ("answer", "looks", "seen", "plain covers", "stated covers", "width", "verdict")
    lines = [
        (
            row.answer,
            str(row.looks),
            f"{row.accuracy:.3f}",
            f"{row.plain_covers:.3f}",
            f"{row.covers:.3f}",
            f"{row.width:.3f}",
            row.verdict,
        )
        for row in rows
    ]
    return grid(head, lines)
