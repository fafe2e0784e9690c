"""What holds of every figure: reasons, axes of one's own, hostile names, numbers of any size, no window by itself."""

from __future__ import annotations

import builtins
import random
import sys
from xml.etree import ElementTree

import figure_data as data
import pytest

from heldout.api.plots import Plots
from heldout.base.errors import OptionError
from heldout.report.figures.canvas import POINTS
from heldout.report.figures.catalogue import KINDS, TOGETHER
from heldout.report.figures.describe import MOST_ROWS, MOST_TIPS
from heldout.report.figures.folds import FOLDS
from heldout.report.svg import draw_all

ENTRY = {one: entry for entry, ones in TOGETHER.items() for one in ones}
every = pytest.mark.parametrize("name", KINDS)


def example(name):
    return data.EXAMPLES[ENTRY.get(name, name)]()


def axes_of(name, figure):
    return [KINDS[name].plot(panel) for panel in KINDS[name].panels(figure)]


def texts_of(ax):
    """Every text on the axes, drawn or not."""
    legend = ax.get_legend()
    found = [*ax.texts, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    return [*found, ax.title, ax._left_title, *(legend.get_texts() if legend else [])]


def test_every_figure_of_the_catalogue_is_a_method_of_plots():
    assert set(KINDS) == {name for name in vars(Plots) if not name.startswith("_")}


@every
def test_a_figure_without_data_says_why(name):
    with pytest.raises(OptionError, match=r"^Nothing was chosen\.$"):
        KINDS[name].plot({"none": "Nothing was chosen."})


@every
def test_axes_of_ones_own_are_drawn_on_and_given_back(name):
    from matplotlib.figure import Figure

    given = Figure().subplots()
    assert KINDS[name].plot(KINDS[name].panels(example(name))[0], given) is given
    assert given.get_children()


@every
def test_a_figure_makes_no_window_and_no_pyplot_by_itself(name):
    before = "matplotlib.pyplot" in sys.modules
    axes_of(name, example(name))
    assert ("matplotlib.pyplot" in sys.modules) == before


@every
def test_hostile_names_are_clipped_cleaned_and_no_formulas(name):
    for ax in axes_of(name, data.naughty(example(name))):
        for text in texts_of(ax):
            words = text.get_text()
            assert len(words) <= 80
            assert not set(words.replace("\n", "")) & set(map(chr, range(32)))
            assert "\u202e" not in words
            assert not (words.count("$") and text.get_parse_math())
        ax.figure.canvas.draw()  # a formula that cannot be read would raise here


@every
def test_what_is_told_is_short_and_fits_what_is_drawn(name):
    kind = KINDS[name]
    for figure in (example(name), data.naughty(example(name))):
        for panel in kind.panels(figure):
            told = kind.describe(panel)
            assert told.title
            assert len(told.title) <= 120
            assert 20 < len(told.alt) <= 900
            assert 0 < len(told.rows) <= MOST_ROWS
            assert {len(row) for row in told.rows} == {len(told.head)}
            assert all(len(cell) <= 120 for row in told.rows for cell in row if isinstance(cell, str))
            assert len(told.tips) <= MOST_TIPS
            assert all(len(tip) <= 120 for tip in told.tips)


def shaken(value, chance, *, key=""):
    """The same values with some numbers missing, infinite, tiny or huge."""
    kept = ("scale", "fold", "repeat", "cells", "count", "rows", "size", "parts", "level", "folds", "chosen", "counts")
    kept += ("edges", "marks", "lanes", "train", "held", "unused", "train_rows", "held_rows", "candidates", "labels")
    kept += ("left_out", "repeats")
    if isinstance(value, dict):
        return {
            name: one if name in kept and not isinstance(one, dict) else shaken(one, chance)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [shaken(one, chance) for one in value]
    if isinstance(value, bool | str) or value is None or chance.random() > 0.25:
        return value
    return chance.choice([0, -1.0, 5e-324, 1e-300, 1e300, -1.7e308, 1.7e308, 1e6, 0.5, None, "inf", "-inf"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", data.EXAMPLES)
def test_numbers_of_any_size_and_none_at_all_are_drawn(name, seed):
    figure = shaken(data.EXAMPLES[name](), random.Random(seed))
    for drawn in draw_all(name, figure, prefix="a-"):
        body = drawn.svg.split("</desc>")[1]
        assert " nan" not in body.lower()
        assert ElementTree.fromstring(drawn.svg).tag == "svg"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match=r"needs matplotlib.*pip install 'heldout\[plot\]'"):
        FOLDS.plot(data.folds())
    with pytest.raises(OptionError, match=r"needs matplotlib.*pip install 'heldout\[plot\]'"):
        draw_all("folds", data.folds(), prefix="a-")


def test_points_are_marked_where_words_are_to_be_found_on_them():
    marked = [one for one in FOLDS.plot(data.folds()).get_children() if one.get_gid() == POINTS]
    assert len(marked) == 1
