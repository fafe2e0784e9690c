"""Splits, folds and the learning curve: what is drawn is read back from the axes and compared with the values."""

from __future__ import annotations

import figure_data as data
import numpy as np
import pytest
from matplotlib.colors import to_hex

from heldout.report.figures.canvas import POINTS
from heldout.report.figures.folds import FOLDS, MOST_DOTS
from heldout.report.figures.learning_curve import LEARNING_CURVE
from heldout.report.figures.palette import BLUE, PAPER
from heldout.report.figures.splits import COLOURS, LANE, SPLITS


def dots(ax):
    """The one collection of points that a figure has, as an array of places."""
    (found,) = [one for one in ax.collections if one.get_gid() == POINTS]
    return np.asarray(found.get_offsets())


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_a_dot_stands_at_each_fold_and_its_value():
    figure = data.folds(10)
    ax = FOLDS.plot(figure)
    expected = [(point["fold"], point["value"]) for point in figure["points"]]
    np.testing.assert_allclose(dots(ax), expected)
    assert ax.get_ylabel() == "log_loss (lower is better)"
    assert ax.get_xlabel() == "fold"
    assert ax.get_xticks().tolist() == list(range(10))


def test_the_estimate_is_a_line_and_its_interval_a_band():
    ax = FOLDS.plot(data.folds(10))
    (line,) = ax.lines
    assert set(line.get_ydata()) == {0.31}
    (band,) = ax.patches
    box = band.get_bbox()
    assert (box.y0, box.y1) == (0.27, 0.36)
    assert words(ax)[0] == "0.31"
    assert words(ax)[1].split() == ["95", "%", "interval"]


def test_without_an_interval_there_is_no_band_and_without_a_value_no_line():
    bare = {**data.folds(4), "low": None, "high": None}
    ax = FOLDS.plot(bare)
    assert (len(ax.patches), len(ax.lines), words(ax)) == (0, 1, ["0.31"])
    ax = FOLDS.plot({**bare, "value": None})
    assert (len(ax.patches), len(ax.lines), words(ax)) == (0, 0, [])
    assert "without an interval" in FOLDS.describe(bare).alt


def test_an_interval_without_an_end_fills_the_axes_to_their_edge():
    ax = FOLDS.plot({**data.folds(4), "high": "inf"})
    (band,) = ax.patches
    assert band.get_bbox().y1 == ax.get_ylim()[1]


def test_repeats_are_columns_with_their_folds_side_by_side():
    figure = data.folds(12, repeats=3)
    ax = FOLDS.plot(figure)
    found = dots(ax)
    assert [round(x) for x in found[:, 0]] == [0] * 4 + [1] * 4 + [2] * 4
    assert (np.diff(found[:4, 0]) > 0.1).all()
    assert found[:4, 0].mean() == pytest.approx(0)
    np.testing.assert_allclose(found[:, 1], [point["value"] for point in figure["points"]])
    assert ax.get_xlabel() == "repeat"
    assert FOLDS.describe(figure).tips[5] == f"fold 5, repeat 1: {figure['points'][5]['value']:.4g} (105 rows held out)"


def test_a_fold_without_a_value_has_no_dot_and_is_told():
    figure = data.folds(5)
    figure["points"][2]["value"] = None
    assert dots(FOLDS.plot(figure))[:, 0].tolist() == [0, 1, 3, 4]
    told = FOLDS.describe(figure)
    assert told.alt.endswith("1 fold without a value.")
    assert told.rows[2] == (2, 0, None, 900, 102)
    assert len(told.tips) == 4


def test_of_very_many_folds_some_are_drawn_and_that_is_said():
    figure = data.folds(5_000)
    ax = FOLDS.plot(figure)
    places = dots(ax)[:, 0]
    assert len(places) == MOST_DOTS
    assert (places[0], places[-1]) == (0, 4_999)
    assert ax.get_xlabel() == "fold (2,000 of 5,000 are drawn)"
    told = FOLDS.describe(figure)
    assert len(told.rows) == 200
    assert told.alt.endswith("The table has 200 of 5,000 folds.")
    assert told.tips == ()


def test_the_folds_in_words():
    figure = data.folds(3)
    values = [point["value"] for point in figure["points"]]
    told = FOLDS.describe(figure)
    assert told.alt == (
        f"3 folds by log_loss (lower is better), from {min(values):.4g} to {max(values):.4g}. "
        "The estimate is 0.31, 95 % interval 0.27 to 0.36."
    )
    assert told.head == ("fold", "repeat", "log_loss (lower is better)", "training rows", "held-out rows")
    assert [row[2] for row in told.rows] == values


