"""Estimates, ranking, differences, paired folds and time: what is drawn is read back from the axes."""

from __future__ import annotations

import figure_data as data
import numpy as np
import pytest
from matplotlib.colors import to_hex

from heldout.base.errors import OptionError
from heldout.report.figures.canvas import BELOW, POINTS
from heldout.report.figures.estimates import COMPARISON, ESTIMATES, MOST_ROWS, RANKING
from heldout.report.figures.folds import ASIDE, PAIRED_FOLDS
from heldout.report.figures.palette import BLUE, GREY, INK, ORANGE, PAPER, VERMILION
from heldout.report.figures.time import NO_BARS, TIME, seconds


def points(ax):
    (found,) = [one for one in ax.collections if one.get_gid() == POINTS]
    return found


def dots(ax):
    return np.asarray(points(ax).get_offsets())


def spans(ax):
    """The intervals, from the top down."""
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    return [tuple(line.get_xdata()) for line in lines]


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_estimates_stand_below_each_other_with_their_intervals():
    ax = ESTIMATES.plot(data.estimates())
    np.testing.assert_allclose(dots(ax), [(0.31, BELOW), (0.275, 1 + BELOW), (0.29, 2 + BELOW)])
    first, last = spans(ax)  # the second has no interval
    assert first == (0.27, 0.36)
    assert last == (0.24, ax.get_xlim()[1])
    assert words(ax) == [
        "nested 10-fold cross-validation",
        "0.31 (0.27 to 0.36)",
        "best validation mean (optimistic)",
        "0.275",
        "the same, corrected f…osing by a bootstrap",
        "0.29 (0.24 to ∞)",
    ]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # from the top down
    assert ax.get_xlabel() == "log_loss (lower is better)"


def test_what_is_optimistic_is_hollow_and_of_another_colour():
    drawn = points(ESTIMATES.plot(data.estimates()))
    assert [to_hex(colour).upper() for colour in drawn.get_facecolors()] == [BLUE, PAPER, BLUE]
    assert [to_hex(colour).upper() for colour in drawn.get_edgecolors()] == [BLUE, VERMILION, BLUE]


def test_an_interval_without_an_end_has_an_arrow_at_the_edge():
    ax = ESTIMATES.plot(data.estimates())
    (arrow,) = [line for line in ax.lines if line.get_marker() == ">"]
    assert arrow.get_xdata()[0] == ax.get_xlim()[1]
    assert arrow.get_ydata()[0] == pytest.approx(2 + BELOW)
    assert not [line for line in ax.lines if line.get_marker() == "<"]


def test_estimates_in_words_and_numbers():
    told = ESTIMATES.describe(data.estimates())
    assert told.alt == (
        "3 estimates of log_loss (lower is better): nested 10-fold cross-validation 0.31 (0.27 to 0.36); best "
        "validation mean (optimistic) 0.275; the same, corrected for choosing by a bootstrap 0.29 (0.24 to ∞)."
    )
    assert told.rows[1] == ("best validation mean", 0.275, None, None, 0.95, "yes")
    assert told.tips[0] == "nested 10-fold cross-validation: 0.31 (0.27 to 0.36)"


def test_the_ranking_has_the_best_on_top_and_a_failed_learner_no_dot():
    figure = data.comparison(3)
    ax = RANKING.plot(figure)
    np.testing.assert_allclose(dots(ax), [(0.2, BELOW), (0.23, 1 + BELOW), (0.26, 2 + BELOW)])
    np.testing.assert_allclose(spans(ax), [(0.17, 0.24), (0.2, 0.27), (0.23, 0.3)])
    assert words(ax)[::2] == ["1. forest", "2. ridge", "3. nearest neighbours"]
    figure["ranking"][2] |= {"value": None, "low": None, "high": None}
    failed = RANKING.plot(figure)
    assert len(dots(failed)) == 2
    assert words(failed)[-1] == "–"
    told = RANKING.describe(figure)
    assert told.rows[2] == (3, "nearest neighbours", None, None, None, 0.95)
    assert len(told.tips) == 2


def test_differences_with_zero_and_the_region_of_practical_equivalence():
    figure = data.comparison(3)
    ax = COMPARISON.plot(figure)
    np.testing.assert_allclose(dots(ax)[:, 0], [pair["difference"] for pair in figure["pairs"]])
    np.testing.assert_allclose(spans(ax), [(pair["low"], pair["high"]) for pair in figure["pairs"]])
    (shade,) = ax.patches
    box = shade.get_bbox()
    assert (box.x0, box.x1) == (-0.01, 0.01)
    assert to_hex(shade.get_facecolor()).upper() == GREY
    (zero,) = [one for one in ax.collections if hasattr(one, "get_segments")]
    assert {x for segment in zero.get_segments() for x in segment[:, 0]} == {0.0}
    assert len(zero.get_segments()) == 3
    assert to_hex(zero.get_edgecolors()[0]).upper() == INK
    assert words(ax)[:6:2] == ["forest − ridge", "forest − nearest neighbours", "ridge − nearest neighbours"]
    assert ax.get_xlabel() == "difference in log_loss, equal within ±0.01 (shaded)"


