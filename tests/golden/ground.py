"""What a golden study runs on: how it is run, where its files go, and data whose bits are the same on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import heldout as ho
from golden.seen import seen_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """How a study is run: none of it may change a number."""

    folder: Path
    jobs: int | None = 1
    backend: str | None = "inline"
    rules: dict[str, bool] = field(default_factory=dict)  # switched off to compare a rule with brute force

    def evaluate(self, learner: Any, X: Any, y: Any = None, **question: Any) -> Any:
        if self.rules:
            options = question.get("options") or ho.Options()
            question["options"] = replace(options, rules={**(options.rules or {}), **self.rules})
        return ho.evaluate(learner, X, y, jobs=self.jobs, backend=self.backend, progress=False, **question)

    def study(self, learner: Any, X: Any, y: Any = None, *, final: bool = True, **question: Any) -> dict[str, Any]:
        """All that is pinned of one `evaluate`, the final predictor's answers on `X` among them."""
        return seen_result(self.evaluate(learner, X, y, **question), X if final else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One golden study, and how near its numbers must be to those that were recorded.

    `near` is relative. 1e-9 serves all that goes through BLAS or LAPACK, whose last bits depend on the processor;
    learners that iterate until a tolerance get 1e-6. `exact` is for studies without linear algebra: their folds,
    choices, candidates and predictions are pinned bit for bit, and their intervals, which use special functions, at
    `near`.
    """

    name: str
    run: Callable[[Ground], Any]
    near: float
    exact: bool
    drawn: bool  # among those that are run with two jobs and with processes too


STUDIES: dict[str, Study] = {}


def study(
    *, near: float = 1e-9, exact: bool = False, drawn: bool = False
) -> Callable[[Callable[[Ground], Any]], Callable[[Ground], Any]]:
    """Enter a function among the studies, under its own name."""

    def enter(function: Callable[[Ground], Any]) -> Callable[[Ground], Any]:
        add(function.__name__, function, near=near, exact=exact, drawn=drawn)
        return function

    return enter


def add(
    name: str, run: Callable[[Ground], Any], *, near: float = 1e-9, exact: bool = False, drawn: bool = False
) -> None:
    """Enter a study by name; who imports the module a second time, as pytest does for doctests, changes nothing."""
    entered = STUDIES.setdefault(name, Study(name=name, run=run, near=near, exact=exact, drawn=drawn))
    assert entered.run is run or home(entered.run) != home(run), f"two studies are called {name!r}"


def home(function: Any) -> str:
    return getattr(function, "func", function).__module__


def rng_of(name: str) -> np.random.Generator:
    """Chance of its own for each study, so that no two share rows: a look at a test set is remembered."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def rounded(values: Any) -> Any:
    """To three decimals: products have other last bits on other machines, and rows are known by their bits."""
    return np.round(np.asarray(values, dtype=float), 3) + 0.0


def numbers(name: str, n: int = 60, p: int = 4, *, targets: int = 0, noise: float = 1.0) -> tuple[Any, Any]:
    """A linear target with noise."""
    rng = rng_of(name)
    X = rounded(rng.normal(size=(n, p)) * np.linspace(0.5, 2, p) + 1)
    shape = (p,) if not targets else (p, targets)
    coef = rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], size=shape)
    coef[0] = 2
    y = sum(X[:, [j]] * coef[j] for j in range(p)) if targets else (X * coef).sum(axis=1)
    return X, rounded(y + noise * rng.normal(size=y.shape))


def classes(name: str, n: int = 72, p: int = 4, *, kinds: int = 2, words: bool = False) -> tuple[Any, Any]:
    """Classes that the first two columns tell apart, not without errors."""
    rng = rng_of(name)
    X = rounded(rng.normal(size=(n, p)))
    score = X[:, 0] + 0.7 * X[:, 1] + 0.6 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))
    return X, np.array(["ant", "bee", "cat", "dog"])[y] if words else y


def counts(name: str, n: int = 72, p: int = 6) -> tuple[Any, Any]:
    """Columns of whole numbers whose rates depend on one of three classes, as words in texts."""
    rng = rng_of(name)
    y = rng.integers(0, 3, n)
    return rng.poisson(rng.uniform(0.2, 3, size=(3, p))[y]), y


def rates(name: str, n: int = 60, p: int = 3) -> tuple[Any, Any]:
    """A target of counts, for Poisson regression."""
    rng = rng_of(name)
    X = rounded(rng.normal(size=(n, p)))
    return X, rng.poisson(np.round(np.exp(0.4 * X[:, 0] + 0.5), 6)).astype(float)


def groups_of(name: str, n: int, kinds: int = 12) -> Any:
    return rng_of(f"{name} groups").permutation(np.arange(n) % kinds)


def weights_of(name: str, n: int) -> Any:
    return rounded(rng_of(f"{name} weights").uniform(0.5, 2, n))


def days_of(name: str, n: int) -> Any:
    """Days in no order, none twice."""
    return np.datetime64("2024-01-01") + rng_of(f"{name} days").permutation(2 * n)[:n]


def table_of_all_kinds(n: int = 60, *, many: int = 20) -> pd.DataFrame:
    """Numbers, categories, yes or no, dates and prose, with gaps; `many` is how many streets there are."""
    rng = rng_of(f"table of all kinds {many}")
    words = np.array(["good", "bad", "cheap", "dear", "quiet", "noisy"])
    frame = pd.DataFrame(
        {
            "size": rounded(rng.normal(size=n)),
            "colour": rng.choice(["red", "green", "blue"], n),
            "street": [f"s{i}" for i in rng.permutation(np.arange(n) % many)],
            "garden": rng.choice(["yes", "no"], n),
            "seen": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(n)],
            "review": [" ".join(rng.choice(words, 5)) for _ in range(n)],
        }
    )
    for column in ("size", "colour", "review"):
        frame.loc[rng.random(n) < 0.1, column] = None
    frame["price"] = rounded(rng.normal(10, 2, n) + frame["size"].fillna(0))
    frame["label"] = np.where(frame["price"] > 10, "dear", "cheap")
    return frame
