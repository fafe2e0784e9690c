"""Writes a table of a report as Markdown or LaTeX, to paste into a README or a paper; names from data are escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heldout.report.blocks import Table
from heldout.report.comparison import leaders_table
from heldout.report.first_screen import metrics_table
from heldout.report.show import plain_text
from heldout.report.words import one_line

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|$~#])")
_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def main_table(summary: Mapping[str, Any]) -> Table:
    """Return the scores of a result beside no model; of a comparison, the learners against the best."""
    return metrics_table(summary["metrics"], alone=True) if "metrics" in summary else leaders_table(summary)


def as_markdown(table: Table) -> str:
    """Return a table as Markdown.

    >>> print(as_markdown(Table(title="", head=("learner", "RMSE"), rows=(("a_b|c", 2.5),))))
    | learner | RMSE |
    | :-- | --: |
    | a\\_b\\|c | 2.5 |
    """
    places = table.columns()
    rule = ["--:" if numeric else ":--" for numeric in places.values()]
    rows = [[_MARKDOWN.sub(r"\\\1", cell.replace("&", "&amp;")) for cell in row] for row in _rows(table)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def as_latex(table: Table) -> str:
    r"""Return a table as a LaTeX tabular, which needs no package.

    >>> print(as_latex(Table(title="", head=("learner", "RMSE"), rows=(("a_b & 5%", 2.5),))))
    \begin{tabular}{lr}
    \hline
    learner & RMSE \\
    \hline
    a\_b \& 5\% & 2.5 \\
    \hline
    \end{tabular}
    """
    kinds = "".join("r" if numeric else "l" for numeric in table.columns().values())
    head, *rows = (" & ".join("".join(_LATEX.get(mark, mark) for mark in cell) for cell in row) for row in _rows(table))
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\hline", rf"{head} \\", r"\hline"]
    return "\n".join([*lines, *(rf"{row} \\" for row in rows), r"\hline", r"\end{tabular}"])


def _rows(table: Table) -> list[list[str]]:
    """Return the head and all rows as plain texts on one line each, without the columns that are empty."""
    rows = [[one_line(name) for name in table.head], *([plain_text(cell) for cell in row] for row in table.rows)]
    return [[row[place] for place in table.columns()] for row in rows]
