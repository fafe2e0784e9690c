"""Pickles by value, and the name of what cannot be pickled."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import ModuleType

import cloudpickle
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from heldout.backends.pickling import dumps, explain_unpicklable


def locked(model: Ridge) -> Ridge:
    model.solver_lock = threading.Lock()
    return model


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: object) -> None:
        self.inner = inner


LOCK = threading.Lock()


def uses_global() -> object:
    return LOCK


def make_cases() -> list[tuple[object, str]]:
    lock = threading.Lock()
    refused = "cannot pickle '_thread.lock' object"
    return [
        (locked(Ridge()), f"Ridge.solver_lock: {refused}"),
        (make_pipeline(StandardScaler(), locked(Ridge())), f"Pipeline.steps[1][1].solver_lock: {refused}"),
        ({"ridge": (locked(Ridge()), {})}, f"dict['ridge'][0].solver_lock: {refused}"),
        (Slotted([1, lock]), f"Slotted.inner[1]: {refused}"),
        (partial(print, lock), f"partial(arguments)[0]: {refused}"),
        (FunctionTransformer(lambda X: (X, lock)), f"FunctionTransformer.func (its variable 'lock'): {refused}"),
        (lock, f"lock: {refused}"),
    ]


@pytest.mark.parametrize(("obj", "expected"), make_cases())
def test_the_culprit_is_named(obj: object, expected: str) -> None:
    assert explain_unpicklable(obj) == expected


def test_a_global_that_cannot_travel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses_global, "__module__", "__main__")
    assert explain_unpicklable(uses_global) == "uses_global (its global 'LOCK'): cannot pickle '_thread.lock' object"


def test_a_circle_is_walked_once() -> None:
    ring: list[object] = [threading.Lock()]
    ring.insert(0, ring)
    assert explain_unpicklable(ring) == "list[1]: cannot pickle '_thread.lock' object"


def test_nothing_is_said_of_what_can_be_pickled() -> None:
    assert explain_unpicklable(Ridge()) == ""


def test_a_module_off_the_path_travels_by_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("heldout_off_path")
    module.__file__ = str(tmp_path / "heldout_off_path.py")
    exec("def plus(x): return x + one\none = 1\n", module.__dict__)
    monkeypatch.setitem(sys.modules, "heldout_off_path", module)
    stream = dumps(module.plus)
    assert cloudpickle.list_registry_pickle_by_value() == set()
    program = f"import pickle; assert pickle.loads({stream!r})(2) == 3"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_library_classes_travel_by_name() -> None:
    assert len(dumps(Ridge)) < 100
    assert pickle.loads(dumps(Ridge)) is Ridge
