"""Parameters and stability: what is drawn is read back from the axes and compared with the values."""

from __future__ import annotations

import figure_data as data
import numpy as np
import pytest
from matplotlib.colors import to_hex

from heldout.base.errors import OptionError
from heldout.report.figures.canvas import POINTS
from heldout.report.figures.palette import BLUE, VERMILION
from heldout.report.figures.parameters import PARAMETERS
from heldout.report.figures.stability import STABILITY, only_param


def panels_drawn(figure):
    return [PARAMETERS.plot(panel) for panel in PARAMETERS.panels(figure)]


def dots(ax):
    (found,) = [one for one in ax.collections if one.get_gid() == POINTS]
    return np.asarray(found.get_offsets())


def rings(ax):
    """Places of the rings, and the words beside them."""
    found = [one for one in ax.collections if len(one.get_edgecolors()) and not len(one.get_facecolors())]
    marks = [one for one in found if to_hex(one.get_edgecolors()[0]).upper() == VERMILION]
    return [tuple(place) for one in marks for place in np.asarray(one.get_offsets())], [
        text.get_text() for text in ax.texts
    ]


@pytest.fixture
def axes():
    return panels_drawn(data.parameters())


def test_each_parameter_has_a_panel_with_its_values_and_means(axes):
    panels = data.parameters()["panels"]
    assert len(axes) == 3
    for ax, panel in zip(axes[:2], panels, strict=False):
        np.testing.assert_allclose(dots(ax), [(point["value"], point["mean"]) for point in panel["points"]])
    assert [ax.get_xlabel() for ax in axes] == ["ridge__alpha of ridge", "max_depth of tree", "penalty of logistic"]
    assert {ax.get_ylabel() for ax in axes} == {"validation log_loss (lower is better)"}


