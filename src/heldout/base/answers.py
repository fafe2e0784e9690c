"""Says how much of a test result is shown: everything, the number, the number rounded, or pass and fail."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from heldout.base.errors import Argument, OptionError, Sentence, did_you_mean

FULL, VALUE, ROUNDED, PASS_FAIL = "full", "value", "rounded", "pass/fail"
DEFAULT_STEP = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How coarsely a result is shown: the kind, and the step it is rounded to or the mark to pass."""

    kind: str = FULL
    size: float | None = None

    @property
    def withholds(self) -> bool:
        """Tell whether results of single rows are kept back."""
        return self.kind != FULL

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}:{self.size:g}"


def parse_answer(text: object) -> Answer:
    """Parse the coarseness that a user names: "full", "value", "rounded" (to 0.01), "rounded:0.05" or "pass/fail:0.2".

    >>> parse_answer("rounded:0.05")
    Answer(kind='rounded', size=0.05)
    """
    if not isinstance(text, str):
        raise OptionError(f'answer= is a text such as "rounded:0.01" or "pass/fail:0.2", not {text!r}.')
    kind, colon, size = text.partition(":")
    if kind not in (FULL, VALUE, ROUNDED, PASS_FAIL):
        raise OptionError(f"There is no answer {kind!r}. {did_you_mean(kind, (FULL, VALUE, ROUNDED, PASS_FAIL))}")
    if kind in (FULL, VALUE):
        if colon:
            raise OptionError(Sentence("{} has a number, which {!r} does not take.", Argument("answer", text), kind))
        return Answer(kind=kind)
    if kind == ROUNDED:
        step = _number(size, text) if colon else DEFAULT_STEP
        if step <= 0:
            raise OptionError(Sentence("{} does not round to a step above 0.", Argument("answer", text)))
        return Answer(kind=kind, size=step)
    if not colon:
        raise OptionError(
            Sentence("{} needs the mark to pass:", Argument("answer", text)),
            '"pass/fail:0.2" asks whether the loss is at most 0.2.',
        )
    return Answer(kind=kind, size=_number(size, text))


def _number(size: str, text: str) -> float:
    try:
        number = float(size)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise OptionError(Sentence("{}: {!r} is not a number.", Argument("answer", text), size))
    return number
