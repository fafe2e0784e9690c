"""A page in a file: an existing one is replaced only once the new one is whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_page(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Render the page of a summary with figures and write it to `path`."""
    from heldout.report.page.render import render_page

    write_text(render_page(summary), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a whole text, or nothing."""
    target = Path(path)
    unfinished = target.with_name(target.name + ".part")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        os.replace(unfinished, target)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
