"""Looks at a finished study for what it says about itself: its grid and tuning, its folds, the rows that it errs on.

A rule returns a severity and a message, returns None if it finds nothing, or raises `NotLooked` with the reason why it
cannot tell. No rule takes a fit; some use the yardsticks that ``checks="all"`` fits. docs/findings.md explains each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from math import log, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from heldout.audit.check_table import read_columns
from heldout.base.errors import named_line
from heldout.base.findings import Finding
from heldout.base.options import parse_answer
from heldout.base.words import listed, number
from heldout.results.study_facts import (
    BOOSTING,
    BY_ALL,
    COLUMN,
    DEFAULTS,
    PLAIN_LINEAR,
    Facts,
    NotLooked,
    is_linear,
    last_step,
)
from heldout.results.test_set_history import FROM_TEST_LOSSES
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.uneven import FALSE_TREND, MATTERS, chance_of_rise, far_level, row_errors
from heldout.risk.verdict import BETTER
from heldout.search.search import Family
from heldout.search.simplicity import KNOWN
from heldout.task.arrays import as_array, column, take_rows

MOST_COLUMNS, MOST_LEVELS = 40, 12  # looked at
FEWEST_OF_PART, FEWEST_OF_LEVEL, FEWEST_BLOCKS = 5, 20, 5
WORTH = 0.25  # standard errors of the best loss by which the edge of a grid is better than the value beside it
STRONGLY = 0.5  # standard deviations of row losses by which a level of a column differs
PROBABLY = 0.3  # the p-value up to which a learner that looks better than no model probably is
LOST, LITTLE = 0.5, 0.05  # shares of the gain over no model: lost on held-out rows; reached on training rows, or by all
FINE_BY_DEFAULT = ("Forest", "ExtraTrees", "Discriminant", "NB", "PLS")
MEMORISING = ("Forest", "ExtraTrees", "Bagging", "Neighbors", "GaussianProcess", "Stacking", "Voting")
UNCHOSEN = "On validation rows that did not choose,"
INFO, WARNING = "info", "warning"
Seen = tuple[str, str] | None  # severity and message


def _edge_of_grid(facts: Facts) -> Seen:
    folds, family = len(facts.choices), facts.families[facts.usual]
    if not family.candidates.is_grid:
        raise NotLooked("candidates that are drawn at random have no grid")
    ends = [_edge(facts, family, name, top=top) for name in family.candidates.names for top in (False, True)]
    if not any(ends):
        return None
    return INFO, (
        f"The best candidate lies at the edge of the grid{' in most folds' * (folds > 1)}, and the loss still falls "
        f"there. Widen the space (of Tuned, or --space): {'; '.join(filter(None, ends))}."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _edge(facts: Facts, family: Family, name: str, *, top: bool) -> str | None:
    """Describe the values to try beyond one end of a parameter's grid; None if that end is not worth a word."""
    values = facts.values(name)
    grid = sorted({value for value in values if _is_number(value)}, reverse=not top)
    at_edge = sum([values[chosen]] == grid[-1:] for chosen, *_ in facts.choices)
    if len(grid) < 3 or 2 * at_edge <= len(facts.choices):
        return None
    gain, error, of_loss = facts.gain(np.array([value == grid[-2] for value in values]))
    if not gain > max(error, WORTH * of_loss):
        return None
    new = _beyond(family.estimator, name, grid, most=int(facts.record.train_sizes.min()))
    return f"{name.rpartition('__')[2]}={number(grid[-1])}, try {', '.join(map(number, new))} too" if new else None


def _beyond(estimator: Any, name: str, grid: Sequence[Any], *, most: int) -> list[Any]:
    """Return three values that continue a grid past its last one, as far as the estimator accepts them.

    The grid continues by its last factor or its last step, whichever is more even. Whole numbers stay whole, and do not
    pass the number of training rows.
    """
    own, whole = np.array(grid, dtype=np.float64), all(isinstance(value, int | np.integer) for value in grid)
    steps, factors = np.diff(own), np.diff(np.log(own)) if own.min() > 0 else None
    grows = factors is not None and factors.std() * abs(steps.mean()) < steps.std() * abs(factors.mean())
    found: list[Any] = []
    for times in (1, 2, 3):
        exact = own[-1] * (own[-1] / own[-2]) ** times if grows else own[-1] + steps[-1] * times
        value = round(exact) if whole else float(f"{exact:.3g}")
        if value in (*found, grid[-1]) or value <= 0 <= own.min() or (whole and own[-1] < most < value):
            break
        try:
            owner = clone(estimator).set_params(**{name: value})
            owner = owner.get_params()[name.rpartition("__")[0]] if "__" in name else owner
            if hasattr(owner, "_parameter_constraints"):
                owner._validate_params()
        except ValueError:  # the end of the grid is the end of what there is
            break
        found.append(value)
    return found


