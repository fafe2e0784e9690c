"""What every page of ours stands in: the templates, our style and script, and the policy that lets nothing else in."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from heldout.base.errors import OptionError
from heldout.report.figures.palette import PALETTE_CSS
from heldout.report.page.words import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = "heldout.report.page"


def render_template(
    name: str, values: Mapping[str, Any], *, script: str = "", style: str = "", connect: bool = False
) -> str:
    """A template of ours as a whole page; what it holds is escaped unless it is markup of our own making.

    `script` and `style` stand beside the page's own, and `connect` lets scripts ask the server the page came from.
    """
    page = _environment().get_template(name)
    from markupsafe import Markup  # here with Jinja2, which the line above asks for

    return page.render(
        values,
        policy=page_policy(script=script, style=style, connect=connect),
        style=Markup(_style() + style),
        scripts=[Markup(text) for text in (_script(), script) if text],
    )


def page_policy(*, script: str = "", style: str = "", connect: bool = False) -> str:
    """The content security policy of a page: our style and scripts by their hashes, pictures in the page, no more."""
    scripts = " ".join(_hash(text) for text in (_script(), script) if text)
    rules = ["default-src 'none'", f"style-src {_hash(_style() + style)}", f"script-src {scripts}", "img-src data:"]
    rules += ["connect-src 'self'"] if connect else []
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


@cache
def _style() -> str:
    return PALETTE_CSS.strip() + "\n" + own_text("style.css")


@cache
def _script() -> str:
    return own_text("script.js")


def own_text(name: str) -> str:
    """A file of ours that stands in pages: a style or a script."""
    return files(_HERE).joinpath(name).read_text(encoding="utf-8").strip()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise OptionError(
            "The page of a report needs Jinja2. Install it with pip install 'heldout[report]', or print the result "
            "and read it as text."
        ) from None
    made = Environment(
        loader=PackageLoader(_HERE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    return made
