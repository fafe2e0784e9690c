"""A summary with figures as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heldout.base.errors import OptionError
from heldout.report.page.comparison import comparison_view
from heldout.report.page.frame import render_template
from heldout.report.page.needs import check_page_packages
from heldout.report.page.result import result_view

_VERSION = 2
_VIEWS: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "result": result_view,
    "comparison": comparison_view,
}


def render_page(summary: Mapping[str, Any]) -> str:
    """The page of a result or of a comparison, from its summary with figures; the same summary gives the same bytes."""
    version, kind = summary.get("version"), summary.get("kind")
    if version != _VERSION or kind not in _VIEWS:
        raise OptionError(
            f"The page is made from a summary of version {_VERSION} whose kind is 'result' or 'comparison', not "
            f"version {version!r} and kind {kind!r}. Take it from result.summary(figures=True)."
        )
    if "figures" not in summary:
        raise OptionError("The page needs what its figures show. Make the summary with summary(figures=True).")
    check_page_packages()
    return render_template(f"{kind}.html.j2", _VIEWS[kind](summary))