def _tuning(facts: Facts) -> Seen:
    pair = facts.pair(DEFAULTS)
    words = _tuning_in_validation(facts) if pair is None else "" if pair.verdict is Verdict.FIRST else pair.sentence
    if not words:
        return None
    return INFO, (
        f"Tuning is not shown to beat the default parameters. {words} An untuned learner takes a fraction of the fits; "
        "or search other parameters."
    )


def _tuning_in_validation(facts: Facts) -> str:
    """Compare the choices with the default parameters, or the nearest candidate, by their validation losses."""
    same, words, family = facts.numbered == facts.usual, [], facts.families[facts.usual]
    defaults = family.estimator.get_params()
    for name in family.candidates.names:
        values, default = facts.values(name), defaults.get(name)
        value = _stand_in([one for one, own in zip(values, facts.numbered == facts.usual, strict=True) if own], default)
        same = same & np.array([repr(one) == repr(value) for one in values])
        equal = value is default or value == default
        words.append(f"{name.rpartition('__')[2]}={value}" + ("" if equal else f" (for the default {default})"))
    if not words or not same.any():
        raise NotLooked(f"the default parameters are not among the candidates; {BY_ALL}")
    return "" if facts.gain(same)[0] > 0 else f"{UNCHOSEN} {', '.join(words)} does as well as what was chosen."


def _stand_in(values: Sequence[Any], default: Any) -> Any:
    """Return the value of a grid that equals a default, or else the nearest positive number if that is near.

    >>> _stand_in([0.1, 1.0, 10.0], 3.0), _stand_in([6, 16], 31), _stand_in([0.01, 0.1], 100.0), _stand_in(["a"], None)
    (1.0, 16, 'none', 'none')
    """
    for value in values:
        if repr(value) == repr(default):
            return value
    positive = [value for value in values if _is_number(value) and value > 0]
    if not positive or not _is_number(default) or default <= 0:
        return "none"
    near = min(positive, key=lambda value: abs(log(value / default)))
    return near if min(positive) < default < max(positive) or 0.5 <= near / default <= 2 else "none"


def _untouched(facts: Facts) -> Seen:
    if len(facts.families) > 1:
        raise NotLooked("several families compete")
    family = facts.families[0]
    prefix, model = last_step(family.estimator)
    kind = type(model).__name__
    if kind not in KNOWN or facts.are(*FINE_BY_DEFAULT):
        return None
    own, usual = model.get_params(deep=False), signature(type(model)).parameters
    names = [name for name in KNOWN[kind] if name in usual and name in own]
    searched = any(f"{prefix}{name}" in family.candidates.names for name in names)
    if searched or not names or any(own[name] != usual[name].default for name in names):
        return None
    return INFO, (
        f"{kind} has its default parameters ({', '.join(f'{name}={own[name]!r}' for name in names[:3])}), which are "
        f'seldom the best. Choose them inside the folds: Tuned(learner, {{"{prefix}{names[0]}": […]}}), or in the '
        "command a --learner without --space …=fixed."
    )


def _no_better(facts: Facts) -> Seen:
    facts.refuse_no_model()
    reference = facts.no_model
    if reference.verdict == BETTER or reference.value is None:
        return None
    (value,) = facts.told(facts.record.sign * reference.value)
    against = f"no model ({reference.words}: {facts.measure} {value})"
    if reference.p is not None and reference.p <= PROBABLY and (reference.difference or 0) * facts.record.sign < 0:
        return INFO, (
            f"The learner looks better than {against}, but the rows are too few to show it (p = "
            f"{number(reference.p)}). Gather more, or take a loss that uses probabilities."
        )
    return WARNING, (
        f"The learner is not shown to be better than {against}. The columns may tell nothing about the target, or the "
        "rows be too few to show it. Try other columns, another learner or loss, or more rows."
    )


