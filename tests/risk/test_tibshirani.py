"""The Tibshirani correction: the formula, and what it needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.base.errors import OptionError
from heldout.risk.selection import tibshirani


@given(arrays(float, st.tuples(st.integers(1, 7), st.integers(2, 6)), elements=st.floats(-100, 100)))
def test_it_is_the_formula_and_never_below_the_best_number(losses):
    means = [sum(row) / len(row) for row in losses]
    chosen = min(range(len(means)), key=lambda c: (np.mean(losses[c]), c))
    gained = [losses[chosen][k] - min(row[k] for row in losses) for k in range(losses.shape[1])]
    expected = means[chosen] + sum(gained) / len(gained)
    assert tibshirani(losses).value == pytest.approx(expected, abs=1e-9)
    assert tibshirani(losses).value >= min(means) - 1e-9


@pytest.mark.parametrize("losses", [np.ones((3, 1)), np.array([[1.0, np.nan]]), np.ones(3), np.empty((0, 2))])
def test_what_it_cannot_take_is_refused(losses):
    with pytest.raises(OptionError, match="Tibshirani"):
        tibshirani(losses)
