"""Renders a summary as one self-contained HTML file that loads nothing from the network and escapes all text."""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.base.errors import OptionError
from heldout.base.markup import Html
from heldout.base.words import clipped, line, shortened, show_seconds
from heldout.report.blocks import Facts, Figure
from heldout.report.comparison import verdict_lines
from heldout.report.figures.palette import PALETTE_CSS
from heldout.report.first_screen import data_words, learner_words, study_words
from heldout.report.html import PAGE, STRIP, asset, named, sort_key
from heldout.report.result import estimate_facts
from heldout.report.sections import comparison_sections, result_sections, words_section
from heldout.report.study_list import SHOWN_VERSION
from heldout.report.words import (
    amount,
    between,
    counted,
    estimate_words,
    headline_parts,
    is_good,
    leading,
    level_words,
    row_count,
    severity_words,
    verdict_words,
)

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGES = ("jinja2", "matplotlib")
LONG = 9  # characters of a key number from which on it is smaller, so that it stays on one line
_PROSE = 1_500  # characters of a sentence
_SECTIONS = {"result": result_sections, "comparison": comparison_sections}


def check_page_packages() -> None:
    """Raise an OptionError that says how to install the packages a page needs, if one is missing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise OptionError(
            f"A report page needs {' and '.join(missing)}. Install it with pip install 'heldout[report]', or print the "
            "result."
        )


def write_page(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Render the page of a summary with figures and write it to `path`."""
    write_text(render_page(summary), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text to `path` atomically: an existing file is replaced only after the new one is complete."""
    target = Path(path)
    unfinished = target.with_name(target.name + ".part")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        os.replace(unfinished, target)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def render_page(summary: Mapping[str, Any]) -> str:
    """Return the page of a result or comparison as HTML; the same summary always gives the same bytes."""
    version, kind = summary.get("version"), summary.get("kind")
    if version != SHOWN_VERSION or kind not in _SECTIONS:
        raise OptionError(
            f"The page is made from a summary of version {SHOWN_VERSION} whose kind is 'result' or 'comparison', not "
            f"version {version!r} and kind {kind!r}. Take it from result.summary(figures=True)."
        )
    if "figures" not in summary:
        raise OptionError("The page needs what its figures show. Make the summary with summary(figures=True).")
    check_page_packages()
    written = [(section, PAGE.blocks(section.blocks)) for section in _SECTIONS[kind](summary)]
    head = _result_head(summary) if kind == "result" else _comparison_head(summary)
    told = re.sub("<[^>]*>", " ", "".join(body for _, body in written)) + str(head)
    words = words_section(told)
    values = {
        "kind": "evaluation" if kind == "result" else "comparison",
        "counts": severity_words(Counter(finding["severity"] for finding in summary["findings"])),
        "sections": [(section, body) for section, body in (*written, (words, PAGE.blocks(words.blocks))) if body],
        **head,
    }
    return render_template("page.html.j2", values)


def _result_head(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page of a result begins with: the study, the verdict and the key number."""
    verdict, headline, risk = summary["verdict"], summary["headline"], summary["risk"]
    label, value, sure, plain = headline_parts(summary)
    metric = leading(summary) or risk
    title = study_words(headline)
    return {
        "title": clipped(title, 80),
        "eyebrow": "How good is it really?",
        "heading": named(title, 100),
        "setting": [data_words(headline), learner_words(headline).removesuffix(".")],
        "sentence": verdict["sentence"],
        "against": " ".join(verdict_words(summary)),
        "good": is_good(summary),
        "key": {
            "label": label,
            "loss": "higher is better" if metric["greater_is_better"] else "lower is better",
            "value": value,
            "long": len(value) > LONG,
            "interval": sure,
            "plain": plain,
            "strip": PAGE.block(Figure(STRIP, summary)),
            "meaning": verdict["meanings"]["risk"]["text"],
            "facts": PAGE.block(
                Facts({**estimate_facts({**risk, **metric}), "training rows": row_count(risk["train_size"])})
            ),
        },
        "points": {
            "Why there is no interval" if metric["low"] is None else "What the interval promises": verdict["promise"],
            "The number that chose": verdict["optimism"],
            "The model to ship": summary["covers"]["sentence"],
            "To be surer": " ".join(verdict["surer"]),
        },
    }


def _comparison_head(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page of a comparison begins with: the study, the learners and the verdict."""
    verdict, headline = summary["verdict"], summary["headline"]
    names = ", ".join(line(learner["name"]) for learner in summary["ranking"])
    return {
        "title": clipped(f"{study_words(headline)}: which is better", 100),
        "eyebrow": "Which is better?",
        "heading": named(study_words(headline), 100),
        "setting": [
            f"{counted(len(summary['ranking']), 'learner')}: {clipped(names, 200)}",
            counted(headline["rows"], "row"),
            f"test, the same for all: {summary['about']['test']}",
        ],
        "sentence": " ".join(verdict_lines(summary)),
        "against": "",
        "good": False,
        "key": None,
        "points": {"What the intervals promise": verdict["promise"], "To be surer": " ".join(verdict["surer"])},
    }


def render_template(
    name: str, values: Mapping[str, Any], *, script: str = "", style: str = "", connect: bool = False
) -> str:
    """Render a template of this package as a whole page; all text is escaped, except our own markup.

    `script` and `style` are added to the page's own, and `connect` lets scripts send requests to the page's server.
    """
    return (
        _environment()
        .get_template(name)
        .render(
            values,
            policy=page_policy(script=script, style=style, connect=connect),
            style=Html(_style() + style),
            scripts=[Html(text) for text in (asset("script.js"), script) if text],
        )
    )


def page_policy(*, script: str = "", style: str = "", connect: bool = False) -> str:
    """Return a page's content security policy: only our style and scripts, by hash, and embedded images."""
    scripts = " ".join(_hash(text) for text in (asset("script.js"), script) if text)
    rules = ["default-src 'none'", f"style-src {_hash(_style() + style)}", f"script-src {scripts}", "img-src data:"]
    rules += ["connect-src 'self'"] if connect else []
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


def _style() -> str:
    return PALETTE_CSS.strip() + "\n" + asset("style.css")


_FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "between": between,
    "sort_key": sort_key,
    "counted": counted,
    "level": level_words,
    "line": line,
    "named": named,
    "prose": lambda text: clipped(line(text), _PROSE),  # names in a sentence can have any length
    "seconds": show_seconds,
    "shortened": shortened,
    "estimate_words": estimate_words,
}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("heldout.report", "assets/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    return made
