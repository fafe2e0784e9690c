"""The less used switches of a study."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isfinite, nan
from typing import Any, Self

from heldout.base.errors import Argument, OptionError, Sentence, did_you_mean
from heldout.base.registered import registered
from heldout.base.words import parse_bytes, parse_seconds

FULL, VALUE, ROUNDED, PASS_FAIL = "full", "value", "rounded", "pass/fail"
DEFAULT_STEP = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How coarsely a result is shown: its kind, and the step to round to or the threshold to pass; None if neither."""

    kind: str = FULL
    size: float | None = None

    @property
    def withholds(self) -> bool:
        """Whether results of single rows are not shown."""
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
    given = Argument("answer", text)
    if kind not in (FULL, VALUE, ROUNDED, PASS_FAIL):
        raise OptionError(f"There is no answer {kind!r}. {did_you_mean(kind, (FULL, VALUE, ROUNDED, PASS_FAIL))}")
    if not colon and kind == PASS_FAIL:
        way_out = '"pass/fail:0.2" asks whether the loss is at most 0.2.'
        raise OptionError(Sentence("{} needs the mark to pass:", given), way_out)
    if not colon:
        return Answer(kind=kind, size=DEFAULT_STEP if kind == ROUNDED else None)
    if kind in (FULL, VALUE):
        raise OptionError(Sentence("{} has a number, which {!r} does not take.", given, kind))
    try:
        number = float(size)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise OptionError(Sentence("{}: {!r} is not a number.", given, size))
    if kind == ROUNDED and number <= 0:
        raise OptionError(Sentence("{} does not round to a step above 0.", given))
    return Answer(kind=kind, size=number)


JOURNAL_DETAILS = ("responses", "losses", "summaries")
PRECISIONS = ("identical", "rounding", "approximate")  # tiers that a study may be asked to keep to
RACES = ("exact", "hoeffding", "bernstein", "paired")
_CHOICES = {"precision": PRECISIONS, "race": (None, *RACES), "journal_detail": (None, *JOURNAL_DETAILS)}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# What other options take: whether a value will do, and the words for errors.
_VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "rules": (lambda value: isinstance(value, Mapping | None), 'a dict such as {"share_fits": False}'),
    "pool": (lambda value: isinstance(value, bool | None), "True, False or None"),
    "race_level": (lambda value: isinstance(value, float) and 0 < value < 1, "a probability between 0 and 1"),
    "interval": (lambda value: isinstance(value, str | None), "the name of a method or None"),
    "repetitions": (lambda value: _is_whole(value) and value >= 1, "a whole number, at least 1"),
    "on_event": (lambda value: value is None or callable(value), "a function that takes an event"),
    "journal_anew": (lambda value: isinstance(value, bool), "True or False"),
    "rows": (lambda value: isinstance(value, bool), "True or False"),
    "importance": (lambda value: value is None or (_is_whole(value) and value >= 1), "a whole number, at least 1"),
    "queue_seed": (lambda value: value is None or _is_whole(value), "a whole number or None"),
}


