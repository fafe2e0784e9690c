"""The worked page on panel data, in small: its script runs, and shows what the page says it shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NAIVE, HONEST = "nothing: rows are shuffled", "groups and time, with a buffer"


@pytest.fixture(scope="module")
def panel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("panel_example", ROOT / "examples" / "panel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shuffled_rows_look_better_than_they_are_and_roles_do_not(panel, tmp_path, capsys):
    table = panel.main(customers=16, months=48, worlds=1, picture=str(tmp_path / "splits.png"))
    naive, honest = table.loc[NAIVE], table.loc[HONEST]
    assert naive["said"] < 0.75 * naive["new"]  # optimistic by far
    assert honest["said"] > naive["said"]
    assert abs(honest["new"] - honest["said"]) < naive["new"] - naive["said"]
    assert honest["ridge chosen"] > naive["ridge chosen"]
    assert (tmp_path / "splits.png").stat().st_size > 1_000
    assert "buffers throw away" in capsys.readouterr().out


def test_no_row_trains_with_an_outcome_that_reaches_the_months_held_out(panel):
    world = panel.make_panel(16, 48, seed=1)
    splits = panel.evaluate_study(HONEST, world).splits
    month = world["month"].to_numpy()
    for train, held in splits:
        assert not set(world["customer"][train]) & set(world["customer"][held])
        last = month[train].max().astype("datetime64[M]") + panel.OUTCOME  # the month its outcome ends in
        assert last < month[held].min().astype("datetime64[M]")
