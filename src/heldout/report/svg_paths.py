"""Paths of SVG in few bytes: two decimals, steps from point to point, and no point that is not a corner."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
PLACES = 100  # of a point of the drawing, that are told apart


def rounded(text: str) -> str:
    """A number with two decimals at most.

    >>> rounded("103.952727"), rounded("-0.5"), rounded("7.0")
    ('103.95', '-.5', '7')
    """
    return _written(round(float(text) * PLACES))


def _written(hundredths: int) -> str:
    """A whole number of hundredths as short as it can be written."""
    sign, size = ("-" if hundredths < 0 else ""), abs(hundredths)
    whole, rest = divmod(size, PLACES)
    tail = f"{rest:02d}".rstrip("0")
    if not tail:
        return f"{sign}{whole}"
    return f"{sign}{whole or ''}.{tail}"


def _joined(numbers: list[int]) -> str:
    words = [_written(number) for number in numbers]
    return words[0] + "".join(word if word.startswith("-") else f" {word}" for word in words[1:])


def compact(path: str) -> str:
    """The same path, written shorter. It knows what matplotlib writes: M, L, C, Q and z, all absolute.

    Every place is rounded first and the steps taken between rounded places, so that errors do not add up.

    >>> compact("M 10 20 L 30 20 L 40 20 L 40 25.006 z")
    'M10 20h30v5.01z'
    """
    tokens = _TOKEN.findall(path)
    parts: list[str] = []
    here = start = (0, 0)
    run: tuple[str, int] | None = None  # a step along one axis that the next may go on
    place = 0
    while place < len(tokens):
        letter = tokens[place]
        count = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}[letter]
        ends = [round(float(token) * PLACES) for token in tokens[place + 1 : place + 1 + count]]
        place += 1 + count
        if letter == "L":
            dx, dy = ends[0] - here[0], ends[1] - here[1]
            here = (ends[0], ends[1])
            step = ("h", dx) if dy == 0 else ("v", dy) if dx == 0 else None
            if step is not None:
                if run is not None and run[0] == step[0] and run[1] * step[1] >= 0:
                    run = (run[0], run[1] + step[1])
                else:
                    parts.append(_step(run))
                    run = step
                continue
            parts.append(_step(run) + "l" + _joined([dx, dy]))
            run = None
            continue
        parts.append(_step(run))
        run = None
        if letter == "z":
            parts.append("z")
            here = start
        elif letter == "M":
            here = start = (ends[0], ends[1])
            parts.append("M" + _joined(ends))
        else:
            relative = [end - here[index % 2] for index, end in enumerate(ends)]
            here = (ends[-2], ends[-1])
            parts.append(letter.lower() + _joined(relative))
    parts.append(_step(run))
    return "".join(parts)


def _step(run: tuple[str, int] | None) -> str:
    return "" if run is None or run[1] == 0 else run[0] + _written(run[1])


def bounds(path: str) -> tuple[float, float]:
    """How wide and how high the places of a path lie apart."""
    numbers = [float(token) for token in _TOKEN.findall(path) if not token.isalpha()]
    return max(numbers[::2]) - min(numbers[::2]), max(numbers[1::2]) - min(numbers[1::2])