@registered
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options:
    """The less used switches of a study.

    Parameters
    ----------
    rules : dict, optional
        Rules of the planner switched on or off by name, for bug hunts: ``{"share_fits": False}``.
    pool : bool, optional
        Whether the risk is taken of all held-out rows together (True), or in each fold and then averaged (False). None
        averages losses over folds, as ``cross_val_score`` does, and pools scores that are functions of means, such as
        R², RMSE, balanced accuracy and F1, which are biased in small folds. Areas under curves are never pooled.
    precision : "identical", "rounding" or "approximate"
        How near to scikit-learn's own fits answers must be. "identical" is bit for bit, "rounding" within rounding
        error, which is the default. "approximate" lets leave-one-out of some models be approximated, with exact
        rows shown beside it.
    race : "exact", "hoeffding", "bernstein" or "paired", optional
        Drop candidates between validation parts. "exact" drops those that cannot win whatever the rest, for losses
        that have a smallest value: the choice is the same. The others drop what their bound says is very probably not
        best; see docs/races.md.
    race_level : float
        How probable it may be, in each choice, that such a race drops the candidate that would have been chosen.
    interval : str, optional
        The method of the risk's interval, by name ("wilson", "bayle"); None takes the one that suits. "bht" and "ratio"
        train without each pair of folds too, which ``explain`` prices; the others need no further fit. One
        that does not suit the test splits or the loss is refused, before any fit where they alone decide.
    repetitions : int
        How many times "bht" and "ratio" draw the folds; ten to twenty suffice.
    learning_curve : True or sequence, optional
        Fit at smaller training sizes too, for ``result.learning_curve``: True, or shares below 1 or numbers of rows.
    importance : int, optional
        How often to permute each column of the held-out rows of each fold, for ``result.importance()`` and
        ``result.coefficients``, which fit the predictors of the folds again; ``explain`` says how many fits that is.
    answer : str
        How much is told of one test set. "full" shows everything, results of single rows too; after that no bound
        covers a learner that is chosen later and tested on any of the same rows. To look again and keep an honest
        interval, "value" shows the number alone, "rounded:0.01" the number rounded to a step, and "pass/fail:0.2"
        whether the loss is at most (a score: at least) the mark.
    ledger : Ledger, optional
        Where looks at test sets are kept; None is the ledger of this process.
    fit_timeout : float, optional
        Seconds a fit may take. One that takes longer is ended and fails; the study goes on.
    fit_memory : int or str, optional
        Memory a fit may add to its worker, in bytes or as "2GB"; the data, which workers share, do not count. One that
        takes more is ended and fails.
    timeout : float, optional
        Seconds for the whole study. When they are up it returns what it has, marked incomplete.
    memory : int or str, optional
        Memory for what kernels keep to use again, in bytes or as "4GB"; None takes a quarter of the machine's. It
        changes the time a study takes, never a number.
    on_event : callable, optional
        Called with each event of the run (``heldout.base.events``): study started, stage planned, step done, cell
        failed, worker lost, study finished. One that raises does not break the study; it is reported once.
    journal_detail : "responses", "losses" or "summaries", optional
        What the journal keeps of each cell beyond what the study needs: what predictors answered, from which later
        studies take other losses; the loss of each row; or nothing more. None keeps responses while they are few.
    journal_anew : bool
        Where the journal holds the study unfinished under other data, code or libraries, leave it so and begin anew.
    rows : bool
        Of data that are read in passes: keep the losses and predictions of single test rows, for one more pass.
        Elsewhere they are always kept.
    queue_seed : int, optional
        Do the steps of a plan in a random order. The numbers do not change; a bug might show.

    Examples
    --------
    >>> import heldout as ho
    >>> ho.Options(pool=True, precision="rounding")
    Options(pool=True)
    """

    rules: Mapping[str, bool] | None = None
    pool: bool | None = None
    precision: str = "rounding"
    race: str | None = None
    race_level: float = 0.05
    interval: str | None = None
    repetitions: int = 10
    learning_curve: Any = None
    importance: int | None = None
    answer: str = "full"
    ledger: Any = None
    fit_timeout: float | None = None
    fit_memory: int | str | None = None
    timeout: float | None = None
    memory: int | str | None = None
    on_event: Any = None
    journal_detail: str | None = None
    journal_anew: bool = False
    rows: bool = False
    queue_seed: int | None = None

    def __new__(cls, **given: Any) -> Self:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise OptionError(f"There is no option {name!r}. {did_you_mean(name, known)}")
        return object.__new__(cls)

    def __post_init__(self) -> None:
        if self.precision == "solver":
            raise OptionError(
                'precision="solver" is gone: kernels now follow scikit-learn\'s own solvers step by step, which is as '
                "fast, gives scikit-learn's own numbers and needs no option. Leave precision= out."
            )
        for name, known in _CHOICES.items():
            if (value := getattr(self, name)) not in known:
                names = [choice for choice in known if choice is not None]
                raise OptionError(f"There is no {name} {value!r}. {did_you_mean(str(value), names)}")
        for name, (accepts, words) in _VALUES.items():
            if not accepts(value := getattr(self, name)):
                raise OptionError(f"{name}= is {words}, not {value!r}.")
        parse_answer(self.answer)
        object.__setattr__(self, "learning_curve", _checked_sizes(self.learning_curve))
        for name in ("fit_timeout", "timeout"):
            object.__setattr__(self, name, parse_seconds(getattr(self, name), name))
        for name in ("fit_memory", "memory"):
            object.__setattr__(self, name, parse_bytes(getattr(self, name), name))

    @property
    def limits_fits(self) -> bool:
        """Whether single fits have a time or memory limit."""
        return self.fit_timeout is not None or self.fit_memory is not None

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = [field.name for field in fields(self) if values[field.name] != field.default]
        return f"Options({', '.join(f'{name}={values[name]!r}' for name in changed)})"


def _checked_sizes(sizes: Any) -> bool | tuple[float, ...] | None:
    """Check the training sizes of a learning curve: None or False for none, True for the usual ones, or those given."""
    if sizes is None or isinstance(sizes, bool):
        return sizes or None
    try:
        given = tuple(float(size) if 0 < size < 1 else int(size) for size in sizes)
    except (TypeError, ValueError):
        given = ()
    if not given or min(given) <= 0:
        raise OptionError(
            f"learning_curve= is True, or training sizes: shares such as (0.25, 0.5) or numbers of rows, not {sizes!r}."
        )
    return given


RULES_VARIABLE = "HELDOUT_RULES"


def plan_settings(options: Options) -> dict[str, Any]:
    """Return what a plan depends on besides the study: the rules, the precision, and whether fits are limited."""
    rules = switched_rules(options.rules, os.environ)
    return {"rules": rules, "precision": options.precision, "limited": options.limits_fits}


def switched_rules(rules: Mapping[str, bool] | None, environ: Mapping[str, str]) -> dict[str, bool]:
    """Collect rules switched by the environment (``HELDOUT_RULES=ridge=off,within=off``), then by the options.

    >>> switched_rules({"within": True}, {"HELDOUT_RULES": "ridge=off,within=off"})
    {'ridge': False, 'within': True}
    """
    switches: dict[str, bool] = {}
    for word in filter(None, environ.get(RULES_VARIABLE, "").split(",")):
        name, _, state = word.strip().partition("=")
        if state not in ("on", "off"):
            raise OptionError(f"{RULES_VARIABLE} takes name=on or name=off, separated by commas, not {word!r}.")
        switches[name] = state == "on"
    return {**switches, **(rules or {})}
