"""Looks at a finished study for what it says about itself: its grid and tuning, its folds, the rows that it errs on.

A rule returns a severity and a message, returns None if it finds nothing, or raises `NotLooked` with the reason why it
cannot tell. No rule takes a fit; some use the yardsticks that ``checks="all"`` fits. docs/findings.md explains each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from inspect import signature
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from heldout.audit.check_table import read_column
from heldout.base.findings import Finding
from heldout.base.words import number, share
from heldout.engine.run import Outcome
from heldout.results.evidence import is_least_squares
from heldout.results.study_record import Columns, Question
from heldout.results.yardsticks import BOOSTING, COLUMN, DEFAULTS, PLAIN_LINEAR
from heldout.risk.comparison.sentences import Pair, Verdict
from heldout.risk.record import Floats, Record
from heldout.risk.uneven import MOST_ROWS, chance_of_rise, far_level, rises, row_errors, training_gap
from heldout.risk.verdict import BETTER, Reference
from heldout.search.search import Family
from heldout.search.simplicity import KNOWN
from heldout.study.answers import mean_over_parts
from heldout.task.arrays import as_array, column, take_rows

MOST_CANDIDATES = 5_000
WORTH = 0.25  # standard errors of the best loss by which the edge of a grid is better than the value beside it
FEWEST_OF_PART, FEWEST_OF_LEVEL, MOST_LEVELS, MOST_COLUMNS = 5, 20, 12, 60
STRONGLY = 0.5  # standard deviations of row losses by which a level of a column differs
LOST, LITTLE = 0.5, 0.05  # shares of the gain over no model: lost on held-out rows; reached on training rows
FINE_BY_DEFAULT = ("Forest", "ExtraTrees", "Discriminant", "NB", "PLS")
MEMORISING = ("Forest", "ExtraTrees", "Bagging", "Neighbors", "GaussianProcess", "Stacking", "Voting")
LINEAR = ("LogisticRegression", "RidgeClassifier", "LinearSVC", "LinearDiscriminant", "SGDClassifier", "Perceptron")
FITTED_BY_ALL = 'checks="all" fits it'
Seen = tuple[str, str] | None  # severity and message
INFO, WARNING = "info", "warning"


class NotLooked(Exception):
    """Says why a rule cannot tell anything about this study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Holds the findings, the titles of what was looked for, and the titles of the rest with the reasons."""

    findings: tuple[Finding, ...] = ()
    looked: tuple[str, ...] = ()
    not_looked: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Facts:
    """Holds what the rules look at."""

    question: Question
    outcome: Outcome
    record: Record
    no_model: Reference
    _: KW_ONLY
    candidates: Columns  # the table of candidates
    pairs: Mapping[str, Pair | str]  # the learner against each yardstick, or why there is no comparison

    @property
    def families(self) -> tuple[Family, ...]:
        return self.outcome.study.search.families

    @cached_property
    def choices(self) -> list[tuple[int, Floats, Floats | None]]:
        """The chosen candidate of each choice, the validation losses of all (candidates × parts), and part weights."""
        study, tables = self.outcome.study, self.outcome.tables.panels
        if not study.choices or study.search.size < 2:
            raise NotLooked("nothing is tuned")
        if study.search.size > MOST_CANDIDATES:
            raise NotLooked(f"there are more than {MOST_CANDIDATES:,} candidates")
        if study.races or study.search.choose != "best":
            raise NotLooked("not every candidate was run" if study.races else "the best mean is not what is chosen")
        made = [
            (study.chosen[choice.key], tables[choice.panel]) for choice in study.choices if choice.key in study.chosen
        ]
        chosen = [(c.candidate, table.losses[:, :, 0], table.weights) for c, table in made if c.candidate is not None]
        if not chosen or (len(chosen) < 3 and chosen[0][1].shape[1] < 2):
            raise NotLooked("one validation part has no standard error")
        return chosen

    @cached_property
    def numbered(self) -> NDArray[np.intp]:
        """The number of the family of each candidate."""
        return np.repeat(np.arange(len(self.families)), [len(family.candidates) for family in self.families])

    @cached_property
    def usual(self) -> int:
        """The number of the family that is chosen most often."""
        return Counter(int(self.numbered[chosen]) for chosen, *_ in self.choices).most_common(1)[0][0]

    def values(self, name: str) -> list[Any]:
        """Return the value of a parameter in each candidate; None for those of other families."""
        every = zip(self.candidates[f"param_{name}"], self.numbered, strict=False)
        return [value if family == self.usual else None for value, family in every]

    def lead(self, others: NDArray[np.bool_], *, over: Sequence[int]) -> tuple[float, float, float]:
        """Return how much smaller the chosen validation loss is than the best of other candidates, in these choices.

        With it return the standard errors of that difference and of the chosen loss. Choices share rows, so their errors
        are averaged and do not shrink.
        """
        each = []
        for chosen, losses, weights in (self.choices[place] for place in over):
            both = np.stack([losses[_best(losses, weights, others)] - losses[chosen], losses[chosen]])
            errors = both.std(axis=1, ddof=1) / sqrt(both.shape[1]) if both.shape[1] > 1 else np.full(2, np.nan)
            each.append([*mean_over_parts(both, weights), *errors])
        (leads, losses), errors = np.transpose(each)[:2], np.transpose(each)[2:].mean(axis=1)
        if np.isnan(errors).any():  # one validation part a choice: the choices differ by as much
            errors = np.array([np.std(one, ddof=1) if len(one) > 1 else np.inf for one in (leads, losses)])
        return float(np.mean(leads)), float(errors[0]), float(errors[1])

    def gain(self, others: NDArray[np.bool_]) -> float:
        """Return how much smaller the validation loss is of a choice among all candidates than among others.

        Each validation part compares the choices that all other parts make, so that the gain is not that of chance.
        """
        gains, every = list[float](), np.ones(len(others), dtype=bool)
        for _, losses, weights in self.choices:
            parts = range(losses.shape[1])
            if len(parts) < 2:
                raise NotLooked("there is one validation part")
            for part in parts:
                rest = np.delete(losses, part, axis=1), None if weights is None else np.delete(weights, part)
                gains.append(losses[_best(*rest, others), part] - losses[_best(*rest, every), part])
        return float(np.mean(gains))

    @cached_property
    def rows(self) -> tuple[tuple[Floats, ...], NDArray[np.intp]]:
        """The loss of each held-out row by part, and which rows these are."""
        record, found = self.record, row_errors(self.record)
        if record.timed:
            raise NotLooked("rows that follow each other in time are alike")
        if found is None or record.rows is None or not all(np.isfinite(one).all() for one in found):
            raise NotLooked("the losses of single rows are not known")
        rows = np.concatenate(record.rows[: len(found)]).astype(np.intp)
        if len(np.unique(rows)) < len(rows):
            raise NotLooked("rows are held out more than once")
        return found, rows

    def pair(self, name: str) -> Pair | None:
        """Return the comparison with a yardstick; None if it was not asked for."""
        found = self.pairs.get(name)
        if isinstance(found, str):
            raise NotLooked(found)
        return found

    def told(self, *values: float) -> list[str]:
        """Write losses as people know them: accuracy, RMSE, or the loss itself in the user's own sign."""
        record = self.record
        if record.family == "zero_one":
            return [share(1 - (value - record.low)) for value in values]
        return [number(sqrt(value) if record.family == "squared" else record.sign * value) for value in values]

    @property
    def measure(self) -> str:
        """What `told` tells."""
        return {"zero_one": "accuracy", "squared": "RMSE"}.get(self.record.family, self.record.loss)


