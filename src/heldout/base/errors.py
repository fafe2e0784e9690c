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

from collections.abc import Iterable
from difflib import get_close_matches

from heldout.base.registered import registered


@registered
class HeldoutError(Exception):
    """Base of every error that heldout raises on purpose."""


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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known names, as the end of an error message.

    >>> did_you_mean("sqared", ["squared", "absolute"])
    "Did you mean 'squared'?"
    """
    names = sorted(known)
    alike = {_clipped(one).casefold(): one for one in reversed(names)}
    near = get_close_matches(_clipped(name).casefold(), alike, n=3, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(repr(_clipped(alike[one])) for one in near) + "?"
    shown: list[str] = []
    room = _LONGEST_LIST
    for one in map(_clipped, names):
        room -= len(one) + 2
        if room < 0:
            return "Known: " + ", ".join(shown) + f", … ({len(names):,} in all)."
        shown.append(one)
    return "Known: " + ", ".join(shown) + "."


def _clipped(name: str) -> str:
    """A name with an end, since data may have names of any length."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
