"""A real browser, and pages of real studies on disk to open in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.audit.ledger import MemoryLedger

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]
NAME = "</script></style></svg><img src=x onerror=window.__pwned=1><b>[/red]$\\frac{$"  # heldout refuses worse ones
HOSTILE = f"{NAME}\u202e\x07\n"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once; tests are skipped where there is none."""
    from playwright.sync_api import sync_playwright

    named = [os.environ.get("HELDOUT_BROWSER"), *map(shutil.which, PROGRAMS)]
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        program = next((path for path in (*named, own) if path and os.path.exists(path)), None)
        if program is None:
            pytest.skip("no Chromium or Chrome was found: python tests/browser/install.py brings one")
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass
class Heard:
    """What a page did that it must not do."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a file in a tab of its own; afterwards it must have asked for nothing else and complained of nothing."""
    contexts, heard = [], Heard()

    def open_file(path: Path, *, width: int = 1280, height: int = 900, refused: int = 0, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        address = path.as_uri()

        def route(route: Any) -> None:
            if route.request.url.split("#")[0] == address:
                route.continue_()
            else:
                heard.requests.append(route.request.url)
                route.abort()

        context.route("**/*", route)
        page.on("console", lambda message: heard.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (heard.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        policy = [one for one in heard.complaints if "Content Security Policy" in one]
        assert len(policy) == refused
        heard.complaints[:] = [one for one in heard.complaints if one not in policy]
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert heard.requests == []
    assert heard.complaints == []


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of a classification, a regression, a comparison and two hostile studies, by name."""
    folder = tmp_path_factory.mktemp("reports")
    made = {
        "classification": _classification,
        "regression": _regression,
        "comparison": _comparison,
        "hostile": _hostile,
        "hostile-comparison": _hostile_comparison,
    }
    paths = {name: folder / f"{name}.html" for name in made}
    for name, study in made.items():
        with pytest.MonkeyPatch.context() as patch:  # no study is told of another's looks at the same rows
            patch.setattr("heldout.audit.ledger.PROCESS_LEDGER", MemoryLedger())
            study().report(paths[name])
    return paths


def _classification() -> ho.Result:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    answers = y.map({0: "malignant", 1: "benign"})
    learner = ho.Tuned(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        {"logisticregression__C": ho.log_grid(-4, 3, 8)},
        validation=ho.KFold(3),
        loss="log",
    )
    options = ho.Options(learning_curve=True)
    return ho.evaluate(
        learner, X, answers, test=ho.KFold(5), loss=["zero_one", "log"], jobs=1, progress=False, options=options
    )


def _ridge() -> ho.Tuned:
    pipeline = make_pipeline(StandardScaler(), Ridge())
    return ho.Tuned(pipeline, {"ridge__alpha": ho.log_grid(-3, 4, 29)}, validation=ho.KFold(5))


def _regression() -> ho.Result:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return ho.evaluate(_ridge(), X, y, test=ho.KFold(10), jobs=1, progress=False)


def _comparison() -> Any:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    neighbours = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [3, 5, 9, 15, 25, 40]}, validation=ho.KFold(5))
    learners = {"ridge": _ridge(), "neighbours": neighbours, "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    return ho.compare(learners, X, y, test=ho.KFold(10), rope=100.0, jobs=1, progress=False)


class Sulky(KNeighborsClassifier):  # type: ignore[misc]
    """Neighbours that refuse one number, in words that want to be a page."""

    def fit(self, X: Any, y: Any) -> Any:
        if self.n_neighbors == 7:
            raise ValueError(HOSTILE * 3)
        return super().fit(X, y)


def _hostile_data() -> tuple[pd.DataFrame, Any]:
    drawn = np.random.default_rng(0)
    X = pd.DataFrame({f"{HOSTILE}{name}": drawn.normal(size=90) for name in ("a", "b", "x" * 10_000)})
    return X, np.where(X.iloc[:, 0] + drawn.normal(size=90) > 0, HOSTILE + "yes", "y" * 10_000)


def _hostile() -> ho.Result:
    X, y = _hostile_data()
    families = {
        NAME: (Sulky(), {"n_neighbors": [3, 5, 7]}),
        "z" * 10_000: (LogisticRegression(), {"C": [0.1, 1.0]}),
    }
    learner = ho.Tuned(families, validation=ho.KFold(3), loss="log")
    return ho.evaluate(learner, X, y, test=ho.KFold(3), loss=["zero_one", "log"], jobs=1, progress=False)


def _hostile_comparison() -> Any:
    X, y = _hostile_data()
    learners = {NAME: KNeighborsClassifier(3), "z" * 100: LogisticRegression(), "[/red]": Sulky(5)}
    return ho.compare(learners, X, y, test=ho.KFold(3), jobs=1, progress=False)
