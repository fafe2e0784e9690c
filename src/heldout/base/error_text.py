"""An exception as plain text, whatever it is: its own words may be endless, or fail themselves."""

from __future__ import annotations

import traceback

LONGEST_MESSAGE = 4_000  # characters
LONGEST_TRACEBACK = 20_000


def describe_error(error: BaseException) -> tuple[str, str, str]:
    """An exception as three texts: type name, message and formatted traceback.

    Examples
    --------
    >>> kind, message, trace = describe_error(ValueError("no such column"))
    >>> kind, message, trace
    ('ValueError', 'no such column', 'ValueError: no such column\\n')
    """
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be shown)"
    try:
        lines = "".join(traceback.format_exception(error))
    except Exception:
        lines = "".join(traceback.format_tb(error.__traceback__))
    return type(error).__name__, shorten(message, LONGEST_MESSAGE), shorten(lines, LONGEST_TRACEBACK)


def shorten(text: str, longest: int) -> str:
    """A text with its middle left out where it is longer than that: both ends of a traceback tell most.

    Examples
    --------
    >>> shorten("abcdefghij", 4)
    'ab\\n… 6 characters left out …\\nij'
    """
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
