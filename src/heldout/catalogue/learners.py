"""Makes learners by name for the columns of a table, each with its default space."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

from heldout.base.errors import LearnerError, OptionError, SpaceError, did_you_mean, named_line
from heldout.catalogue.boosters import CodedClasses
from heldout.catalogue.entries import CATALOGUE, Entry, Space
from heldout.catalogue.preparation import SCALED, Table, coded_columns, preparation_steps, survey_table
from heldout.catalogue.spaces import narrowed
from heldout.losses import Loss, resolve_losses

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
Spaces = Mapping[str, Mapping[str, list[Any] | None] | None]
_INSIDE = {TransformedTargetRegressor: "regressor", CodedClasses: "classifier"}


def default_learner(*, classification: bool) -> str:
    """Return the first learner to try: linear models are fast, and hard to beat by much on small tables."""
    return "logistic" if classification else "ridge"


def learner_names(*, classification: bool) -> tuple[str, ...]:
    """Return the names of the learners for classification or regression, in the order of the catalogue.

    >>> learner_names(classification=False)[:5]
    ('linear', 'ridge', 'lasso', 'elastic_net', 'knn')
    """
    return tuple(name for name, entry in CATALOGUE.items() if entry.suits(classification=classification))


def learner_named(
    name: str,
    X: pd.DataFrame,
    *,
    classification: bool,
    table: Table | None = None,
    spaces: Spaces | None = None,
    allow_import: bool = False,
) -> tuple[Any, Space]:
    """Return a learner for these columns and its space, which is empty if there is nothing to tune.

    `name` is a name of the catalogue or, with `allow_import`, ``package.module:Name``. `table` is what `survey_table`
    returns for X; None computes it. `spaces` are the user's own, as `parse_spaces` returns them.

    >>> import pandas as pd
    >>> estimator, space = learner_named("ridge", pd.DataFrame({"age": [31, 7]}), classification=False)
    >>> list(space), len(space["ridge__alpha"])
    (['ridge__alpha'], 21)
    """
    table = table or survey_table(X, classes=2 if classification else 0)
    if ":" in name:
        model = import_learner(name, allowed=allow_import)
        return _own_learner(model, name, table, classification=classification, spaces=spaces or {})
    entry = _entry(name, classification=classification)
    make = entry.classifier if classification else entry.regressor
    assert make is not None, "_entry refuses learners that do not suit"
    model = make().set_params(**entry.settings(table))
    steps = preparation_steps(table, entry.preparation)
    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor) and steps:
        model.set_params(categorical_features=coded_columns(table) or None)
    inside = _INSIDE.get(type(model))
    inner = getattr(model, inside) if inside else model
    space = narrowed(entry.space(table), (spaces or {}).get(name, {}), inner, name)
    prefix = f"{name}__{inside}" if inside else name
    return Pipeline([*steps, (name, model)]), {f"{prefix}__{parameter}": values for parameter, values in space.items()}


def families_named(
    names: Iterable[str],
    X: pd.DataFrame,
    *,
    classification: bool,
    table: Table | None = None,
    loss: Any = None,
    spaces: Spaces | None = None,
    **more: Any,
) -> dict[str, tuple[Any, Space]]:
    """Return the learners of several names with their spaces, by their names in a study; "all" is expanded.

    Raises LearnerError for a learner without a method that a loss needs, and SpaceError for the space of a learner that
    is not named. Further arguments are those of `learner_named`.
    """
    table = table or survey_table(X, classes=2 if classification else 0)
    families: dict[str, tuple[Any, Space]] = {}
    for name in expand_names(names, table, loss=loss, classification=classification)[0]:
        family = learner_named(name, X, classification=classification, table=table, spaces=spaces, **more)
        families[imported_name(name)] = family
        lack = _lack(family[0], _losses(loss, classification=classification))
        if lack is not None:  # such as probabilities
            raise LearnerError(
                f"{name!r} has no {lack[0]}, which the loss {lack[1]!r} needs. Choose another learner, or another loss."
            )
    if not families:
        raise LearnerError("No learner was named.")
    for name in spaces or {}:
        if name not in families:
            raise SpaceError(f"--space {name}: this learner does not compete. {did_you_mean(name, families)}")
    return families


def expand_names(
    names: Iterable[str], table: Table, *, classification: bool, loss: Any = None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Expand ``"all"``; return each name once, and the learners that "all" leaves out with the reasons.

    >>> import pandas as pd
    >>> table = survey_table(pd.DataFrame({"age": [31, 7]}), classes=2)
    >>> names, left_out = expand_names(["all"], table, classification=True, loss="log")
    >>> left_out["svm"], "svm" in names, "logistic" in names
    ('it has no predict_proba, which the loss log needs', False, True)
    """
    losses = _losses(loss, classification=classification)
    expanded: dict[str, None] = {}
    left_out: dict[str, str] = {}
    for name in names:
        if name != ALL:
            expanded[name] = None
            continue
        for other in learner_names(classification=classification):
            reason = _not_in_all(CATALOGUE[other], table, losses, classification=classification)
            if reason is None:
                expanded[other] = None
            elif reason:
                left_out[other] = reason
    return tuple(expanded), {name: reason for name, reason in left_out.items() if name not in expanded}