def test_zero_is_always_in_sight_and_without_a_region_nothing_is_shaded():
    figure = data.comparison(2)
    figure["pairs"][0] |= {"difference": 5.0, "low": 4.0, "high": 6.0}
    ax = COMPARISON.plot({**figure, "rope": None})
    low, high = ax.get_xlim()
    assert low < 0 < 6 < high
    assert len(ax.patches) == 0
    assert ax.get_xlabel() == "difference in log_loss"
    assert words(ax)[2:] == ["second is better →"]


@pytest.mark.parametrize(("greater", "side"), [(False, "← first is better"), (True, "← second is better")])
def test_the_sides_of_zero_say_who_is_better(greater, side):
    ax = COMPARISON.plot({**data.comparison(3), "greater_is_better": greater})
    assert words(ax)[6:] == [side]
    way = "above" if greater else "below"
    assert (
        f"{way} 0 where the first is better"
        in COMPARISON.describe({**data.comparison(3), "greater_is_better": greater}).alt
    )


def test_of_very_many_pairs_the_first_are_drawn_and_that_is_said():
    figure = data.comparison(12)
    ax = COMPARISON.plot(figure)
    assert len(dots(ax)) == MOST_ROWS
    assert ax.get_xlabel().endswith("45 of 66 pairs")
    assert len(COMPARISON.describe(figure).rows) == 66


def test_long_names_of_a_pair_share_the_room():
    figure = data.comparison(2)
    figure["pairs"][0] |= {"first": "a", "second": "a name that is much longer than the others"}
    label = words(COMPARISON.plot(figure))[0]
    assert label.startswith("a − a name that")
    assert "…" in label
    assert len(label) <= 58


def test_folds_of_all_learners_are_joined():
    figure = data.comparison(3, parts=10)
    values = figure["folds"]["values"]
    ax = PAIRED_FOLDS.plot(figure)
    found = dots(ax)
    assert len(found) == 30
    for row in range(3):
        mine = found[np.abs(found[:, 1] - (row + BELOW)) <= ASIDE / 2 + 1e-9]
        np.testing.assert_allclose(mine[:, 0], values[row])
    assert len(ax.lines) == 10
    for part, line in enumerate(ax.lines):
        np.testing.assert_allclose(line.get_xdata(), [row[part] for row in values])
    assert words(ax) == ["forest", "ridge", "nearest neighbours"]
    assert ax.get_xlabel() == "log_loss (lower is better), a line a fold"


def test_paired_folds_in_words_and_a_fold_that_failed():
    figure = data.comparison(2, parts=4)
    figure["folds"]["values"][1][2] = None
    assert len(dots(PAIRED_FOLDS.plot(figure))) == 7
    told = PAIRED_FOLDS.describe(figure)
    assert told.head == ("fold", "forest", "ridge")
    assert told.rows[2] == (2, figure["folds"]["values"][0][2], None)
    assert len(told.tips) == 7
    assert told.tips[0] == f"forest, fold 0: {figure['folds']['values'][0][0]:.4g}"
    many = data.comparison(2, parts=1_000)
    assert PAIRED_FOLDS.plot(many).get_xlabel() == "log_loss (lower is better), 200 of 1,000 folds"
    assert PAIRED_FOLDS.describe(many).alt.endswith("The table has 200 of 1,000 folds.")


def test_time_is_fitting_then_scoring_the_longest_first():
    ax = TIME.plot(data.time())
    bars = {(to_hex(bar.get_facecolor()).upper(), round(bar.get_y())): bar for bar in ax.patches}
    assert len(bars) == 6
    assert [bars[BLUE, row].get_width() for row in range(3)] == [12.5, 1.5, 0.75]
    assert [bars[ORANGE, row].get_width() for row in range(3)] == [1.25, 0.25, 0.5]
    assert [bars[ORANGE, row].get_x() for row in range(3)] == [12.5, 1.5, 0.75]
    assert words(ax)[::2] == ["validation: forest", "test: forest", "validation: ridge"]
    assert words(ax)[1] == "13.8 s, 900 cells"
    assert ax.get_xlabel() == "seconds of work; the study took 17.2 s"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fitting", "scoring"]


def test_time_that_nobody_took_has_no_bar_and_no_words():
    figure = data.time()
    figure["bars"][1]["score"] = 0.0
    assert len(TIME.plot(figure).patches) == 5
    assert len(TIME.describe(figure).tips) == 5
    empty = {**figure, "bars": []}
    assert TIME.panels(empty) == []
    with pytest.raises(OptionError, match=NO_BARS):
        TIME.plot(empty)


def test_time_in_words_and_numbers():
    told = TIME.describe(data.time())
    assert told.alt.startswith("The study took 17.2 s. Work: validation: forest 12.5 s fitting and 1.25 s scoring; ")
    assert told.rows[0] == ("validation", "forest", 12.5, 1.25, 900)
    assert [seconds(value) for value in (0.04321, 119, 150, 9_000, None)] == [
        "0.0432 s",
        "1 min 59 s",
        "2 min 30 s",
        "2 h 30 min",
        "–",
    ]
