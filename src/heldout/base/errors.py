"""Every error heldout raises on purpose, and how they hang together.

::

    HeldoutError
    ├── InputError (ValueError)      the data: X, y, roles
    │   ├── TargetError                  y
    │   ├── ColumnError                  columns of X
    │   │   └── MixedColumnError (TypeError)   a column that mixes numbers with something else
    │   └── RoleError                    groups, time, weights, strata
    ├── SplitError (ValueError)      a splitter, or splits that cannot be
    ├── LossError (ValueError)       a loss that is unknown, or has no direction
    ├── SpaceError (ValueError)      a space of candidates that cannot be
    ├── LearnerError (TypeError, ValueError)  a learner heldout cannot take
    ├── OptionError (ValueError)     an option that is unknown or senseless
    ├── PredictionError (ValueError) a predictor that answered nonsense
    ├── FitFailed (RuntimeError, ValueError)  no fit worked, so there is no result
    ├── BackendError (RuntimeError)  the workers could not do their work
    ├── JournalError (RuntimeError)  a journal that cannot be used
    │   ├── JournalInUse                 another program has it
    │   ├── JournalChanged               data, code or libraries are no longer those it was begun with
    │   └── IdentityError (ValueError)   a learner that a journal could not tell from another
    └── StoredError (ValueError)     a saved file that cannot be read
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate
from typing import Any

from heldout.base.registered import registered


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument named in a message, with a value if one is advised. Python shows pool=True, the command --pool."""

    name: str
    value: Any = ...
    of: str = ""  # "Options", where it is an argument of that

    def __str__(self) -> str:
        value = f'"{self.value}"' if isinstance(self.value, str) else repr(self.value)
        text = f"{self.name}={'…' if self.value is ... else value}"
        return f"{self.of}({text})" if self.of else text


@dataclass(frozen=True, slots=True, repr=False)
class Splitter:
    """A splitter named in a message. Python shows KFold(5), the command kfold:5."""

    name: str
    size: Any = ""
    also: Argument | None = None

    def __repr__(self) -> str:
        return f"{self.name}({self.size}{'' if self.also is None else f', {self.also}'})"


class Sentence:
    """A message that names arguments and splitters, which Python and the command line write in different ways.

    >>> sentence = Sentence("Pass {}, or use {}.", Argument("time"), Splitter("KFold", 5))
    >>> str(sentence)
    'Pass time=…, or use KFold(5).'
    >>> sentence.worded(lambda part: f"--{part.name}")
    'Pass --time, or use --KFold.'
    """

    def __init__(self, text: str, *parts: Any) -> None:
        self.text, self.parts = text, parts

    def worded(self, write: Callable[[Argument | Splitter], str]) -> str:
        """Write the message, with each argument and splitter as `write` writes it."""
        return self.text.format(*(_worded(part, write) for part in self.parts))

    def __str__(self) -> str:
        return self.worded(str)


def _worded(part: Any, write: Callable[[Argument | Splitter], str]) -> Any:
    if isinstance(part, Sentence):
        return part.worded(write)
    return write(part) if isinstance(part, Argument | Splitter) else part


@registered
class HeldoutError(Exception):
    """Base of every error that heldout raises on purpose.

    Its arguments are the message (who refuses, and what) and the way out, each a text or a `Sentence`.
    """

    def worded(self, write: Callable[[Argument | Splitter], str]) -> str:
        """Write the message and the way out, with each argument and splitter as `write` writes it."""
        return " ".join(str(_worded(part, write)) for part in self.args)

    def __str__(self) -> str:
        return self.worded(str)


class InputError(HeldoutError, ValueError):
    """The data given cannot be studied."""


class TargetError(InputError):
    """The target cannot be learned from."""


class ColumnError(InputError):
    """The columns of X are not what they should be."""


class MixedColumnError(ColumnError, TypeError):
    """A column of X mixes numbers with text or other things."""


class RoleError(InputError):
    """Groups, time, weights or strata are not what they should be."""


class SplitError(HeldoutError, ValueError):
    """These splits cannot be drawn from this task."""


class LossError(HeldoutError, ValueError):
    """This loss is unknown, has no direction, or does not fit the target."""


class SpaceError(HeldoutError, ValueError):
    """This space of candidates cannot be searched."""


class LearnerError(HeldoutError, TypeError, ValueError):
    """This learner cannot be evaluated."""


class OptionError(HeldoutError, ValueError):
    """An option is unknown or makes no sense here."""


class PredictionError(HeldoutError, ValueError):
    """A predictor gave an answer of the wrong shape, or one that is not finite."""


class FitFailed(HeldoutError, RuntimeError, ValueError):
    """Not one fit worked, so there is nothing to report; a ValueError too, as scikit-learn's searches raise."""


class BackendError(HeldoutError, RuntimeError):
    """The workers could not do their work."""


class JournalError(HeldoutError, RuntimeError):
    """A journal cannot be opened, read or written."""


class JournalInUse(JournalError):
    """Another program has the journal open."""


class JournalChanged(JournalError):
    """A study that a journal holds unfinished had other data, code or libraries."""


class IdentityError(JournalError, ValueError):
    """A part of a learner has no stable identity, so answers about it cannot be kept."""


class StoredError(HeldoutError, ValueError):
    """A saved file cannot be read, or belongs to something else."""


_LONGEST_NAME, _LONGEST_LIST = 100, 2000  # characters


def did_you_mean(name: str, known: Iterable[str], *, usual: Iterable[str] = ()) -> str:
    """Suggest the nearest known names, as the end of an error message; if none is near, the usual ones, or else all.

    >>> did_you_mean("sqared", ["squared", "absolute"])
    "Did you mean 'squared'?"
    >>> did_you_mean("nonsense", ["squared", "absolute"], usual=["squared"])
    'Usual names: squared.'
    """
    names = sorted(known)
    alike = {_clipped(known_name).casefold(): known_name for known_name in reversed(names)}
    near = get_close_matches(_clipped(name).casefold(), alike, n=3, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(repr(_clipped(alike[known_name])) for known_name in near) + "?"
    if listed := ", ".join(usual):
        return f"Usual names: {listed}."
    lengths = accumulate(len(_clipped(known_name)) + 2 for known_name in names)
    shown = [_clipped(known_name) for known_name, length in zip(names, lengths, strict=True) if length <= _LONGEST_LIST]
    rest = f", … ({len(names):,} in all)" if len(shown) < len(names) else ""
    return "Known: " + ", ".join(shown) + rest + "."


def _clipped(name: str) -> str:
    """Shorten a name, since names in data can have any length."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message without its full stop, or the error's type if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def named_line(error: BaseException) -> str:
    """Return the error's type and the first line of its message.

    >>> named_line(ValueError("no such column.")), named_line(KeyError())
    ('ValueError: no such column', 'KeyError')
    """
    return f"{type(error).__name__}: {first_line(error)}" if str(error).strip() else type(error).__name__


LONGEST_MESSAGE = 4_000  # characters
LONGEST_TRACEBACK = 20_000


def describe_error(error: BaseException) -> tuple[str, str, str]:
    """Describe an exception by three texts: type name, message and formatted traceback.

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
    """Shorten a text that is longer than `longest` by leaving out its middle: both ends of a traceback matter most.

    >>> shorten("abcdefghij", 4)
    'ab\\n… 6 characters left out …\\nij'
    """
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
