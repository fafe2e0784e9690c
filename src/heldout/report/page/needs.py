"""What a page needs beside the base install."""

from __future__ import annotations

from importlib.util import find_spec

from heldout.base.errors import OptionError

PACKAGES = ("jinja2", "matplotlib")


def check_page_packages() -> None:
    """Refuse early where a package is missing, and say how to get it."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise OptionError(
            f"A report page needs {' and '.join(missing)}. Install it with pip install 'heldout[report]', or print the "
            "result."
        )
