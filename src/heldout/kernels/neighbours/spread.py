"""Spreading blocks over threads without changing a bit: each thread works as the study's own would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib
import sklearn
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Value = TypeVar("Value")


def spread(
    jobs: int, function: Callable[[Item], Value], items: Sequence[Item], *, library: bool = False
) -> list[Value]:
    """The function of each item, in order, on at most `jobs` threads; `library` when it calls scikit-learn."""
    if jobs <= 1 or len(items) <= 1:
        return [function(item) for item in items]
    if not library:
        with ThreadPoolExecutor(min(jobs, len(items))) as pool:
            return list(pool.map(function, items))
    config = sklearn.get_config()

    def call(item: Item) -> Value:
        with _as_asked(config):
            return function(item)

    with ThreadPoolExecutor(min(jobs, len(items)), initializer=_one_thread) as pool:
        return list(pool.map(call, items))


def _one_thread() -> None:
    """OpenMP counts threads for each thread that calls it, so each is told anew."""
    ThreadpoolController().select(user_api="openmp").limit(limits=1)


@contextmanager
def _as_asked(config: Mapping[str, Any]) -> Iterator[None]:
    """scikit-learn's configuration and joblib's backend are settings of a thread: hand them on."""
    with sklearn.config_context(**config), joblib.parallel_config(backend="sequential"):
        yield
