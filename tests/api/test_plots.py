"""result.plot: a method a figure, each on axes, with the reason where a study has no numbers for it."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.api.plots import Plots
from heldout.base.errors import OptionError

DATA = runpy.run_path(str(Path(__file__).parents[1] / "report" / "figures" / "figure_data.py"))
OF_A_RESULT = {name: make() for name, make in DATA["EXAMPLES"].items() if name != "comparison"}
RESULT = {"kind": "result", "figures": OF_A_RESULT}
COMPARISON = {"kind": "comparison", "figures": {"comparison": DATA["comparison"]()}}

LABELS = {
    "splits": "rows in the order of the data",
    "folds": "fold",
    "estimates": "log_loss (lower is better)",
    "stability": "folds that chose it",
    "calibration": "predicted probability of class 0",
    "confusion": "predicted class",
    "residuals": "predicted",
    "roc": "false positive rate: the others called class 0",
    "pr": "recall: share of class 0 that is found",
    "gains": "share of the rows, the most probable class 0 first",
    "thresholds": "threshold from which a row is called class 0",
    "classes": "share of the rows",
    "subgroups": "log_loss (lower is better); the line is all rows",
    "importance": "how much worse log_loss gets without the column, 20 of 30",
    "coefficients": "coefficient, from the least to the greatest fold",
    "learning_curve": "training rows",
    "time": "seconds of work; the study took 17.2 s",
}
OF_A_COMPARISON = {
    "comparison": "difference in log_loss, equal within ±0.01 (shaded)",
    "ranking": "log_loss (lower is better)",
    "paired_folds": "log_loss (lower is better), a line a fold",
}


@pytest.mark.parametrize("name", LABELS)
def test_each_method_draws_its_own_figure(name):
    assert getattr(Plots(RESULT), name)().get_xlabel() == LABELS[name]


@pytest.mark.parametrize("name", OF_A_COMPARISON)
def test_each_method_of_a_comparison_draws_its_own_figure(name):
    assert getattr(Plots(COMPARISON), name)().get_xlabel() == OF_A_COMPARISON[name]


def test_parameters_are_a_list_of_axes_as_many_as_there_are_panels():
    from matplotlib.figure import Figure

    axes = Plots(RESULT).parameters()
    assert [ax.get_xlabel() for ax in axes] == ["ridge__alpha of ridge", "max_depth of tree", "penalty of logistic"]
    given = Figure().subplots(3)
    assert Plots(RESULT).parameters(given) == list(given)
    with pytest.raises(OptionError, match="There are 3 parameters to draw, but 2 axes were given"):
        Plots(RESULT).parameters(given[:2])


def test_one_class_one_output_one_parameter():
    plots = Plots({"kind": "result", "figures": {**OF_A_RESULT, "calibration": DATA["calibration"](3)}})
    assert plots.calibration().get_xlabel() == "predicted probability of the class"
    assert plots.calibration(label="class 2").get_xlabel() == "predicted probability of class 2"
    with pytest.raises(OptionError, match=r"There is no calibration curve for class 'x'\. Known: class 0, class 1"):
        plots.calibration(label="x")
    several = Plots({"kind": "result", "figures": {"residuals": DATA["residuals"](30, 2)}})
    assert several.residuals(output="y1").get_xlabel() == "predicted y1"
    with pytest.raises(OptionError, match="There is no output 'y7'"):
        several.residuals(output="y7")
    assert plots.stability(param="alpha").get_xlabel() == "folds that chose this alpha of ridge"


@pytest.mark.parametrize("name", [*LABELS, "parameters"])
def test_a_figure_without_data_says_why(name):
    plots = Plots({"kind": "result", "figures": {name: {"none": "Rows are withheld."}}})
    with pytest.raises(OptionError, match=r"^Rows are withheld\.$"):
        getattr(plots, name)()


@pytest.mark.parametrize("name", OF_A_COMPARISON)
def test_what_shows_several_learners_comes_from_compare(name):
    with pytest.raises(OptionError, match=rf"plot.{name}\(\) shows several learners: it comes from heldout.compare"):
        getattr(Plots(RESULT), name)()


def test_what_shows_one_learner_comes_from_its_result():
    with pytest.raises(OptionError, match=r"comparison.results\[name\].plot.folds\(\)"):
        Plots(COMPARISON).folds()


def test_a_summary_without_figures_says_what_to_take():
    with pytest.raises(OptionError, match=r"plot.folds\(\) needs a summary with figures.*summary\(figures=True\)"):
        Plots({"kind": "result"}).folds()


def test_a_summary_is_asked_for_only_when_a_figure_is():
    asked = []

    def source():
        asked.append(1)
        return RESULT

    plots = Plots(source)
    assert repr(plots).startswith("<Plots: splits, folds, estimates, parameters, ")
    assert asked == []
    plots.folds()
    plots.time()
    assert asked == [1, 1]


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=60)
    learner = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 3, 7)}, validation=ho.KFold(3))
    return X, y, ho.evaluate(learner, X, y, test=ho.KFold(5), progress=False)


def test_a_real_result_draws_its_own_numbers(study):
    *_, result = study
    found = np.asarray(result.plot.folds().collections[0].get_offsets())
    np.testing.assert_allclose(found[:, 1], np.sqrt(result.folds["squared"]))
    (ax,) = result.plot.parameters()
    assert ax.get_xscale() == "log"
    assert sum(int(text.get_text()) for text in ax.texts) == 5  # folds, by the values that they chose
    assert len(result.plot.residuals().collections[0].get_offsets()) == 60
    assert result.plot.splits().get_ylabel() == "part"
    bars = [bar.get_width() for bar in result.plot.stability().patches if bar.get_gid()]
    assert sum(bars) == 5
    with pytest.raises(OptionError, match="The target is a number"):
        result.plot.confusion()


def test_a_real_comparison_draws_its_own_numbers(study):
    X, y, _ = study
    found = ho.compare({"a": Ridge(), "b": Ridge(100.0)}, X, y, test=ho.KFold(5), progress=False)
    dots = found.plot.comparison().collections
    (places,) = [np.asarray(one.get_offsets()) for one in dots if one.get_gid()]
    assert places[0, 0] == pytest.approx(found.pairs[0].difference.value)
    assert len(found.plot.paired_folds().lines) == 5
    assert [text.get_text()[:2] for text in found.plot.ranking().texts[::2]] == ["1.", "2."]
    with pytest.raises(OptionError, match="shows one learner"):
        found.plot.folds()