def _no_better_than_linear(facts: Facts) -> Seen:
    pair, linear = facts.pair(PLAIN_LINEAR), np.array([is_linear(family.estimator) for family in facts.families])
    if linear.all() or (pair is None and not linear.any()):
        raise NotLooked("the learner is linear itself" if linear.all() else f"no family is linear; {BY_ALL}")
    if pair is not None:
        words = "" if pair.verdict is Verdict.FIRST else pair.sentence
    else:
        beaten = linear[facts.usual] or facts.gain(linear[facts.numbered])[0] > 0
        words = "" if beaten else f"{UNCHOSEN} the best linear candidate does as well."
    if not words:
        return None
    return INFO, f"The learner is not shown to be better than a linear model, which is easier to explain. {words}"


def _far_fold(facts: Facts) -> Seen:
    record, (parts, _) = facts.record, facts.rows
    if record.groups is not None:  # rows of a group are alike, so groups are shuffled
        grouped = [np.unique(codes, return_inverse=True)[1] for codes in record.groups]
        parts = tuple(np.bincount(g, part) / np.bincount(g) for g, part in zip(grouped, parts, strict=False))
    if len(parts) < 3 or min(map(len, parts)) < FEWEST_OF_PART:
        raise NotLooked(f"it takes three folds of {FEWEST_OF_PART} {'rows' if record.groups is None else 'groups'}")
    codes = np.repeat(np.arange(len(parts)), list(map(len, parts)))
    drawn = facts.draw(len(codes))
    far = far_level(np.concatenate(parts)[drawn], [codes[drawn]], seed=facts.question.seed)
    if far is None:
        return None
    others = np.delete(record.fold_losses[: len(parts)], far.level)
    own, low, high = facts.told(float(record.fold_losses[far.level]), float(others.min()), float(others.max()))
    return WARNING, (
        f"Fold {far.level} is far from the others: its {facts.measure} is {own}, theirs {low} to {high}; chance does "
        "so in one of 500 studies. Its rows may come from elsewhere, or a fit went wrong: look at them in "
        "result.predictions, and declare groups or time if the rows have any."
    )


def _levels(facts: Facts) -> Seen:
    task, (parts, rows) = facts.question.task, facts.rows
    if facts.record.groups is not None:
        raise NotLooked("rows of a group are alike")
    if facts.outcome.stream is not None or task.container in ("sparse", "objects"):
        raise NotLooked("X is no table of columns in memory")
    drawn = facts.draw(len(rows))
    X = take_rows(task.X, rows[drawn])
    first = read_columns(take_rows(X, np.arange(min(100, len(drawn)))), range(min(task.n_columns or 0, MOST_COLUMNS)))
    few = read_columns(X, [one.position for one in first if one.distinct <= MOST_LEVELS])
    few = [one for one in few if 2 <= one.distinct <= MOST_LEVELS]
    levels = [np.where(one.counts[one.codes] >= FEWEST_OF_LEVEL, one.codes, -1) for one in few]
    losses = np.concatenate(parts)[drawn]
    far = far_level(losses, levels, seed=facts.question.seed, matters=STRONGLY)
    if far is None:
        return None
    seen, codes = few[far.column], levels[far.column]
    cells = X[:, seen.position] if isinstance(X, np.ndarray) else as_array(column(X, seen.position))
    own, rest = facts.told(far.mean, far.rest)
    return INFO, (
        f"The loss differs much between the levels of {seen.name!r}: {facts.measure} {own} where it is "
        f"{cells[codes == far.level][0]!s:.40}, {rest} elsewhere. If it is a site, a batch or a device, and new ones "
        "will come, declare it as groups (groups=…, --groups); else say how good the learner is for each of them."
    )


def _training_gap(facts: Facts) -> Seen:
    facts.refuse_no_model()
    record, elsewhere, value = facts.record, facts.record.elsewhere, facts.no_model.value
    if elsewhere is None or elsewhere.losses is None or record.row_losses is None or value is None:
        raise NotLooked("the fold predictors gave no losses of their training rows")
    times = elsewhere.trained.sum(axis=0)
    on_trained = ((elsewhere.losses * elsewhere.trained).sum(axis=0) / np.maximum(times, 1))[times > 0]
    both = on_trained, np.concatenate(record.row_losses)
    (trained, held), plain = map(float, map(np.mean, both)), record.sign * value
    error = sqrt(sum(np.var(one) / len(one) for one in both))
    words = f"{facts.measure} %s on training rows, %s on held-out rows, %s without a model"
    words, gain, lost = words % tuple(facts.told(trained, held, plain)), plain - trained, held - trained
    if record.low == 0 and gain <= LITTLE * plain:
        return INFO, (
            f"Training rows are answered hardly better than without a model ({words}): the learner is too rigid for "
            "the columns, or they tell nothing. Penalise less, allow larger trees, or add columns."
        )
    if lost < max(3 * error, LOST * gain) or facts.are(*MEMORISING):
        return None
    return INFO, (
        f"Training rows are answered far better than held-out rows ({words}): {min(lost / gain, 1):.0%} of what "
        "training gained is lost. Penalise more, use smaller trees or fewer columns, or gather rows."
    )


