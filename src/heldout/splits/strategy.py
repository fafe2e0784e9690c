"""Protocol of strategies, their defaults, and the checks and repr that they share."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from datetime import timedelta
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeGuard, runtime_checkable

import numpy as np

from heldout.base.errors import Argument, Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import MOST_NUMBERS, Splits
from heldout.task import Task

Distance = int | str

_DAY = 86_400 * 10**9
_NAMES_AND_SIZES = (
    ("w week weeks", 7 * _DAY),
    ("d day days", _DAY),
    ("h hour hours", 3_600 * 10**9),
    ("min minute minutes", 60 * 10**9),
    ("s sec second seconds", 10**9),
    ("ms", 10**6),
    ("us", 10**3),
    ("ns", 1),
)
NANOSECONDS = {name: size for names, size in _NAMES_AND_SIZES for name in names.split()}
_WRITTEN = ("d", "h", "min", "s", "ms", "us", "ns")  # the units of a distance in its one form
OF_NUMPY = {"W": "w", "D": "d", "m": "min", "M": "month", "Y": "year"}  # units that numpy calls otherwise
_NO_FIXED_LENGTH = ("m", "mo", "month", "months", "q", "quarter", "quarters", "y", "year", "years")
_NUMBER = r"\d+(?:\.\d+)?"
_WAYS = "Write rows as a whole number (7), and time as '7d', '12h', '30min' or a timedelta"


def as_distance(value: Any, *, what: str) -> Distance | None:
    """Normalise a distance: rows as an int, time as a text such as "36h". None stays None.

    >>> as_distance(7, what="buffer"), as_distance("1 week", what="buffer"), as_distance("1d 12h", what="buffer")
    (7, '7d', '36h')
    >>> as_distance(timedelta(minutes=90), what="buffer"), as_distance("3", what="buffer")
    ('90min', '3')
    """
    if value is None:
        return None
    if hasattr(value, "to_timedelta64"):  # pandas keeps nanoseconds, which its parent timedelta has no place for
        value = value.to_timedelta64()
    if isinstance(value, np.timedelta64):
        value = _written(value, what)
    if isinstance(value, timedelta):
        value = f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, str):
        return _from_text(value, what)
    if isinstance(value, Integral) and not isinstance(value, bool):
        if value < 0:
            raise SplitError(f"{what} must not be negative, but is {value}. {_WAYS}.")
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
        raise SplitError(
            f"{what} is {value!r}, which could be rows or time. Write {float(value):.0f} for rows, '{float(value):g}d' "
            f"for days, or '{float(value):g}' in the units of a time that is numbers."
        )
    raise SplitError(f"{what} cannot be {value!r}. {_WAYS}.")


def is_positive(distance: Distance | None) -> TypeGuard[Distance]:
    """Return whether a distance was given and is not zero.

    >>> is_positive(None), is_positive(0), is_positive("0"), is_positive("0d"), is_positive("1d")
    (False, False, False, False, True)
    """
    return distance not in (None, 0, "0", "0d")


def plain_number(distance: str) -> Fraction | None:
    """Return the number in a text without a unit; None if it has a unit."""
    return Fraction(distance) if re.fullmatch(_NUMBER, distance) else None


def nanoseconds(distance: str) -> int:
    """Convert a length with units, as :func:`as_distance` writes it, to nanoseconds."""
    matched = re.fullmatch(rf"({_NUMBER})([a-z]+)", distance)
    assert matched is not None, "as_distance wrote it"
    return int(matched[1]) * NANOSECONDS[matched[2]]


def distance_words(distance: Distance) -> str:
    """Describe a distance in words.

    >>> distance_words(1), distance_words(7), distance_words("36h"), distance_words("2.5")
    ('1 row', '7 rows', '36h', '2.5 units of time')
    """
    if isinstance(distance, str):
        return distance if plain_number(distance) is None else f"{distance} units of time"
    return "1 row" if distance == 1 else f"{distance} rows"


def _from_text(text: str, what: str) -> str:
    trimmed = text.strip().lower()
    if trimmed.startswith("-"):
        raise SplitError(f"{what} must not be negative, but is {text!r}. {_WAYS}.")
    if re.fullmatch(_NUMBER, trimmed):
        number = Fraction(trimmed)
        return str(number.numerator) if number.denominator == 1 else trimmed
    pieces = re.findall(rf"({_NUMBER})\s*([a-zµ]+)", trimmed)
    if not pieces or re.sub(rf"({_NUMBER})\s*([a-zµ]+)[\s,]*", "", trimmed):
        raise SplitError(f"{what} cannot be read: {text!r}. {_WAYS}.")
    total = sum(Fraction(number) * _size_of(unit, text, what) for number, unit in pieces)
    if total % 1:
        raise SplitError(f"{what} is finer than a nanosecond. {_WAYS}.")
    unit = next(unit for unit in _WRITTEN if total % NANOSECONDS[unit] == 0)
    return f"{total // NANOSECONDS[unit]}{unit}"


def _size_of(unit: str, text: str, what: str) -> int:
    if unit in _NO_FIXED_LENGTH:
        raise SplitError(
            f"{what} is {text!r}, but months and years have no fixed length, and minutes are written 'min'. "
            "Write days: '30d', '365d'."
        )
    if unit not in NANOSECONDS:
        raise SplitError(f"{what} has an unknown unit in {text!r}. {_WAYS}.")
    return NANOSECONDS[unit]


def _written(value: np.timedelta64, what: str) -> str:
    """Write a numpy timedelta64 as a text with its unit."""
    unit, step = np.datetime_data(value.dtype)
    if np.isnat(value):
        raise SplitError(f"{what} is missing (NaT). {_WAYS}.")
    if unit == "generic":
        raise SplitError(f"{what} is {value!r}, which has no unit. {_WAYS}.")
    return f"{int(value.astype(np.int64)) * step}{OF_NUMPY.get(unit, unit)}"


# The defaults of all draws, as the project's source texts advise:
# - "Proportions of each class should be kept in all sets", so classes keep their shares wherever chance deals rows, but
#   not where it deals whole groups.
# - "In practice K = 5 or K = 10": five, at each level of a nested study. Ten takes four times the fits of a nested one
#   for training sets that are an eighth larger.
# - Where data drift with time, "the validation/test sets have to be the most recent data": `default_strategy` is then
#   Forward, and Holdout takes the most recent rows.
STRATIFY = "auto"  # stratify= of all splitters: declared strata, else classes if no groups are declared
FOLDS = 5  # of KFold; blocks of Forward
HELD_OUT = 0.2  # of Holdout and Resample: as much as one of five folds


@runtime_checkable
class Strategy(Protocol):
    """A way to hold rows out. For one task it draws :class:`~heldout.splits.drawn.Splits`."""

    inner_ok_under_partition: ClassVar[bool]
    """False where the strategy names rows of the whole task, so that it cannot follow an outer K-fold inside."""

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Draw splits of `rows` (ascending row numbers of the task). Only `seed`, in [0, 2**32), supplies randomness.

        A strategy whose draws do not depend on the seed may declare `seeded = False`; its rows then need not be hashed.
        """
        ...


