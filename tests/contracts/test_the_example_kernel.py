"""The kernel that docs/planner.md shows is a real one: it keeps the contract."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kernel_contract
import pytest
from kernel_contract import Learner, check_kernel
from sklearn.dummy import DummyRegressor

import heldout as ho
from heldout.kernels import perform
from heldout.planner import passes
from heldout.planner.shared_products import across

PAGE = Path(__file__).parents[2] / "docs" / "planner.md"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    kernel = names["KERNEL"]
    monkeypatch.setattr(perform, "KERNELS", {**perform.KERNELS, kernel.name: kernel.answer})
    monkeypatch.setattr(passes, "ACROSS", (*passes.ACROSS, kernel))
    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES, (kernel.name, across(kernel))))
    learner = Learner("mean", DummyRegressor(), {"strategy": ["mean", "median"]}, weights=False)
    monkeypatch.setattr(kernel_contract, "LEARNERS", (learner,))
    return kernel


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_example_keeps_the_contract(example: Any, seed: int) -> None:
    check_kernel(example.name, seed=seed)


def test_a_wrong_example_is_caught(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = example.kernel.learn
    monkeypatch.setattr(example.kernel, "learn", lambda *given: learn(*given) + 1)
    with pytest.raises(AssertionError):
        check_kernel(example.name, seed=0)


def test_explain_names_what_the_example_left(example: Any) -> None:
    tuned = ho.Tuned(DummyRegressor(), {"strategy": ["mean", "median"]})
    text = str(ho.explain(tuned, [[float(i)] for i in range(30)], [float(i) for i in range(30)], test=3))
    assert "strategy='median' is no mean" in text
