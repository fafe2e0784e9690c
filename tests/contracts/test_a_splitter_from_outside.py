"""The splitter of docs/extending.md, from outside heldout: it keeps the contract, and serves at every level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_sections import run_section
from sklearn.linear_model import Ridge
from strategy_contract import check_strategy

import heldout as ho
from heldout.task import declare

EveryOther = run_section("A splitter")["EveryOther"]


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, X @ [1.0, 2.0, 0.0] + np.random.default_rng(1).normal(size=60)


def test_it_keeps_the_contract(data):
    check_strategy(EveryOther(4), declare(*data, classification=False))


def test_it_splits_at_both_levels_and_its_splits_are_drawn_saved_and_loaded(data, tmp_path: Path):
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=EveryOther(2))
    result = ho.evaluate(learner, *data, test=EveryOther(3), jobs=1, progress=False)
    by_hand = []
    for part in range(3):
        held = np.arange(60) % 3 == part
        fitted = learner.fit(data[0][~held], data[1][~held])
        by_hand.append(np.mean((fitted.predict(data[0][held]) - data[1][held]) ** 2))
    assert result.risk.value == pytest.approx(np.mean(by_hand))
    drawn = ho.draw(EveryOther(3), *data)
    drawn.save(tmp_path / "three.splits")
    assert ho.load_splits(tmp_path / "three.splits") == drawn == result.splits


def test_a_journal_knows_its_answers_again(data, tmp_path: Path):
    def ask() -> ho.Result:
        return ho.evaluate(Ridge(), *data, test=EveryOther(3), jobs=1, progress=False, journal=tmp_path / "study.db")

    assert ask().risk == ask().risk
    assert ask().journal.computed == 0
