"""Calibration, confusion and residuals: what is drawn is read back from the axes and compared with the values."""

from __future__ import annotations

import figure_data as data
import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.patches import Rectangle

from heldout.report.figures.calibration import CALIBRATION, FLOOR, TALLEST
from heldout.report.figures.canvas import POINTS
from heldout.report.figures.confusion import CONFUSION, DARKEST
from heldout.report.figures.residuals import RESIDUALS


def dots(ax):
    return [np.asarray(one.get_offsets()) for one in ax.collections if one.get_gid() == POINTS]


def test_observed_shares_stand_over_predicted_probabilities_with_their_intervals():
    figure = data.calibration()
    bins = figure["curves"][0]["bins"]
    ax = CALIBRATION.plot(figure)
    (found,) = dots(ax)
    np.testing.assert_allclose(found, [(one["predicted"], one["observed"]) for one in bins])
    (bars,) = [one for one in ax.collections if hasattr(one, "get_segments")]
    spans = [(segment[0][1], segment[1][1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, [(one["observed_low"], one["observed_high"]) for one in bins])
    assert ax.get_xlabel() == "predicted probability of class 0"
    assert ax.get_ylabel() == "share of rows where it was true"


def test_the_diagonal_and_the_rows_behind_each_point():
    figure = data.calibration()
    ax = CALIBRATION.plot(figure)
    (diagonal,) = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "--"]
    assert [list(places) for places in diagonal.get_data()] == [[0, 1], [0, 1]]
    bins = figure["curves"][0]["bins"]
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    np.testing.assert_allclose([bar.get_height() for bar in bars], [TALLEST * one["rows"] / 76 for one in bins])
    np.testing.assert_allclose([bar.get_width() for bar in bars], 0.1)
    assert {bar.get_y() for bar in bars} == {FLOOR}
    assert [text.get_text() for text in ax.texts] == ["rows behind each point, at most 76"]


def test_several_classes_have_curves_and_a_key():
    ax = CALIBRATION.plot(data.calibration(3))
    assert [len(one) for one in dots(ax)] == [10, 10, 10]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["class 0", "class 1", "class 2"]
    assert ax.get_xlabel() == "predicted probability of the class"
    assert len(CALIBRATION.panels(data.calibration(3))) == 3


def test_calibration_in_words_and_numbers():
    figure = data.calibration()
    bins = figure["curves"][0]["bins"]
    worst = max(bins, key=lambda one: abs(one["observed"] - one["predicted"]))
    told = CALIBRATION.describe(figure)
    assert told.alt == (
        "Share of rows where it was true against the predicted probability of class 0, in 10 bins of 576 rows. "
        f"Farthest from the diagonal: predicted {worst['predicted']:.4g}, observed {worst['observed']:.4g} in "
        f"{worst['rows']} rows."
    )
    assert told.rows[0] == ("class 0", 0.05, bins[0]["observed"], bins[0]["observed_low"], bins[0]["observed_high"], 40)
    assert len(told.tips) == 10


def test_every_cell_has_its_place_its_shade_and_its_count():
    figure = data.confusion(3)
    ax = CONFUSION.plot(figure)
    cells = {(patch.get_x(), patch.get_y()): patch for patch in ax.patches if patch.get_gid() == POINTS}
    assert len(cells) == 9
    words = iter(text.get_text() for text in ax.texts)
    for true, row in enumerate(figure["counts"]):
        for guess, count in enumerate(row):
            assert cells[guess, true].get_alpha() == pytest.approx(DARKEST * count / sum(row))
            if count:
                assert next(words) == f"{count}"
                assert next(words) == f"{100 * count / sum(row):.0f}%"
    assert next(words, None) is None
    assert [label.get_text() for label in ax.get_xticklabels()] == ["class 0", "class 1", "class 2"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["class 0", "class 1", "class 2"]
    assert ax.get_ylim() == (3, 0)  # the first class on top
    assert ax.get_xlabel() == "predicted class"


def test_many_classes_show_counts_only_and_a_class_without_rows_is_blank():
    figure = data.confusion(8)
    figure["counts"][3] = [0] * 8
    ax = CONFUSION.plot(figure)
    shown = [text.get_text() for text in ax.texts]
    assert len(shown) == sum(count > 0 for row in figure["counts"] for count in row)
    assert not [word for word in shown if "%" in word]
    blank = [patch.get_alpha() for patch in ax.patches if patch.get_gid() == POINTS and patch.get_y() == 3]
    assert blank == [0] * 8
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90}


def test_confusion_in_words_and_numbers():
    told = CONFUSION.describe({"labels": ["no", "yes"], "counts": [[50, 2], [7, 41]], "rows": 100})
    assert told.alt == (
        "91 of 100 rows on the diagonal, of 2 classes. Most often mixed up: “yes” taken for “no” in 7; "
        "“no” taken for “yes” in 2 rows."
    )
    assert told.rows[2] == ("yes", "no", 7, 7 / 48)
    assert told.tips[1] == "“no” taken for “yes”: 2 of 52 rows"


def test_residuals_stand_over_predictions_with_their_bands():
    figure = data.residuals(400)
    output = figure["outputs"][0]
    ax = RESIDUALS.plot(figure)
    (found,) = dots(ax)
    np.testing.assert_allclose(found, [(point["predicted"], point["residual"]) for point in output["points"]])
    assert [line for line in ax.lines if set(line.get_ydata()) == {0.0}]
    (middle,) = [line for line in ax.lines if len(line.get_xdata()) == 10]
    np.testing.assert_allclose(middle.get_ydata(), [band["middle"] for band in output["bands"]])
    (spread,) = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    corners = spread.get_paths()[0].vertices
    for band in output["bands"]:
        for side in ("low", "high"):
            assert (np.abs(corners - (band["predicted"], band[side])).max(axis=1) < 1e-9).any()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "400 of 1,200 rows",
        "their middle",
        "and spread",
    ]
    assert ax.get_ylabel() == "residual: target less prediction"
    assert ax.get_xlabel() == "predicted"


def test_residuals_without_bands_or_of_several_outputs():
    figure = {**data.residuals(20, outputs=2), "sampled": False}
    figure["outputs"][0]["bands"] = []
    ax = RESIDUALS.plot(figure)
    assert not [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["20 rows"]
    told = RESIDUALS.describe(figure)
    assert told.head == ("predicted", "residual")
    assert len(told.rows) == 20
    pieces = RESIDUALS.panels(figure)
    assert [RESIDUALS.describe(piece).title for piece in pieces] == ["Residuals of y0", "Residuals of y1"]
    assert RESIDUALS.plot(pieces[1]).get_xlabel() == "predicted y1"


def test_residuals_in_words_and_numbers():
    told = RESIDUALS.describe(data.residuals(400))
    assert told.alt.endswith(told.caption)
    assert told.caption.startswith("Their middle is 2 at the lowest predictions and -2.5 at the highest: far from 0")
    assert told.alt.startswith("Residuals of 400 rows, from ")
    assert told.head == ("predicted", "low", "middle", "high")
    assert told.rows[0] == (50, -12, 2.0, 12)
    assert told.tips == ()