class FrozenStrategy:
    """Base of heldout's strategies, which are frozen dataclasses: gives them their repr and sets checked values.

    >>> from heldout.splits import KFold
    >>> KFold(5, repeats=3)
    KFold(5, repeats=3)
    """

    __slots__ = ()
    inner_ok_under_partition: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Return the call that makes this strategy, without arguments left at their defaults."""
        arguments = []
        for position, field in enumerate(fields(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if position == 0 and not field.kw_only and value is not None:
                arguments.append(repr(value))
            elif field.default is MISSING or value != field.default:
                arguments.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _keep(self, **values: Any) -> None:
        """Set checked values on the frozen dataclass during its construction."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_shared_fields(self) -> None:
        """Check the fields that several strategies have: distances (normalised), `shuffle` and `stratify`."""
        who = type(self).__name__
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        for name in given.keys() & {"buffer", "embargo", "window"}:
            self._keep(**{name: as_distance(given[name], what=f"{name} of {who}")})
        if not isinstance(given.get("shuffle"), bool | None):
            raise SplitError(f"{who}: shuffle must be True or False, but is {given['shuffle']!r}.")
        stratify = given.get("stratify", STRATIFY)
        if not isinstance(stratify, bool) and stratify != STRATIFY:
            raise SplitError(f"{who}: stratify must be 'auto', True or False, but is {stratify!r}.")


