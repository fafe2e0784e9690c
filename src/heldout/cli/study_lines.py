"""On which line of a TOML file each key stands: what `tomllib` does not tell. For files that `tomllib` has read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\n|[\[\]{}=.]|[^\s"\'#\[\]{}=.]+|\s',
    re.DOTALL,
)
_OPEN, _CLOSE = ("[", "{"), ("]", "}")


def lines_of_keys(text: str) -> dict[Path, int]:
    """The first line of each table and each key, counted from 1; keys of an inline table are on the line of its own.

    >>> lines_of_keys('data = "a.csv"\\n\\n[space]\\nridge.alpha = [\\n  1,\\n]\\nknn = 3')
    {('data',): 1, ('space',): 3, ('space', 'ridge', 'alpha'): 4, ('space', 'knn'): 7}
    """
    found: dict[Path, int] = {}
    table: Path = ()
    for number, tokens in _statements(text):
        if tokens[0] == "[":
            table = _key([token for token in tokens if token not in ("[", "]")])
            found.setdefault(table, number)
        elif "=" in tokens:
            found.setdefault((*table, *_key(tokens[: tokens.index("=")])), number)
    return found


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """The line of a key, or of the nearest table around it that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each statement without comments and blanks, and the line it begins on."""
    line, start, depth = 1, 1, 0
    tokens: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n" and depth == 0 and tokens:
            yield start, tokens
            tokens = []
        if not token.isspace() and not token.startswith("#"):
            start = start if tokens else line
            tokens.append(token)
            depth += (token in _OPEN) - (token in _CLOSE)
        line += token.count("\n")
    if tokens:
        yield start, tokens


def _key(tokens: list[str]) -> Path:
    """The parts of a dotted key, quotes taken off."""
    return tuple(_unquoted(token) for token in tokens if token != ".")


def _unquoted(token: str) -> str:
    return str(tomllib.loads(f"key = {token}")["key"]) if token[0] in "\"'" else token
