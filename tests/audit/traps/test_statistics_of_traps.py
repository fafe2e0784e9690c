"""The statistics behind the findings: false-alarm rates under chance, and numbers that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.audit.association import agreement_in_order, agreement_of_next, agreement_within, skill_of
from heldout.audit.check_table import as_responses, interpret
from heldout.audit.row_views import equal_pairs
from heldout.audit.traps.copied_rows import A_ROW, too_near
from heldout.task.column_kinds import is_id_name

TIMES = 1_500


@pytest.mark.parametrize(("groups", "rows"), [(10, 40), (100, 3)])
def test_agreement_within_groups_has_the_false_alarm_rate_it_says(groups: int, rows: int) -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(groups), rows)
    p = [agreement_within(rng.random((len(codes), 1)) - 0.5, codes).p for _ in range(TIMES)]
    for level in (0.1, 0.01):
        assert np.mean(np.array(p) < level) < level + 4 * np.sqrt(level / TIMES)
    assert np.mean(np.array(p) < 0.1) > 0.03  # and is no more careful than it must be


def test_agreement_in_order_has_the_false_alarm_rate_it_says() -> None:
    rng = np.random.default_rng(1)
    y = [as_responses(rng.integers(0, 3, 200), classification=True) for _ in range(TIMES)]
    p = np.array([agreement_in_order(one).p for one in y])
    assert abs(np.mean(p < 0.05) - 0.05) < 4 * np.sqrt(0.05 / TIMES)


def test_agreement_of_a_known_walk() -> None:
    responses = np.array([[-0.5], [-0.5], [0.5], [0.5]])
    assert agreement_in_order(responses).value == pytest.approx(1 / 3)
    assert agreement_of_next(responses, np.array([0, 0, 1, 1])).value == pytest.approx(-1)
    assert agreement_within(responses, np.array([0, 1, 0, 1])).value == pytest.approx(-1)


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_skill_is_the_share_of_the_spread_that_a_column_explains(noise: float) -> None:
    rng = np.random.default_rng(2)
    y = rng.random(5_000)
    column = interpret(y + noise * rng.normal(size=5_000) * y.std(), name="x", position=0)
    skill = skill_of(column, as_responses(y, classification=False))
    best = 1 / (1 + noise**2)  # of a linear predictor; neighbours add a little noise of their own
    assert skill.low < skill.value
    assert best - 0.04 < skill.value < best + 0.02


def test_a_column_that_tells_nothing_has_no_skill() -> None:
    rng = np.random.default_rng(3)
    y = as_responses(rng.integers(0, 2, 2_000), classification=True)
    for values in (rng.normal(size=2_000), rng.integers(0, 5, 2_000), rng.permutation(2_000)):
        assert skill_of(interpret(values, name="x", position=0), y).value < 0.02


def test_the_order_of_the_file_gives_no_skill_through_ties() -> None:
    """The rows of a table stand in a random order, so equal values do not bring back the order of the file."""
    y = as_responses(np.repeat([0, 1], 500), classification=True)[np.random.default_rng(4).permutation(1_000)]
    column = interpret(np.zeros(1_000), name="x", position=0)
    assert skill_of(column, y).value < 0.02


@pytest.mark.parametrize("dimension", [2, 5, 12])
def test_rows_are_too_near_as_seldom_as_said(dimension: int) -> None:
    from sklearn.neighbors import NearestNeighbors

    points = np.random.default_rng(5).normal(size=(6_000, dimension))
    distances = NearestNeighbors(n_neighbors=9).fit(points).kneighbors(points)[0][:, 1:]
    assert too_near(distances).mean() < 4 * A_ROW
    distances[:300, 0] /= 1_000
    assert too_near(distances)[:300].mean() > 0.9
    assert too_near(distances)[300:].mean() < 4 * A_ROW


def test_equal_pairs_are_counted() -> None:
    assert equal_pairs(np.array([5, 5, 5, 1, 2, 2], dtype=np.uint64)) == 4
    assert equal_pairs(np.array([7], dtype=np.uint64)) == 0


@pytest.mark.parametrize(
    ("name", "says"), [("id", True), ("order_no", True), ("UserID", True), ("idea", False), ("store_size", False)]
)
def test_names_of_identifiers(name: str, says: bool) -> None:
    assert is_id_name(name, loosely=True) is says