def test_error_bars_reach_one_standard_error_to_each_side(axes):
    panel = data.parameters()["panels"][0]
    (bars,) = [one for one in axes[0].collections if hasattr(one, "get_segments")]
    spans = [(segment[0][1], segment[1][1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, [(p["mean"] - p["se"], p["mean"] + p["se"]) for p in panel["points"]])
    assert not [one for one in axes[2].collections if hasattr(one, "get_segments")]  # these have no error


def test_chosen_values_have_a_ring_and_the_number_of_folds(axes):
    places, counts = rings(axes[0])
    means = {point["value"]: point["mean"] for point in data.parameters()["panels"][0]["points"]}
    np.testing.assert_allclose(places, [(1e-3, means[1e-3]), (1e-2, means[1e-2])])
    assert counts == ["2", "8"]
    assert rings(axes[1])[1] == ["7", "3"]


def test_the_one_standard_error_line_and_what_it_would_choose(axes):
    level = [line for line in axes[0].lines if set(line.get_ydata()) == {0.308}]
    assert len(level) == 1
    upright = [line for line in axes[0].lines if set(line.get_xdata()) == {0.1}]
    assert len(upright) == 1
    keys = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert keys == ["chosen (by folds)", "best + 1 std. error", "its choice"]
    assert [text.get_text() for text in axes[2].get_legend().get_texts()] == keys[:2]
    bare = panels_drawn({**data.parameters(), "one_se": None})[0]
    assert [text.get_text() for text in bare.get_legend().get_texts()] == keys[:1]


def test_scales_are_as_asked_and_categories_are_ticks(axes):
    assert [ax.get_xscale() for ax in axes] == ["log", "linear", "linear"]
    assert [label.get_text() for label in axes[0].get_xticklabels()] == ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]
    assert [label.get_text() for label in axes[2].get_xticklabels()] == ["l1", "l2", "elasticnet"]
    np.testing.assert_allclose(dots(axes[2]), [(0, 0.3), (1, 0.32), (2, 0.34)])


def test_a_logarithm_of_nothing_is_a_linear_axis_and_mixed_values_are_categories():
    figure = data.parameters()
    panel = figure["panels"][0]
    panel["points"][0]["value"] = 0
    (ax,) = panels_drawn({**figure, "panels": [panel]})
    assert ax.get_xscale() == "linear"
    panel["points"][0]["value"] = "auto"
    (ax,) = panels_drawn({**figure, "panels": [panel]})
    assert [label.get_text() for label in ax.get_xticklabels()][:3] == ["auto", "1e-05", "0.0001"]


def test_long_categories_stand_upright_and_are_clipped_in_the_middle():
    figure = data.parameters()
    panel = figure["panels"][2]
    for place, point in enumerate(panel["points"]):
        point["value"] = f"a very long name of a category number {place}"
    panel["chosen"] = []
    piece = {**figure, "panels": [panel]}
    (ax,) = panels_drawn(piece)
    labels = ax.get_xticklabels()
    assert [label.get_text() for label in labels] == ["a very …mber 0", "a very …mber 1", "a very …mber 2"]
    assert {label.get_rotation() for label in labels} == {90}
    assert PARAMETERS.shape(piece).bottom > PARAMETERS.shape(PARAMETERS.panels(data.parameters())[2]).bottom


def test_a_value_whose_fits_failed_keeps_its_place_and_has_no_dot():
    figure = data.parameters()
    figure["panels"][2]["points"][1]["mean"] = None
    (ax,) = panels_drawn(PARAMETERS.panels(figure)[2])
    assert dots(ax)[:, 0].tolist() == [0, 2]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["l1", "l2", "elasticnet"]


def test_counts_stand_above_where_more_is_better():
    figure = {**data.parameters(), "greater_is_better": True}
    (count, _) = panels_drawn(figure)[0].texts
    assert count.xyann[1] > 0
    assert PARAMETERS.describe(PARAMETERS.panels(figure)[0]).alt.split(". ")[1] == "Best at 1e-06: 0.38"


def test_a_panel_in_words_and_numbers():
    told = PARAMETERS.describe(PARAMETERS.panels(data.parameters())[0])
    assert told.title == "Risk against ridge__alpha of ridge"
    assert told.alt == (
        "9 values of ridge__alpha of ridge by validation log_loss (lower is better). Best at 0.01: 0.3. "
        "Chosen: 0.001 by 2 folds; 0.01 by 8 folds. The one-standard-error rule would take 0.1."
    )
    assert told.rows[4] == (0.01, 0.3, 0.012, 3, 8)
    assert told.tips[4] == "0.01: 0.3 ± 0.012, chosen by 8 folds"
    assert len(told.tips) == 9


def test_a_bar_is_as_long_as_the_folds_that_chose():
    ax = STABILITY.plot(data.stability())
    bars = [patch for patch in ax.patches if patch.get_gid() == POINTS]
    assert [bar.get_width() for bar in bars] == [7, 3]
    assert {to_hex(bar.get_facecolor()).upper() for bar in bars} == {BLUE}
    behind = [patch.get_width() for patch in ax.patches if patch.get_gid() != POINTS]
    assert behind == [10, 10]
    assert [text.get_text() for text in ax.texts] == [
        "ridge(alpha=0.01, fit_intercept=True)",
        "7 of 10",
        "ridge(alpha=0.001, fit_intercept=True)",
        "3 of 10",
    ]
    assert ax.get_xlim() == (0, 10)


def test_one_parameter_by_itself_and_an_unknown_one():
    ax = STABILITY.plot(only_param(data.stability(), "alpha"))
    assert [text.get_text() for text in ax.texts] == ["0.01", "7 of 10", "0.001", "3 of 10"]
    assert ax.get_xlabel() == "folds that chose this alpha of ridge"
    with pytest.raises(OptionError, match=r"No fold chose a value of 'alhpa'. Did you mean 'alpha'\?"):
        only_param(data.stability(), "alhpa")


def test_of_many_choices_the_first_are_drawn_and_that_is_said():
    figure = data.stability()
    figure["choices"] = [{**figure["choices"][0], "words": f"choice {n}", "count": 1} for n in range(30)]
    ax = STABILITY.plot({**figure, "folds": 30})
    assert sum(patch.get_gid() == POINTS for patch in ax.patches) == 12
    assert ax.get_xlabel() == "folds that chose it, 12 of 30"
    assert len(STABILITY.describe(figure).rows) == 30


def test_parameters_on_which_folds_differ_have_a_view_of_their_own():
    views = STABILITY.panels(data.stability())
    assert [STABILITY.describe(view).title for view in views] == [
        "How often each choice won",
        "How often each alpha of ridge was chosen",
    ]
    told = STABILITY.describe(views[1])
    assert told.alt == "What 10 folds chose as alpha of ridge: 0.01 by 7; 0.001 by 3."
    assert told.rows == (("0.01", 7, 10), ("0.001", 3, 10))
    single = data.stability()
    assert len(STABILITY.panels({**single, "params": single["params"][:1]})) == 1  # the same picture twice