def filled(ax, colour):
    """The heads of every lane in this colour, as height above the lane's foot, at each row."""
    lanes = {}
    for patch in ax.patches:
        if to_hex(patch.get_facecolor()).upper() != colour:
            continue
        values, edges, foot = patch.get_data()
        lane = round(float(np.min(foot)) - LANE / 2)
        lanes[lane] = np.repeat((foot - values) / LANE, np.diff(edges).astype(int))
    return lanes


def test_each_lane_is_filled_where_its_rows_are_held_out():
    figure = data.splits(lanes=5, stretches=20, rows=100)
    ax = SPLITS.plot(figure)
    held = filled(ax, COLOURS["held"])
    assert sorted(held) == [0, 1, 2, 3, 4]
    for lane, heights in held.items():
        expected = np.zeros(100)
        expected[lane * 20 : (lane + 1) * 20] = 1
        np.testing.assert_allclose(heights, expected, atol=1e-9)
    assert sorted(filled(ax, COLOURS["unused"])) == [1, 2, 3, 4]  # the first block has nothing before it
    assert all((heights > 0.99).all() for heights in filled(ax, COLOURS["train"]).values())  # behind all others


def test_lanes_are_named_and_the_axis_says_which_rows():
    ax = SPLITS.plot({**data.splits(5), "parts": 100, "lanes": [0, 25, 50, 75, 99], "in_time": True})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "25", "50", "75", "99"]
    assert ax.get_ylabel() == "5 of 100 parts"
    assert ax.get_xlabel() == "rows in time order"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "25", "50", "75", "99"]
    assert ax.get_title(loc="left") == "5 blocks of rows, buffer of 1"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", "held out", "neither"]


def test_long_times_leave_room_for_each_other():
    marks = [[place, f"2024-01-0{n} 00:00:00.000000"] for n, place in enumerate((0, 25, 50, 75, 99), start=1)]
    ax = SPLITS.plot({**data.splits(5), "marks": marks})
    assert [label.get_text()[:10] for label in ax.get_xticklabels()] == ["2024-01-01", "2024-01-05"]


def test_many_lanes_are_drawn_in_fewer_stretches_with_the_same_rows():
    figure = data.splits(lanes=40, stretches=240, rows=2_400)
    heads = filled(SPLITS.plot(figure), COLOURS["held"])
    assert len(heads) == 40
    for lane in (0, 17, 39):
        assert heads[lane].sum() == pytest.approx(60, rel=0.05)
        assert heads[lane][lane * 60 + 20 : lane * 60 + 40].min() == pytest.approx(1)


def test_the_splits_in_words():
    told = SPLITS.describe(data.splits(5))
    assert told.alt == (
        "5 blocks of rows, buffer of 1: 5 parts, rows in the order of the data. "
        "Part 0 trains on 80 rows and holds out 20."
    )
    assert told.rows[1] == (1, 79, 20, 1)
    assert len(told.rows) == 5


def test_the_learning_curve_goes_through_its_points_and_ends_hollow():
    figure = data.learning_curve()
    ax = LEARNING_CURVE.plot(figure)
    expected = [(point["size"], point["value"]) for point in figure["points"]]
    np.testing.assert_allclose(dots(ax), [*expected, (2_400, 0.2508)])
    (points,) = [one for one in ax.collections if one.get_gid() == POINTS]
    faces = [to_hex(colour).upper() for colour in points.get_facecolors()]
    assert faces == [BLUE] * 5 + [PAPER]
    (bars,) = [one for one in ax.collections if one.get_gid() != POINTS]
    spans = [(segment[0][1], segment[1][1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, [(point["low"], point["high"]) for point in figure["points"]])
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.texts] == ["extrapolated 0.2508"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training rows", "log_loss (lower is better)")


def test_a_curve_without_extrapolation_has_no_hollow_point():
    figure = {**data.learning_curve(), "extrapolated": None}
    ax = LEARNING_CURVE.plot(figure)
    assert len(dots(ax)) == 5
    assert len(ax.texts) == 0
    told = LEARNING_CURVE.describe(figure)
    assert told.alt == ("5 training sizes by log_loss (lower is better): 0.29 with 50 rows, 0.2525 with 800 rows.")
    assert told.rows[0] == (50, 0.29, 0.27, 0.33, "measured")
    assert LEARNING_CURVE.describe(data.learning_curve()).rows[-1] == (2_400, 0.2508, None, None, "extrapolated")
