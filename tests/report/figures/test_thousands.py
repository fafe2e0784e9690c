"""Numbers of four digits and more are written alike in figures and on the page around them: 3,037."""

from __future__ import annotations

import re

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.report.figures.catalogue import KINDS, TOGETHER
from heldout.report.words import amount

X, y = load_diabetes(return_X_y=True)
BARE = re.compile(r"(?<![\d.,e])\d{4,}(?![\d.]*[a-z])|\de\+")  # 3037 or 3.04e+03, but no decimals


@pytest.fixture(scope="module")
def summaries():
    tuned = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 1, 5)}, validation=ho.KFold(3))
    asked = {"test": ho.KFold(4), "progress": False, "backend": "inline"}
    one = ho.evaluate(tuned, X, 10 * y, **asked)
    two = ho.compare({"ridge": Ridge(), "tree": DecisionTreeRegressor(random_state=0)}, X, y, rope=2_000, **asked)
    return one.summary(figures=True), two.summary(figures=True)


def drawn(summary):
    """The words of each figure: those on its axes, and those for people who do not see them."""
    from matplotlib.figure import Figure

    for entry, data in summary["figures"].items():
        for name in () if "none" in data else TOGETHER.get(entry, (entry,)):
            for panel in KINDS[name].panels(data):
                ax = Figure(figsize=(5, 3)).subplots()
                KINDS[name].draw(panel, ax)
                told = KINDS[name].describe(panel)
                ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
                on_axes = [one.get_text() for one in (*ax.texts, ax.xaxis.label, ax.yaxis.label, *ticks)]
                yield name, [*on_axes, told.alt, *told.tips]


def test_no_figure_writes_thousands_without_a_comma(summaries):
    names = set()
    for summary in summaries:
        for name, words in drawn(summary):
            names.add(name)
            assert [one for one in words if BARE.search(one)] == [], name
    assert {"folds", "estimates", "parameters", "residuals", "ranking", "comparison", "paired_folds"} <= names


def test_the_estimate_of_a_figure_is_the_one_on_the_page(summaries):
    one, _ = summaries
    words = dict(drawn(one))
    assert amount(one["metrics"][0]["value"]) in words["folds"]
    assert any(amount(one["risk"]["value"]) in text for text in words["estimates"])


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3, 999e3, 1e9])
def test_numbers_beside_an_axis_have_room(scale):
    """None of them is cut at the edge of the figure, however many digits they have."""
    folds = [{"fold": k, "repeat": 0, "value": scale * (0.5 + k / 10), "train_rows": 8, "held_rows": 2} for k in (0, 4)]
    data = {"loss": "squared", "greater_is_better": False, "points": folds, "value": scale * 0.7}
    ax = KINDS["folds"].plot({**data, "low": None, "high": None, "level": 0.95})
    ax.figure.canvas.draw()
    lefts = [tick.get_window_extent().x0 for tick in ax.get_yticklabels() if tick.get_text()]
    assert lefts
    assert min(lefts) >= 0
