"""Arguments and splitters in messages as the command line writes them, and command lines to be copied."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from heldout.base.errors import Argument, Splitter

_OPTIONS = {"sample_weight": "weights", "journal_anew": "anew"}  # where an option has another name than its argument
_ONLY_IN_PYTHON = ("journal_detail",)
_SPLITTERS = {"LeaveOneOut": "loo", "SharedBlocks": "shared", "Given": "rows"}


def as_option(part: Argument | Splitter) -> str:
    """An argument or a splitter of a message for people at a terminal.

    >>> as_option(Argument("pool", False)), as_option(Argument("validation", Splitter("KFold", 5)))
    ('--no-pool', '--validation kfold:5')
    """
    if isinstance(part, Splitter):
        name = _SPLITTERS.get(part.name, part.name.lower())
        also = "" if part.also is None else f" {as_option(part.also)}"
        return f"{name}:{part.size}{also}" if part.size else name
    if part.name in _ONLY_IN_PYTHON:
        return f"{part} in Python"
    option = _OPTIONS.get(part.name, part.name).replace("_", "-")
    if part.value in (None, False):
        return f"--no-{option}"
    if part.value is ... or part.value is True:
        return f"--{option}"
    return f"--{option} {as_option(part.value) if isinstance(part.value, Splitter) else part.value}"


def shell_line(words: Sequence[str]) -> str:
    r"""A command line to be copied: exact for the shell, and with nothing in it that a terminal would act on.

    >>> shell_line(["heldout", "check", "my table.csv"])
    "heldout check 'my table.csv'"
    >>> print(shell_line(["heldout", "check", "red\x1b[31m's.csv"]))
    heldout check $'red\x1b[31m\'s.csv'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _spelt(word) for word in words)


def _spelt(word: str) -> str:
    """A word with the bytes of its unprintable characters spelt out, in the quotes of shells for that."""
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    bytes_of = "".join(
        one if one.isprintable() else "".join(f"\\x{byte:02x}" for byte in one.encode("utf-8", "surrogateescape"))
        for one in plain
    )
    return f"$'{bytes_of}'"
