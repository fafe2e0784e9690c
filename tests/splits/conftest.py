"""Tasks for drawing from: only their length and roles matter here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from heldout.task import Task


def _make_task(n: int, **roles: Any) -> Task:
    """A task of n rows; `y` None means a target of numbers, otherwise its classes."""
    y = roles.pop("y", None)
    groups = roles.pop("groups", None)
    if groups is not None:
        names, groups = np.unique(groups, return_inverse=True)
        roles |= {"groups": groups, "group_names": tuple(names.tolist())}
    numbers = y is None
    target = np.arange(n, dtype=float) if numbers else np.asarray(y)
    return Task(X=np.arange(2.0 * n).reshape(n, 2), y=target, **({"classification": not numbers} | roles))


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    return _make_task


@pytest.fixture(scope="session")
def iris_like() -> Task:
    """150 rows of three classes in no order."""
    return _make_task(150, y=np.random.default_rng(3).permutation(np.repeat([0, 1, 2], 50)))