def _later(facts: Facts) -> Seen:
    record, parts = facts.record, row_errors(facts.record)
    if not record.timed or record.order is None:
        raise NotLooked("the rows have no time")
    if parts is None or record.repeats > 1 or record.parts < FEWEST_BLOCKS:
        raise NotLooked(f"it takes {FEWEST_BLOCKS} blocks of rows whose losses are known")
    order = np.argsort([float(np.mean(one)) for one in record.order], kind="stable")
    values, chance = record.fold_losses[order], chance_of_rise(record.fold_losses[order])
    rise = float(np.mean(parts[order[-1]]) - np.mean(parts[order[0]]))
    if not chance <= FALSE_TREND or rise < MATTERS * float(np.std(np.concatenate(parts))):
        return None
    blocks, (last, mean) = facts.told(*values), facts.told(float(values[-1]), float(values.mean()))
    return WARNING, (
        f"Later blocks are worse: {facts.measure} {', '.join(blocks)}. Expect {last} or worse, not {mean}; by chance "
        f"one of {1 / chance:,.0f} studies is so. Train on recent rows, add columns for what changes, or train often."
    )


def _boosting(facts: Facts) -> Seen:
    pair = facts.pair(BOOSTING)
    if pair is None:
        raise NotLooked(BY_ALL)
    if pair.verdict is not Verdict.SECOND:
        return None
    return INFO, f"Boosting does better on the same folds: the columns tell more than the learner uses. {pair.sentence}"


def _single_column(facts: Facts) -> Seen:
    name, pair = next(((name, facts.pair(name)) for name in facts.pairs if name.startswith(COLUMN)), (COLUMN, None))
    if pair is None:
        raise NotLooked(BY_ALL)
    near = abs(pair.difference.value or 0.0) <= LITTLE * abs(facts.no_model.difference or 0.0)
    beaten = pair.verdict is Verdict.FIRST
    if (beaten and not near) or facts.no_model.verdict != BETTER:
        return None
    return INFO, (
        f"The {name} alone does {'nearly ' * beaten}as well as all columns: {pair.sentence} It may be made from the "
        "target (a leak), or be all there is. Ask when it is known; leave it out (--drop) if that is after the target, "
        "else use it alone."
    )


def _unused(facts: Facts) -> Seen:
    if isinstance(facts.used, str):
        raise NotLooked(facts.used)
    names = list(dict.fromkeys(facts.used["feature"]))
    change = np.asarray(facts.used["importance"]).reshape(-1, len(names))
    idle = [name for name, one in zip(names, change.T, strict=True) if not one.any()]
    if not idle or len(idle) == len(names):
        return None
    return INFO, (
        f"{len(idle)} of {len(names)} columns are used by nothing: permuting them changes no answer of any fold "
        f"({listed(idle, 5)}). Leave them out (--drop), or ask why the learner cannot use them."
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
    "H712": ("columns that nothing uses", _unused),
}


def look_at(facts: Facts, checks: Mapping[str, Any]) -> tuple[list[Finding], dict[str, Any]]:
    """Apply every rule that is not ignored; return findings, and what was looked for beside what `checks` tells."""
    findings, looked, not_looked = list[Finding](), list(checks["looked"]), list(checks["not_looked"])
    withheld = parse_answer(facts.question.options.answer).withholds
    for code, (title, rule) in RULES.items():
        if code in facts.question.ignore:
            continue
        if withheld and code in FROM_TEST_LOSSES:
            not_looked.append(f"{title} (the results of single rows are withheld)")
            continue
        try:
            with np.errstate(all="ignore"):
                seen = rule(facts)
        except NotLooked as reason:
            not_looked.append(f"{title} ({reason})")
            continue
        except Exception as error:  # no learner or table may end a finished study by being looked at
            not_looked.append(f"{title} (it failed with {named_line(error)})")
            continue
        looked.append(title)
        if seen is not None:
            findings.append(Finding(code=code, severity=seen[0], message=seen[1]))
    found = Counter(finding.severity for finding in findings) + Counter(checks["found"])
    counts = {severity: found[severity] for severity in checks["found"]}
    return findings, {**checks, "ran": bool(looked), "looked": looked, "not_looked": not_looked, "found": counts}
