"""Turns the user's `loss=` argument into losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter, signature
from math import inf, isfinite
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from heldout.base.errors import LossError, did_you_mean
from heldout.base.responses import METHODS
from heldout.losses.familiar import FAMILIAR, USUAL, familiar_loss
from heldout.losses.loss import BUILT_IN, Loss, OwnRows, Range, RangedRows, own_losses, pinball, tweedie
from heldout.losses.scorers import loss_of_scorer, name_of, scorer_parts

# Losses with a number after a colon in their name: constructor, check of the number, its description, an example.
_WITH_NUMBER: dict[str, tuple[Callable[[float], Loss], Callable[[float], bool], str, str]] = {
    "pinball": (pinball, lambda alpha: 0 <= alpha <= 1, "a quantile between 0 and 1", "pinball:0.9"),
    "tweedie": (tweedie, lambda power: power <= 0 or power >= 1, "a power of 1 or more, or at most 0", "tweedie:1.5"),
}
OWN_NAMES = (*BUILT_IN, *(example for *_, example in _WITH_NUMBER.values()))

# Usual names of the first argument of a scorer: a function of three arguments that has one is a scorer.
_PREDICTOR_NAMES = {"clf", "est", "estimator", "learner", "model", "pipe", "pipeline", "predictor", "reg"}


def resolve_losses(loss: Any, *, classification: bool) -> tuple[Loss, ...]:
    """Return the losses that a user asked for; the first one chooses candidates and is the risk.

    None is zero-one for classes and squared for numbers. A name is one that people use ("rmse", "auc"), one of
    heldout's, or any scoring name of scikit-learn. A callable is a scorer, called as (estimator, X, y); `row_loss`
    turns a function of true and predicted values into a loss. A list of these, or a dict from names to these, asks for
    several.

    >>> [loss.name for loss in resolve_losses(["zero_one", "neg_log_loss", "AUC"], classification=True)]
    ['zero_one', 'neg_log_loss', 'auc']
    """
    if loss is None:
        return own_losses(classification=classification)
    if isinstance(loss, Mapping):
        losses = tuple(_named(name, item, classification) for name, item in loss.items())
    elif isinstance(loss, list | tuple):
        losses = tuple(_loss_from(one, classification) for one in loss)
    elif isinstance(loss, set | frozenset):
        raise LossError("A set of losses has no order, but the first loss chooses. Pass a list, or a dict.")
    else:
        losses = (_loss_from(loss, classification),)
    if not losses:
        raise LossError("No loss was given. Leave loss out for the default, or name at least one.")
    for resolved in losses:
        known = {*BUILT_IN, *FAMILIAR, *get_scorer_names()}
        if isinstance(resolved.rows, OwnRows) and resolved.name in known:
            raise LossError(
                f"{resolved.name!r} is the name of a known loss, and reports would speak of that one. Give yours "
                "another: row_loss(…, name=…)."
            )
    twins = [name for name, times in Counter(resolved.name for resolved in losses).items() if times > 1]
    if twins:
        raise LossError(
            f"Two losses are called {twins[0]!r}. Give each its own name: loss={{'{twins[0]}': …, '{twins[0]}_2': …}}."
        )
    return losses


def _named(name: Any, item: Any, classification: bool) -> Loss:
    if not isinstance(name, str):
        raise LossError(f"Losses are named by strings, but {name!r} is a {type(name).__name__}.")
    return replace(_loss_from(item, classification), name=name)


def _loss_from(loss: Any, classification: bool | None = None) -> Loss:
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        return _by_name(loss, classification=classification)
    if not callable(loss):
        raise LossError(
            f"A loss is a name, a scorer, or a list or dict of these, but {loss!r} is a {type(loss).__name__}."
        )
    if scorer_parts(loss) is None and _is_metric(loss):
        name = name_of(loss)
        raise LossError(
            f"{name} is a function of true and predicted values, and does not say whether greater is better. "
            f"Declare its direction: make_scorer({name}, greater_is_better=True) for a score, "
            f"make_scorer({name}, greater_is_better=False) for a loss; or row_loss({name}) where it gives the loss of "
            "each row."
        )
    return loss_of_scorer(loss)


def _by_name(name: str, *, classification: bool | None) -> Loss:
    if name in BUILT_IN:
        return BUILT_IN[name]
    kind, _, number = name.partition(":")
    if kind in _WITH_NUMBER:
        return _with_number(kind, number)
    known = get_scorer_names()
    if name in known:
        return loss_of_scorer(get_scorer(name), name=name)
    if (familiar := familiar_loss(name)) is not None:
        return familiar
    usual = USUAL[True if classification is None else classification]
    raise LossError(f"There is no loss {name!r}. {did_you_mean(name, [*OWN_NAMES, *FAMILIAR, *known], usual=usual)}")


def _with_number(kind: str, number: str) -> Loss:
    make, takes, what, example = _WITH_NUMBER[kind]
    try:
        value = float(number)
    except ValueError:
        value = inf
    if not isfinite(value) or not takes(value):
        raise LossError(f"The loss {kind!r} takes {what} after a colon, as in {example!r}.")
    return make(value)


def row_loss(
    f: Any, low: float | None = None, high: float | None = None, name: str | None = None, *, response: str = "predict"
) -> Loss:
    """A row loss of your own, or a known one with a range: every interval that takes row losses applies to it.

    Parameters
    ----------
    f : callable or str
        A function ``f(y_true, y_pred)`` that gives the loss of each row, an array as long as y_true; lower is better.
        Or the name of a loss that rows have ("squared", "neg_mean_absolute_error"), to say what its range is.
    low, high : float, optional
        The smallest and the largest loss that a row can have. Where both are known, bounded intervals and the bounds
        of a development set apply. A row outside is a failure that says so, never a wrong bound. For the name of a
        score they are in the score's own sign.
    name : str, optional
        How reports call it; by default the name of the function.
    response : "predict", "predict_proba" or "decision_function"
        What `f` gets as its second argument. Probabilities have a column for each class of the target in sorted
        order, as ``np.unique(y)`` gives them: 0 for a class that the training rows lack. y_true are labels.

    Returns
    -------
    Loss
        Takes the place of a name in ``loss=`` of evaluate, compare and Tuned, alone, in a list or in a dict.

    Examples
    --------
    >>> import numpy as np
    >>> def huber(y_true, y_pred):
    ...     error = np.abs(y_true - y_pred)
    ...     return np.where(error < 1, error**2 / 2, error - 0.5)
    >>> row_loss(huber, low=0)
    row_loss(huber, low=0, name='huber')
    >>> row_loss("squared", low=0, high=25)
    row_loss('squared', low=0, high=25, name='squared')
    """
    for end in (low, high):
        if end is not None and (isinstance(end, bool) or not isinstance(end, Real) or np.isnan(end)):
            raise LossError(f"low= and high= of a row loss are numbers, not {end!r}.")
    if response not in METHODS:
        raise LossError(f"response= is {', '.join(map(repr, METHODS[:-1]))} or {METHODS[-1]!r}, not {response!r}.")
    if name is not None and not (isinstance(name, str) and name.strip() and name.isprintable()):
        raise LossError(f"A loss is shown to people by its name, but {name!r} is no printable text.")
    least, most = -inf if low is None else float(low), inf if high is None else float(high)
    if not least < most:
        raise LossError(
            f"low= is the smallest loss of a row and high= the largest, but {least:g} is not below {most:g}."
        )
    if isinstance(f, str | Loss) or scorer_parts(f) is not None:
        return _ranged(_loss_from(f), (low, high), name, response)
    if not callable(f):
        raise LossError(f"row_loss takes a function of true and predicted values, or a name, not {f!r}.")
    called = name or ("row_loss" if name_of(f) == "scorer" else name_of(f))
    rows = OwnRows(function=f, name=called, response=response, range=Range(low=least, high=most))
    return Loss(name=called, methods=((response,),), sign=1, low=least, high=most, rows=rows)


def _ranged(loss: Loss, ends: tuple[float | None, float | None], name: str | None, response: str) -> Loss:
    """Return a known row loss with the user's range; an end of None keeps the loss's own end."""
    if loss.rows is None:
        raise LossError(
            f"{loss.name!r} belongs to whole sets, and row_loss is for losses that each row has, such as 'squared'."
        )
    if response != "predict":
        raise LossError(f"{loss.name!r} knows which responses it needs. Leave response= out.")
    low, high = ends if loss.sign > 0 else tuple(None if end is None else -end for end in reversed(ends))
    low, high = loss.low if low is None else float(low), loss.high if high is None else float(high)
    rows = RangedRows(rows=loss.rows, loss=loss.name, range=Range(low=low, high=high, sign=loss.sign))
    # The scorer is dropped, so that the value of a held-out set is a mean of row losses that were checked.
    return replace(loss, name=name or loss.name, low=low, high=high, rows=rows, scorer=None)


def _is_metric(function: Any) -> bool:
    """Return whether this callable takes (y_true, y_pred) rather than (estimator, X, y)."""
    module = str(getattr(function, "__module__", ""))
    if module.startswith("sklearn.metrics.") and not module.startswith("sklearn.metrics._scorer"):
        return True
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        return False
    places = [p for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    if len(places) >= 3 and places[0].name in _PREDICTOR_NAMES:
        return False
    if len(places) < 3 or places[0].name == "y" or places[0].name.startswith(("y_", "labels_")):
        return True
    # (e, X, y=None) is a scorer, (truth, answer, weight=None) is not.
    return places[2].default is not Parameter.empty and not places[2].name.startswith("y")
