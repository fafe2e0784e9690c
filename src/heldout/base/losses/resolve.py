"""What a user may say for `loss=`, turned into losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from heldout.base.errors import LossError, did_you_mean
from heldout.base.losses.loss import BUILT_IN, SQUARED, ZERO_ONE, Loss
from heldout.base.losses.scorers import loss_of_scorer, name_of, score_loss, scorer_parts

# What people call the first argument of a scorer: with three places there is then nothing to guess.
_PREDICTOR_NAMES = {"clf", "est", "estimator", "learner", "model", "pipe", "pipeline", "predictor", "reg"}


def resolve_losses(loss: Any, *, classification: bool, estimator: Any = None) -> tuple[Loss, ...]:
    """The losses a user asked for; the first one chooses candidates and is the risk.

    Parameters
    ----------
    loss : None, str, scorer, list, tuple or dict
        None is zero-one for classes and squared for numbers. A name is one of heldout's ("zero_one", "squared",
        "absolute", "log"), any scoring name of scikit-learn, or "score", the estimator's own. A callable is a
        scorer, called as (estimator, X, y). A list or a dict of names to any of these asks for several.
    classification : bool
        Whether the learner predicts classes.
    estimator : estimator, optional
        Whose score "score" stands for.

    Examples
    --------
    >>> [loss.name for loss in resolve_losses(["zero_one", "neg_log_loss"], classification=True)]
    ['zero_one', 'neg_log_loss']
    """
    if loss is None:
        return (ZERO_ONE if classification else SQUARED,)
    if isinstance(loss, Mapping):
        losses = tuple(_named(name, item, estimator) for name, item in loss.items())
    elif isinstance(loss, list | tuple):
        losses = tuple(_one(item, estimator) for item in loss)
    elif isinstance(loss, set | frozenset):
        raise LossError("A set of losses has no order, but the first loss chooses. Pass a list, or a dict.")
    else:
        losses = (_one(loss, estimator),)
    if not losses:
        raise LossError("No loss was given. Leave loss out for the default, or name at least one.")
    twins = [name for name, times in Counter(one.name for one in losses).items() if times > 1]
    if twins:
        raise LossError(
            f"Two losses are called {twins[0]!r}. Give each its own name: loss={{'{twins[0]}': …, '{twins[0]}_2': …}}."
        )
    return losses


def _named(name: Any, item: Any, estimator: Any) -> Loss:
    if not isinstance(name, str):
        raise LossError(f"Losses are named by strings, but {name!r} is a {type(name).__name__}.")
    return replace(_one(item, estimator), name=name)


def _one(loss: Any, estimator: Any) -> Loss:
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        return _by_name(loss, estimator)
    if not callable(loss):
        raise LossError(
            f"A loss is a name, a scorer, or a list or dict of these, but {loss!r} is a {type(loss).__name__}."
        )
    if scorer_parts(loss) is None and _is_metric(loss):
        name = name_of(loss)
        raise LossError(
            f"{name} is a function of true and predicted values, and does not say whether greater is better. "
            f"Declare its direction: make_scorer({name}, greater_is_better=True) for a score, "
            f"make_scorer({name}, greater_is_better=False) for a loss."
        )
    return loss_of_scorer(loss)


def _by_name(name: str, estimator: Any) -> Loss:
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name == "score":
        if estimator is None:
            raise LossError("loss='score' is an estimator's own score, but there is no estimator here. Name a loss.")
        return score_loss(estimator)
    known = get_scorer_names()
    if name not in known:
        raise LossError(f"There is no loss {name!r}. {did_you_mean(name, [*BUILT_IN, 'score', *known])}")
    return loss_of_scorer(get_scorer(name), name=name)


def _is_metric(function: Any) -> bool:
    """Whether this callable takes (y_true, y_pred) rather than (estimator, X, y)."""
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
