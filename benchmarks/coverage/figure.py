"""The figure of docs/intervals.md: every cell of the grid at its coverage, a line a loss."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.coverage.page import mean, named
from benchmarks.coverage.tally import LEAST, LEVEL, NONE, Cell

FLOOR = 0.80  # cells that cover less stand at the left edge
INK, QUIET, WARNED, GRID = "#1b2a3a", "#2b6cb0", "#b7791f", "#c9d3de"


def draw_coverage(cells: Sequence[Cell], path: Path) -> None:
    """Write the figure: a dot a cell, hollow where a warning tells of it; mean coverage and width beside."""
    known = [cell for cell in cells if cell.is_default and cell.verdict != NONE]
    losses = sorted(
        {cell.loss for cell in known}, key=lambda loss: -sum(cell.loss == loss for cell in known), reverse=True
    )
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "heldout", "font.family": "sans-serif"}):
        figure = Figure(figsize=(9, 0.42 * len(losses) + 1.5), layout="constrained")
        axes = figure.subplots()
        spread = np.random.default_rng(0)
        for place, loss in enumerate(losses):
            own = [cell for cell in known if cell.loss == loss]
            for warned in (False, True):
                some = [max(cell.coverage, FLOOR) for cell in own if cell.warned_of == warned]
                axes.scatter(
                    some,
                    place + spread.uniform(-0.27, 0.27, len(some)),
                    s=14,
                    linewidths=0.9,
                    edgecolors=WARNED if warned else QUIET,
                    facecolors="none" if warned else QUIET,
                    alpha=0.75,
                )
            quiet = [cell for cell in own if not cell.warned_of]
            told = f"{mean(cell.coverage for cell in quiet):.3f}   {mean(cell.width for cell in quiet):.2f}"
            axes.text(1.006, place, told, va="center", fontsize=9, color=INK)
        axes.text(1.006, len(losses) - 0.35, "mean    width", va="bottom", fontsize=9, color=INK)
        axes.axvline(LEVEL, color=INK, linewidth=1)
        axes.axvline(LEAST, color=INK, linewidth=1, linestyle=":")
        axes.set_yticks(range(len(losses)), [named(loss) for loss in losses])
        axes.set_xlim(FLOOR - 0.005, 1.004)
        axes.set_ylim(-0.6, len(losses) - 0.4)
        axes.set_xlabel("share of studies whose 95 % interval holds the truth (filled: no warning; hollow: warned of)")
        axes.grid(axis="x", color=GRID, linewidth=0.5)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
