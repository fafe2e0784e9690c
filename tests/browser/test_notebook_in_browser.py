"""Fragments for a notebook in a real browser: hostile names stay text, nothing is fetched, narrow and dark work."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report.show import as_html

NAME = "</script></style></table><img src=x onerror=window.__pwned=1> $x^2$ " + "n" * 10_000
X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def fragments() -> str:
    """Each twice, as a cell that is run again beside another."""
    tuned = ho.Tuned({NAME: (KNeighborsClassifier(), {"n_neighbors": [-1, 5]})}, validation=ho.KFold(3))
    how = {"test": ho.KFold(3), "backend": "inline", "progress": False}
    result = ho.evaluate(tuned, X, y, **how)
    learners = {NAME[:100]: KNeighborsClassifier(), "far": KNeighborsClassifier(90)}
    comparison = ho.compare(learners, X, y, **how)
    plan = ho.explain(tuned, X, y, test=ho.KFold(3))
    shown = (as_html("result", result.summary()), as_html("comparison", comparison.summary()), plan._repr_html_())
    return "".join(f"<div class=cell>{one}</div>" for one in shown * 2)


@pytest.fixture
def heard(browser: Any, fragments: str) -> Any:
    """The fragments on a dark page as wide as a phone, everything unfolded, and what the page did."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    done: list[str] = []
    page.on("request", lambda request: done.append(request.url))
    page.on("dialog", lambda dialog: done.append(dialog.message))
    page.on("pageerror", lambda error: done.append(str(error)))
    page.set_content(f"<body style='background:#111;color:#eee'>{fragments}</body>")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield page, done
    page.close()


def test_nothing_runs_and_nothing_is_fetched(heard):
    page, done = heard
    assert done == []
    assert page.evaluate("window.__pwned") is None
    assert page.locator("img, script, [id], [onerror]").count() == 0
    assert page.locator("body").inner_text().count("onerror=window.__pwned=1") >= 8


def test_nothing_is_wider_than_a_phone_and_names_are_clipped(heard):
    page, _ = heard
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    views = page.locator(".heldout-view")
    assert views.count() == 6
    for place in range(6):
        assert views.nth(place).bounding_box()["width"] <= 390
        assert "n" * 2_001 not in views.nth(place).inner_text()


def test_text_has_the_colour_of_the_notebook(heard):
    page, _ = heard
    colours = page.evaluate(
        "[...new Set([...document.querySelectorAll('.heldout-view, .heldout-view *')]"
        ".filter(one => one.tagName !== 'STYLE').map(one => getComputedStyle(one).color))]"
    )
    assert colours == ["rgb(238, 238, 238)"]
