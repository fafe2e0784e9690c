"""`result.plot` and `comparison.plot` draw what the summary holds."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import heldout as ho

X, y = (part[:120] for part in load_diabetes(return_X_y=True))


def test_a_learning_curve_is_fitted_when_it_is_drawn():
    result = ho.evaluate(Ridge(alpha=0.1), X, y, test=ho.KFold(3), jobs=1)
    assert "learning_curve" not in result.record.tables
    axes = result.plot.learning_curve()
    sizes = result.learning_curve["size"].tolist()
    drawn = {tuple(line.get_xdata()) for line in axes.lines}
    assert any(list(one) == sizes for one in drawn)


def test_a_saved_result_without_a_curve_says_so(tmp_path):
    ho.evaluate(Ridge(), X, y, test=ho.KFold(3), jobs=1).save(tmp_path / "r.heldout")
    with pytest.raises(ho.HeldoutError, match="learning_curve=True"):
        ho.load(tmp_path / "r.heldout").plot.learning_curve()


def test_figures_of_a_comparison_and_of_a_result_are_not_mixed_up():
    compared = ho.compare({"ridge": Ridge(), "mean": DummyRegressor()}, X, y, test=ho.KFold(3), jobs=1)
    assert compared.plot.ranking() is not None
    with pytest.raises(ho.HeldoutError, match="compare"):
        compared.results["ridge"].plot.comparison()
    with pytest.raises(ho.HeldoutError):
        compared.plot.folds()