def _not_in_all(entry: Entry, table: Table, losses: tuple[Loss, ...], *, classification: bool) -> str | None:
    """Return why "all" leaves this learner out: empty for one that must be named, None if it is included."""
    if entry.package is not None:
        return ""
    if entry.most_rows is not None and table.rows > entry.most_rows:
        return f"too slow for more than {entry.most_rows:,} rows; name it to try"
    make = entry.classifier if classification else entry.regressor
    lack = _lack(make(), losses) if make is not None else None
    return None if lack is None else f"it has no {lack[0]}, which the loss {lack[1]} needs"


def _own_learner(model: Any, path: str, table: Table, *, classification: bool, spaces: Spaces) -> tuple[Any, Space]:
    """Return the user's own learner and space; a Pipeline gets the table unchanged, others scaled numbers."""
    if (is_regressor if classification else is_classifier)(model):
        kind, needed = ("regressor", "classifier") if classification else ("classifier", "regressor")
        raise LearnerError(f"--learner {path} is a {kind}, but the target needs a {needed}.")
    name = imported_name(path)
    space = narrowed({}, spaces.get(name, {}), model, name)
    if isinstance(model, Pipeline):
        return model, space
    steps = [*preparation_steps(table, SCALED), (name, model)]
    return Pipeline(steps), {f"{name}__{parameter}": values for parameter, values in space.items()}


def _entry(name: str, *, classification: bool) -> Entry:
    if name not in CATALOGUE:
        raise LearnerError(f"There is no learner {name!r} in the catalogue. {did_you_mean(name, [*CATALOGUE, ALL])}")
    entry = CATALOGUE[name]
    if not entry.suits(classification=classification):
        cannot, can = ("classification", "regression") if classification else ("regression", "classification")
        fit = ", ".join(learner_names(classification=classification))
        raise LearnerError(f"{name!r} is for {can}, but this is {cannot}. Learners that suit: {fit}.")
    return entry


def _losses(given: Any, *, classification: bool) -> tuple[Loss, ...]:
    return () if given is None else resolve_losses(given, classification=classification)


def _lack(estimator: Any, losses: tuple[Loss, ...]) -> tuple[str, str] | None:
    """Return the methods that a learner lacks and the loss that needs them, or None if it lacks none."""
    for loss in losses:
        for methods in loss.methods:
            if not any(hasattr(estimator, method) for method in methods):
                return " or ".join(methods), loss.name
    return None


def imported_name(path: str) -> str:
    """Return the name that an imported learner has in a study.

    >>> imported_name("mypackage.models:Forest")
    'Forest'
    """
    return path.rpartition(":")[2].rpartition(".")[2]


def import_learner(path: str, *, allowed: bool) -> Any:
    """Import ``package.module:Name``: an estimator, or a class or function that returns one.

    The working folder is searched last. Without `allowed`, the user's permission to run code, an OptionError is raised.

    >>> import_learner("sklearn.linear_model:HuberRegressor", allowed=True)
    HuberRegressor()
    """
    if not allowed:
        raise OptionError(f"--learner {path} would import code and run it. If you trust that code, add --allow-import.")
    module_name, _, name = path.rpartition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        raise LearnerError(f"--learner {path}: an own learner is written as package.module:Name.")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that a file there hides no library
    try:
        model: Any = import_module(module_name)
    except Exception as error:  # a module may raise anything
        raise LearnerError(f"--learner {path}: {module_name!r} cannot be imported: {named_line(error)}.") from error
    for part in name.split("."):
        if not hasattr(model, part):
            known = [known_name for known_name in dir(model) if not known_name.startswith("_")]
            raise LearnerError(f"--learner {path}: there is no {part!r} in it. {did_you_mean(part, known[:200])}")
        model = getattr(model, part)
    return _made(model, path)


def _made(model: Any, path: str) -> Any:
    if isinstance(model, type) or not hasattr(model, "fit"):
        if not callable(model):
            raise LearnerError(f"--learner {path}: it is a {type(model).__name__}, not an estimator.")
        try:
            model = model()
        except Exception as error:
            raise LearnerError(
                f"--learner {path}: it cannot be made without arguments: {named_line(error)}."
            ) from error
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise LearnerError(
            f"--learner {path}: {type(model).__name__} has no fit and get_params. Derive it from "
            "sklearn.base.BaseEstimator."
        )
    return model