def whole_number(value: object, *, least: int, what: str) -> int:
    """Return `value` as an int; raise if it is a bool, a fraction or below `least`.

    >>> whole_number(5, least=2, what="KFold(k=…)")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SplitError(f"{what} must be a whole number, but is {value!r}. Pass one that is at least {least}.")
    if value < least:
        raise SplitError(f"{what} must be at least {least}, but is {value}.")
    return int(value)


def share_of_rows(value: object, *, what: str) -> float:
    """Return `value` as a float; raise unless it is strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise SplitError(f"{what} must be a share between 0 and 1, but is {value!r}. For 20% pass 0.2.")
    return float(value)


def is_stratified(task: Task, stratify: str | bool, *, who: str) -> bool:
    """Return whether to keep strata. "auto": if they are declared, or if there are classes and no groups.

    With "auto", groups are not assigned by their classes, because that leaves folds without a spread of their own: see
    docs/decisions/0036-groups-are-not-dealt-by-their-classes.md.
    """
    if stratify == STRATIFY:
        return task.strata is not None or (task.classes is not None and task.groups is None)
    if stratify and task.strata is None and task.y.ndim == 2 and not (task.classification or marks_labels(task)):
        raise SplitError(
            f"{who} was asked to stratify, but the target has {task.y.shape[1]} outputs of numbers and the task has no "
            "strata.",
            Sentence("Pass {} with the task, or stratify=False.", Argument("strata")),
        )
    return bool(stratify)


def marks_labels(task: Task) -> bool:
    """Return whether the target has only zeros and ones, which are used as labels directly."""
    return task.y.dtype.kind in "biuf" and bool(np.isin(task.y, (0, 1)).all())


def refuse_without_time(who: str, *distances: Distance | None) -> None:
    """Raise a SplitError if a buffer or an embargo is given but the task has no time."""
    if any(map(is_positive, distances)):
        raise SplitError(
            f"{who} keeps training rows apart from held-out rows in time, but the task has no time.",
            Sentence(
                "Pass {}; where the rows lie in the order of time, time=np.arange(len(y)) says so.", Argument("time")
            ),
        )


def as_strategy(value: Any) -> Strategy:
    """Make a strategy from what scikit-learn users pass as `cv`: a number of folds, a splitter, or pairs of row arrays.

    Examples
    --------
    >>> as_strategy(5)
    KFold(5)
    """
    if isinstance(value, Strategy) and not isinstance(value, type):
        return value
    from heldout.splits.foreign import strategy_of  # which is made of these strategies

    return strategy_of(value)


def draw_in_sequence(strategy: Strategy, task: Task, rows: Rows, *, seed: int) -> Splits:
    """Draw from a task of only these rows, in this order, as a learner fitted on them would.

    Every training side keeps the order of `rows` and is stored row by row, since only ascending rows can be left
    implicit. A strategy that names rows of the whole task is drawn in the task's order.
    """
    ascending = rows if (np.diff(rows) >= 0).all() else np.sort(rows)
    if ascending is rows or not strategy.inner_ok_under_partition:
        return strategy.draw(task, ascending, seed=seed)
    alone = _set_apart(task, rows)
    drawn = strategy.draw(alone, alone.all_rows, seed=seed)
    named = int(drawn.train_sizes.sum())
    if drawn.train is None and named > MOST_NUMBERS:
        raise SplitError(
            f"{strategy!r} would name {named:,} training rows, because those of the level above come in an order of "
            "their own.",
            Sentence("Sort its training rows, or use fewer parts, such as {}.", Splitter("KFold", 5)),
        )
    pairs: list[tuple[Rows | None, Rows]] = [
        (rows[drawn.train_rows(part)], rows[drawn.held_rows(part)]) for part in range(len(drawn))
    ]
    return replace(Splits.from_pairs(ascending, pairs, drawn.recipe), buffered=drawn.buffered)


def _set_apart(task: Task, rows: Rows) -> Task:
    """Return these rows as a task of their own."""
    names = ("groups", "time", "time_end", "weight", "strata")
    roles: dict[str, Any] = {name: getattr(task, name)[rows] for name in names if getattr(task, name) is not None}
    return replace(task, X=task.take(rows), y=task.y[rows], **roles)
