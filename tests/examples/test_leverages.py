"""docs/leverages.md: the formula, heldout and brute force give the same number, and a leverage of 1 is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import heldout as ho

PAGE = Path(__file__).parents[2] / "docs" / "leverages.md"


def run_page() -> tuple[dict[str, Any], str]:
    """The names that the first example of the page leaves, and its second example."""
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(first, names)
    return names, second


def test_formula_heldout_and_fits_agree() -> None:
    names, _ = run_page()
    assert names["by_heldout"] == pytest.approx(names["by_formula"], rel=1e-12)
    assert names["by_fits"] == pytest.approx(names["by_formula"], rel=1e-12)
    assert "ridge" in str(names["result"].plan)


def test_a_leverage_of_one_is_not_left_to_the_formula() -> None:
    names, second = run_page()
    exec(second, names)
    X, y = names["X"], names["y"]
    result = ho.evaluate(LinearRegression(), X, y, test=ho.LeaveOneOut(), loss="squared", progress=False)
    ours = np.asarray(result.predictions.sort_values("row")["predict"], dtype=float)
    theirs = cross_val_predict(LinearRegression(), X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
