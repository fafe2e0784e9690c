"""What tests of reports start from: summaries, plain and hostile, their pages, and a reader of HTML."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from heldout.report.page import render_page

sys.path.insert(0, str(Path(__file__).parent))  # what a fragment must be is a module beside the tests

from made_summaries import HOSTILE, comparison_summary, hostile, result_summary


class Seen(HTMLParser):
    """Every element with its attributes, and all text, as a browser would read them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="session")
def make_result() -> Callable[..., dict[str, Any]]:
    return result_summary


@pytest.fixture(scope="session")
def make_comparison() -> Callable[..., dict[str, Any]]:
    return comparison_summary


@pytest.fixture(scope="session")
def with_hostile() -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda summary: hostile(copy.deepcopy(dict(summary)), HOSTILE)


@pytest.fixture(scope="session")
def seen() -> type[Seen]:
    return Seen


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """The page of each kind, plain and hostile."""
    made = {"result": result_summary(), "comparison": comparison_summary()}
    made |= {f"hostile {kind}": hostile(summary, HOSTILE) for kind, summary in made.items()}
    return {kind: render_page(summary) for kind, summary in made.items()}
