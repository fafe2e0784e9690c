"""The inverse power law: curves it must find again, its bounds, and what it needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.errors import OptionError
from heldout.risk.learning_curve import fit_power_law

SIZES = np.array([40.0, 80.0, 160.0, 320.0, 640.0])


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 5), st.floats(1, 50), st.floats(0.2, 2.0))
def test_a_power_law_is_found_again_and_carried_on(a, b, c):
    law = fit_power_law(SIZES, a + b * SIZES**-c)
    assert law.at(2000) == pytest.approx(a + b * 2000**-c, rel=1e-4)


def test_weights_decide_between_sizes_that_disagree():
    losses = 1 + 10 * SIZES**-1.0
    losses[0] += 0.5
    trusted = fit_power_law(SIZES, losses, weights=np.array([1e-9, 1, 1, 1, 1]))
    assert trusted.at(2000) == pytest.approx(1 + 10 / 2000, rel=1e-5)
    assert abs(fit_power_law(SIZES, losses).at(40) - losses[0]) < abs(trusted.at(40) - losses[0])


def test_a_risk_that_rises_is_carried_on_as_a_constant():
    law = fit_power_law(SIZES, np.array([1.0, 1.1, 1.2, 1.3, 1.4]))
    assert law.b == 0
    assert law.at(5000) == pytest.approx(1.2)


def test_it_never_falls_below_the_least_loss():
    law = fit_power_law(SIZES, np.array([0.5, 0.4, 0.3, 0.2, 0.1]), low=0.0)
    assert law.a == 0.0
    assert 0 < law.at(10_000) < 0.1


@pytest.mark.parametrize(
    ("sizes", "losses"),
    [([10, 20], [1.0, 0.5]), ([10, 20, 20], [1.0, 0.5, 0.4]), ([10, 20, 40], [1.0, np.nan, 0.4])],
)
def test_what_it_needs(sizes, losses):
    with pytest.raises(OptionError, match="3 training sizes"):
        fit_power_law(np.array(sizes, dtype=float), np.array(losses))
