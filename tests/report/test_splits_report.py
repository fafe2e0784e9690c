"""The summary of splits as text, and the picture of who is held out when."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex

import heldout as ho
from heldout.base.errors import OptionError
from heldout.report.figures.splits import COLOURS, LEAST, draw_picture

N = 24
X = np.arange(2.0 * N).reshape(N, 2)
DAYS = np.datetime64("2024-01-01") + np.arange(N)


def test_the_text_says_parts_times_buffers_and_size():
    splits = ho.draw(ho.Forward(3, buffer="2d"), X, X[:, 0], time=DAYS)
    assert str(splits.summary()) == "\n".join(
        [
            "3 blocks of time, each after its training rows, buffer of 2d: 3 parts of 24 rows",
            "  part  trains on  holds out  unused  by buffer  held out from  to",
            "     0          4          6      14          2  2024-01-07     2024-01-12",
            "     1         10          6       8          2  2024-01-13     2024-01-18",
            "     2         16          6       2          2  2024-01-19     2024-01-24",
            "training size 4 to 16, 10 on average, 41.7% of the rows",
            "buffers throw away 2 rows a part on average",
        ]
    )


def test_the_text_says_groups_and_how_near_shares_are():
    y, groups = np.repeat(["no", "yes"], [18, 6]), np.arange(N) // 3
    text = str(ho.draw(ho.KFold(2, stratify=True), X, y, groups=groups).summary())
    assert text.splitlines()[1] == "  part  trains on  holds out  unused  groups trained on  held out"
    assert text.splitlines()[-1] == (
        "2 classes: held-out shares are those of all rows to within 0.0 points, training shares to within 0.0"
    )
    uneven = ho.draw(ho.Given(range(6)), X, y).summary()
    assert str(uneven).splitlines()[-1] == (
        "2 classes: held-out shares are those of all rows to within 25.0 points (the farthest: class 'no' in part 0), "
        "training shares to within 8.3"
    )


def test_many_parts_are_cut_short_and_weights_are_told():
    weight = np.linspace(0.1, 2, N)
    text = str(ho.draw(ho.LeaveOneOut(), X, X[:, 0], sample_weight=weight).summary())
    others = [np.delete(weight, row) for row in range(N)]
    size = np.mean([w.sum() ** 2 / (w**2).sum() for w in others])
    assert "… 4 more" in text
    assert f"training size 23, 95.8% of the rows; by their weights they count as {size:.1f}" in text


def fills(ax):
    """The colours drawn and the area that is seen of each, over all lanes: sides lie over each other from the foot."""
    areas: dict[str, float] = {}
    for patch in ax.patches:
        values, edges, baseline = patch.get_data()
        area = float(np.sum(np.abs(values - baseline) * np.diff(edges)))
        name = to_hex(patch.get_facecolor()).upper()
        areas[name] = areas.get(name, 0.0) + area
    train, unused, held = (areas[COLOURS[side]] for side in ("train", "unused", "held"))
    return {COLOURS["train"]: train - unused, COLOURS["unused"]: unused - held, COLOURS["held"]: held}


def test_each_side_has_its_colour_and_its_share_of_the_picture():
    splits = ho.draw(ho.Forward(3, buffer="2d"), X, X[:, 0], time=DAYS)
    ax = splits.plot()
    areas = fills(ax)
    total = sum(areas.values())
    assert areas[COLOURS["train"]] / total == pytest.approx((4 + 10 + 16) / (3 * N))
    assert areas[COLOURS["held"]] / total == pytest.approx(18 / (3 * N))
    assert areas[COLOURS["unused"]] / total == pytest.approx((14 + 8 + 2) / (3 * N))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", "held out", "neither"]
    assert ax.get_xlabel() == "rows in time order"
    assert [label.get_text() for label in ax.get_xticklabels()][0::4] == ["2024-01-01", "2024-01-24"]
    assert ax.get_title(loc="left").startswith("3 blocks of time")


def test_one_row_of_many_is_never_too_thin_to_be_seen():
    data = np.zeros((50_000, 1))
    ax = ho.draw(ho.Given([123]), data, np.arange(50_000.0)).plot()
    heights = [np.abs(patch.get_data().values - patch.get_data().baseline).max() for patch in ax.patches]
    assert min(heights) >= 0.8 * LEAST
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", "held out"]


def test_some_of_many_parts_are_named_so_and_own_axes_serve(tmp_path):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    ax = ho.draw(ho.LeaveOneOut(), np.zeros((100, 1)), np.arange(100.0)).plot(axes)
    assert ax is axes
    assert ax.get_ylabel() == "40 of 100 parts"
    assert ax.get_xlabel() == "rows in the order of the data"
    ax.figure.savefig(tmp_path / "splits.png")
    assert (tmp_path / "splits.png").stat().st_size > 1_000


def test_a_picture_makes_no_window_and_no_pyplot_by_itself():
    before = "matplotlib.pyplot" in sys.modules
    ho.draw(2, X, X[:, 0]).plot()
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    splits = ho.draw(2, X, X[:, 0])
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match=r"needs matplotlib.*pip install 'heldout\[plot\]'"):
        draw_picture(splits.description.picture)