def _best(losses: Floats, weights: Floats | None, among: NDArray[np.bool_]) -> int:
    means = np.where(among, mean_over_parts(losses, weights), np.nan)
    if not np.isfinite(means).any():
        raise NotLooked("fits of the candidates in question failed")
    return int(np.nanargmin(means))


def last_step(estimator: Any) -> tuple[str, Any]:
    """Return the model at the end of a Pipeline, and the prefix of its parameters."""
    if isinstance(estimator, Pipeline):
        prefix, model = last_step(estimator.steps[-1][1])
        return f"{estimator.steps[-1][0]}__{prefix}", model
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        prefix, model = last_step(estimator.regressor)
        return f"regressor__{prefix}", model
    return "", estimator


def is_linear(estimator: Any) -> bool:
    """Return whether a plain linear model is as good a description of this learner as any."""
    model = last_step(estimator)[1]
    return type(model).__name__.startswith(LINEAR) or (is_least_squares(model) and "Kernel" not in type(model).__name__)


def _is_named(families: Sequence[Family], words: Collection[str]) -> bool:
    return all(any(word in type(last_step(one.estimator)[1]).__name__ for word in words) for one in families)


def _edge_of_grid(facts: Facts) -> Seen:
    where, family = facts.choices, facts.families[facts.usual]
    if not family.candidates.is_grid:
        raise NotLooked("candidates that are drawn at random have no grid")
    ends = [_edge(facts, family, name, top=top) for name in family.candidates.names for top in (False, True)]
    if not any(ends):
        return None
    folds = " in most folds" if len(where) > 1 else ""
    return INFO, (
        f"The best candidate lies at the edge of the grid{folds}, and the loss still falls there: "
        f"{'; '.join(filter(None, ends))}. A better one may lie beyond. Widen the space of Tuned (--space)."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _edge(facts: Facts, family: Family, name: str, *, top: bool) -> str | None:
    """Describe the values to try beyond one end of a parameter's grid; None if that end is not worth a word."""
    values = facts.values(name)
    grid = sorted({value for value in values if _is_number(value)}, reverse=not top)
    at = [place for place, (chosen, *_) in enumerate(facts.choices) if [values[chosen]] == grid[-1:]]
    if len(grid) < 3 or 2 * len(at) <= len(facts.choices):
        return None
    lead, error, of_best = facts.lead(np.array([value == grid[-2] for value in values]), over=at)
    if not lead > max(error, WORTH * of_best):
        return None
    new = _beyond(family.estimator, name, grid, most=int(facts.record.train_sizes.min()))
    return f"{name.rpartition('__')[2]}={number(grid[-1])}, try {', '.join(map(number, new))} too" if new else None


def _beyond(estimator: Any, name: str, grid: Sequence[Any], *, most: int) -> list[Any]:
    """Return three values that continue a grid past its last one, as far as the estimator accepts them.

    The grid continues by its last factor or step, whichever was more even. Whole numbers stay whole, and no larger than
    the training rows where the grid is not.
    """
    own, whole = np.array(grid, dtype=np.float64), all(isinstance(value, int | np.integer) for value in grid)
    factors, steps = (np.abs(np.diff(np.log(own) if own.min() > 0 else own)), np.abs(np.diff(own)))
    grows = own.min() > 0 and factors.std() * steps.mean() < steps.std() * factors.mean()
    found: list[Any] = []
    for times in (1, 2, 3):
        exact = own[-1] * (own[-1] / own[-2]) ** times if grows else own[-1] + (own[-1] - own[-2]) * times
        value = round(exact) if whole else float(f"{exact:.4g}")
        if value in (*found, grid[-1]) or value <= 0 <= own.min() or (whole and own[-1] < most < value):
            break
        try:
            owner = clone(estimator).set_params(**{name: value})
            owner = owner.get_params()[name.rpartition("__")[0]] if "__" in name else owner
            getattr(owner, "_validate_params", bool)()
        except ValueError:  # the end of the grid is the end of what there is
            break
        found.append(value)
    return found


def _stand_in(values: Sequence[Any], default: Any) -> Any:
    """Return the value that equals a default, or else the nearest within one step of the grid; None if there is none.

    >>> _stand_in([0.1, 1.0, 10.0], 1.0), _stand_in([6, 16], 31), _stand_in([0.01, 0.1], 100.0)
    (1.0, 16, None)
    """
    for value in values:
        if value is default or (type(default) in (int, float, str, bool) and value == default):
            return value
    grid = sorted({value for value in values if _is_number(value)})
    if not _is_number(default) or len(grid) < 2:
        return None
    scale: Callable[[Any], float] = log if min(grid[0], default) > 0 else float
    near = min(grid, key=lambda value: abs(scale(value) - scale(default)))
    step = max(scale(two) - scale(one) for one, two in zip(grid, grid[1:], strict=False))
    return near if abs(scale(near) - scale(default)) <= step else None


def _tuning(facts: Facts) -> Seen:
    pair = facts.pair(DEFAULTS)
    if pair is not None:
        words = "" if pair.verdict is Verdict.FIRST else pair.sentence
    else:
        words = _tuning_in_validation(facts)
    if not words:
        return None
    return INFO, (
        f"Tuning is not shown to beat the default parameters. {words} An untuned learner takes a fraction of the fits; "
        "or search other parameters, or wider."
    )


def _tuning_in_validation(facts: Facts) -> str:
    """Compare the choices with the default parameters, or the nearest candidate, by their validation losses."""
    family = facts.families[facts.usual]
    learner, same, words = family.estimator.get_params(), facts.numbered == facts.usual, []
    for name in family.candidates.names:
        values, default = facts.values(name), learner.get(name)
        value = _stand_in([one for one, own in zip(values, same, strict=True) if own], default)
        if value is None and default is not None:
            raise NotLooked(f"the default parameters are not among the candidates; {FITTED_BY_ALL}")
        same = same & np.array([one is value or bool(_is_number(one) and one == value) for one in values])
        short = name.rpartition("__")[2]
        words.append(f"{short}={number(value)}" + ("" if value == default else f" (for the default {number(default)})"))
    if not words or not same.any():
        raise NotLooked(f"the default parameters are not among the candidates; {FITTED_BY_ALL}")
    beaten = facts.gain(same) > 0
    return (
        "" if beaten else f"On validation rows that did not choose, {', '.join(words)} does as well as what was chosen."
    )


def _untouched(facts: Facts) -> Seen:
    if len(facts.families) > 1:
        raise NotLooked("several families compete")
    family = facts.families[0]
    prefix, model = last_step(family.estimator)
    kind = type(model).__name__
    if kind not in KNOWN or any(word in kind for word in FINE_BY_DEFAULT):
        return None
    own, defaults = model.get_params(deep=False), signature(type(model)).parameters
    names = [name for name in KNOWN[kind] if name in defaults and name in own]
    searched = any(f"{prefix}{name}" in family.candidates.names for name in names)
    if searched or not names or any(own[name] != defaults[name].default for name in names):
        return None
    words = ", ".join(f"{name}={own[name]!r}" for name in names[:3])
    return INFO, (
        f"{kind} runs with its default parameters ({words}), which seldom suit the data. Choose them inside the folds: "
        f'Tuned(learner, {{"{prefix}{names[0]}": […]}}); in the command, leave --space …=fixed out.'
    )


def _no_better(facts: Facts) -> Seen:
    reference = facts.no_model
    if _is_named(facts.families, ["Dummy"]):
        raise NotLooked("the learner is no model itself")
    if reference.value is None or reference.low is None:
        raise NotLooked(f"there is no comparison with no model. {reference.reason or ''}".strip())
    if reference.verdict == BETTER:
        return None
    (value,) = facts.told(facts.record.sign * reference.value)
    return WARNING, (
        f"The learner is not shown to be better than no model ({reference.words}: {facts.measure} {value}). The columns "
        "may tell nothing about the target, or the rows are too few to show it. Try other columns, another learner or "
        "loss, or more rows."
    )


def _no_better_than_linear(facts: Facts) -> Seen:
    pair, linear = facts.pair(PLAIN_LINEAR), np.array([is_linear(family.estimator) for family in facts.families])
    if linear.all():
        raise NotLooked("the learner is linear itself")
    if pair is not None:
        words = "" if pair.verdict is Verdict.FIRST else pair.sentence
    elif not linear.any():
        raise NotLooked(f"no family is linear; {FITTED_BY_ALL}")
    else:
        beaten = linear[facts.usual] or facts.gain(linear[facts.numbered]) > 0
        words = "" if beaten else "On validation rows that did not choose, the best linear candidate does as well."
    if not words:
        return None
    return INFO, (
        f"The learner is not shown to be better than a linear model. {words} A linear model is easier to explain and "
        "quicker; take it if it does as well."
    )


def _far_fold(facts: Facts) -> Seen:
    parts, _ = facts.rows
    groups = facts.record.groups
    if groups is not None:  # rows of a group are alike, so groups are shuffled
        parts = tuple(_means_by_group(part, codes) for part, codes in zip(parts, groups, strict=False))
    if len(parts) < 3 or min(map(len, parts)) < FEWEST_OF_PART:
        raise NotLooked(f"it takes three folds of {FEWEST_OF_PART} {'rows' if groups is None else 'groups'} or more")
    losses, codes = np.concatenate(parts), np.repeat(np.arange(len(parts)), list(map(len, parts)))
    drawn = _some(len(losses), facts)
    far = far_level(losses[drawn], [codes[drawn]], seed=facts.question.seed)
    if far is None:
        return None
    others = np.delete(facts.record.fold_losses[: len(parts)], far.level)
    own, low, high = facts.told(float(facts.record.fold_losses[far.level]), float(others.min()), float(others.max()))
    return WARNING, (
        f"Fold {far.level} is far from the others: its {facts.measure} is {own}, theirs {low} to {high}; chance does that "
        "in one of 500 studies. Its rows may come from elsewhere, or a fit went wrong. Look at result.predictions of "
        "that fold; declare groups or time if the rows have any."
    )


def _means_by_group(losses: Floats, groups: NDArray[Any]) -> Floats:
    codes = np.unique(groups, return_inverse=True)[1]
    means: Floats = np.bincount(codes, weights=losses) / np.bincount(codes)
    return means


def _some(count: int, facts: Facts) -> NDArray[np.intp]:
    """Draw at most `MOST_ROWS` of so many rows."""
    if count <= MOST_ROWS:
        return np.arange(count)
    return np.random.default_rng(facts.question.seed).choice(count, MOST_ROWS, replace=False, shuffle=False)


def _levels(facts: Facts) -> Seen:
    task, (parts, rows) = facts.question.task, facts.rows
    if facts.record.groups is not None:
        raise NotLooked("rows of a group are alike")
    if task.container in ("sparse", "objects"):
        raise NotLooked("the columns are not those of a table")
    drawn = _some(len(rows), facts)
    X, losses = take_rows(task.X, rows[drawn]), np.concatenate(parts)[drawn]
    few = take_rows(X, np.arange(min(100, len(drawn))))
    columns = []
    for position in range(min(task.n_columns or 0, MOST_COLUMNS)):
        if read_column(few, position).distinct <= MOST_LEVELS:
            one = read_column(X, position)
            counts = np.bincount(one.codes[one.codes >= 0], minlength=1)
            if 2 <= len(counts) <= MOST_LEVELS:
                columns.append((one, np.where(counts[one.codes] >= FEWEST_OF_LEVEL, one.codes, -1)))
    far = far_level(losses, [codes for _, codes in columns], seed=facts.question.seed, matters=STRONGLY)
    if far is None:
        return None
    seen, codes = columns[far.column]
    value = as_array(X[:, seen.position] if isinstance(X, np.ndarray) else column(X, seen.position))[
        codes == far.level
    ][0]
    own, rest = facts.told(far.mean, far.rest)
    return INFO, (
        f"The loss differs much between the levels of {seen.name!r}: {facts.measure} {own} where it is {value!s:.40}, {rest} "
        "elsewhere. If it is a site, a batch or a device, and new ones will come, declare it as groups (groups=…, "
        "--groups); else say how good the learner is for each of them."
    )


def _training_gap(facts: Facts) -> Seen:
    record, reference = facts.record, facts.no_model
    if _is_named(facts.families, ["Dummy"]):
        raise NotLooked("the learner is no model itself")
    gap = training_gap(record)
    if gap is None:
        raise NotLooked("the fold predictors were not asked about their training rows")
    truth = record.answers.truth if record.answers is not None else ()
    if record.row_losses is not None and reference.value is not None:
        plain = record.sign * reference.value
    elif record.row_losses is None and record.answers is not None:
        rows = np.concatenate(truth)
        plain = (
            1 - np.bincount(rows.astype(np.intp)).max() / len(rows) if record.answers.classes else float(np.var(rows))
        )
    else:
        raise NotLooked("there is no comparison with no model")
    gain = plain - gap.trained
    trained, held, none = facts.told(gap.trained, gap.held, plain)
    words = f"{facts.measure} {trained} on training rows, {held} on held-out rows, {none} without a model"
    if gain <= LITTLE * plain and record.low == 0:
        return INFO, (
            f"Training rows are answered hardly better than without a model ({words}): the learner is too rigid for these "
            "columns, or they tell nothing. Penalise less, allow larger trees, or add columns."
        )
    lost = gap.held - gap.trained
    if not (gap.sure and lost >= LOST * gain) or _is_named(facts.families, MEMORISING):
        return None
    return INFO, (
        f"Training rows are answered far better than held-out rows ({words}): {min(lost / gain, 1):.0%} of what was gained "
        "in training is lost. Penalise more, use smaller trees or fewer columns, or gather rows."
    )


def _later(facts: Facts) -> Seen:
    record, parts = facts.record, row_errors(facts.record)
    if not record.timed or record.order is None:
        raise NotLooked("the rows have no time")
    if parts is None or record.repeats > 1 or record.parts < 5:
        raise NotLooked("it takes five blocks of time" if parts else "the losses of single rows are not known")
    order = np.argsort([float(np.mean(one)) for one in record.order], kind="stable")
    values = record.fold_losses[order]
    if not np.isfinite(values).all() or not rises(values, [parts[place] for place in order]):
        return None
    blocks, (last, mean) = facts.told(*values), facts.told(float(values[-1]), float(values.mean()))
    return WARNING, (
        f"Later blocks are worse: {facts.measure} {', '.join(blocks)}. Expect {last} or worse, not {mean}; chance does that in "
        f"one of {1 / chance_of_rise(values):,.0f} studies. Train on recent rows, add columns for what changes, or train "
        "again often."
    )


def _boosting(facts: Facts) -> Seen:
    pair = facts.pair(BOOSTING)
    if pair is None:
        raise NotLooked(FITTED_BY_ALL)
    if pair.verdict is not Verdict.SECOND:
        return None
    return INFO, f"Boosting does better on the same folds: {pair.sentence} The columns tell more than the learner uses."


def _single_column(facts: Facts) -> Seen:
    name, pair = next(((name, facts.pair(name)) for name in facts.pairs if name.startswith(COLUMN)), (COLUMN, None))
    if pair is None:
        raise NotLooked(FITTED_BY_ALL)
    if pair.verdict is Verdict.FIRST or facts.no_model.verdict != BETTER:
        return None
    return INFO, (
        f"The {name} alone does as well as all columns: {pair.sentence} It may be made from the target (a leak), or be all "
        "there is. Ask when it is known; leave it out (--drop) if that is after the target, else use it alone."
    )


RULES: Mapping[str, tuple[str, Callable[[Facts], Seen]]] = {
    "H701": ("the best candidate lies at the edge of the grid", _edge_of_grid),
    "H702": ("tuning is not shown to beat the default parameters", _tuning),
    "H703": ("parameters that usually need tuning have their defaults", _untouched),
    "H704": ("the learner is not shown to be better than no model", _no_better),
    "H705": ("the learner is not shown to be better than a linear model", _no_better_than_linear),
    "H706": ("one fold is far from the others", _far_fold),
    "H707": ("the loss differs much between the levels of a column", _levels),
    "H708": ("training rows are answered far better than held-out rows, or as badly as by no model", _training_gap),
    "H709": ("later blocks are worse", _later),
    "H710": ("boosting does better on the same folds", _boosting),
    "H711": ("one column alone does as well as all", _single_column),
}


def look_at(facts: Facts) -> Looked:
    """Apply every rule that is not ignored."""
    findings, looked, not_looked = list[Finding](), list[str](), list[str]()
    for code, (title, rule) in RULES.items():
        if code in facts.question.ignore:
            continue
        try:
            seen = rule(facts)
        except NotLooked as reason:
            not_looked.append(f"{title}: {reason}")
            continue
        looked.append(title)
        if seen is not None:
            findings.append(Finding(code=code, severity=seen[0], message=seen[1]))
    return Looked(findings=tuple(findings), looked=tuple(looked), not_looked=tuple(not_looked))
