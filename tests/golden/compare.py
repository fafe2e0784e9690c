"""Golden values against what was seen now: every difference with its path, what was wanted and what was got."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

TINY = 1e-12  # below it numbers are rounding of zero
# BBC-CV draws rows again and takes the best candidate on them. Losses of a few values tie there, and the last bits of a
# product of matrices break the ties: on another processor the number is another, by a few percent at most.
BBC = "best_validation_bbc"
TIED_LOSSES = ("zero_one", "costs", "accuracy")
NEAR_OF_TIES = 0.1
TO_THE_BIT = ("folds", "choices", "candidates", "predictions", "final", "value")


def as_json(value: Any) -> Any:
    """The value as it comes back from a file: tuples are lists, floats keep every bit."""
    return json.loads(json.dumps(value, allow_nan=False))


def differences(wanted: Any, got: Any, *, near: float, exact: bool = False, path: str = "") -> Iterator[str]:
    """One line for each place where `got` is not what was wanted.

    Discrete values must be equal. Floats may differ by the relative `near`; with `exact`, those of folds, choices,
    candidates, predictions and values may not differ at all.
    """
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in wanted | got:
            place = f"{path}.{key}" if path else key
            if key not in got:
                yield f"{place}: wanted {short(wanted[key])}, got nothing"
            elif key not in wanted:
                yield f"{place}: wanted nothing, got {short(got[key])}"
            else:
                how = {"near": near, "exact": exact}
                if key == BBC and near:
                    tied = wanted[key].get("loss") in TIED_LOSSES
                    how = {"near": NEAR_OF_TIES if tied else near, "exact": False}
                yield from differences(wanted[key], got[key], **how, path=place)
    elif isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            yield f"{path}: wanted {len(wanted)} of them, {short(wanted)}, got {len(got)}, {short(got)}"
            return
        for place, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from differences(one, other, near=near, exact=exact, path=f"{path}[{place}]")
    elif is_float(wanted) and is_float(got):
        if not alike(wanted, got, near=near_at(path, near, exact)):
            yield f"{path}: wanted {wanted!r}, got {got!r}"
    elif isinstance(wanted, str) and isinstance(got, str):
        if wanted != got:
            begin = max(next((i for i, (a, b) in enumerate(zip(wanted, got, strict=False)) if a != b), 0) - 40, 0)
            yield f"{path}: wanted {short(wanted[begin:])}, got {short(got[begin:])}"
    elif type(wanted) is not type(got) or wanted != got:
        yield f"{path}: wanted {short(wanted)}, got {short(got)}"


def near_at(path: str, near: float, exact: bool) -> float | None:
    """How near a float must be at this path; None for the order of magnitude, 0 for the same bits."""
    names = path.replace("[", ".").split(".")
    if names[-1] == "operations":
        return None
    return 0.0 if exact and any(name in TO_THE_BIT for name in names) else near


def alike(wanted: float, got: float, *, near: float | None) -> bool:
    if near is None:
        return abs(wanted - got) <= 1.0
    return abs(wanted - got) <= (near and max(near * max(abs(wanted), abs(got)), TINY))


def is_float(value: Any) -> bool:
    return isinstance(value, float)


def short(value: Any, most: int = 160) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[:most] + " …"
