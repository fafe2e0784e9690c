"""Makes learners by name for the columns of a table, each with its default space."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

from heldout.base.errors import (
    Argument,
    LearnerError,
    LossError,
    OptionError,
    Sentence,
    SpaceError,
    did_you_mean,
    named_line,
)
from heldout.catalogue.boosters import CodedClasses
from heldout.catalogue.entries import CATALOGUE, Entry, Space
from heldout.catalogue.preparation import SCALED, Table, coded_columns, preparation_steps, survey_table
from heldout.catalogue.spaces import narrowed
from heldout.losses import Loss, resolve_losses
from heldout.splits.parse import our_splits

if TYPE_CHECKING:
    import pandas as pd

ALL, AUTO = "all", "auto"
FEWEST_ROWS = 60  # below it `auto` has no boosting: inner training parts would have fewer than 40 rows
MOST_WORK = 1_200  # columns × trees a round × forests searched, beyond which boosting would take minutes
Spaces = Mapping[str, Mapping[str, list[Any] | None] | None]
_INSIDE = {TransformedTargetRegressor: "regressor", CodedClasses: "classifier"}


def learner_names(*, classification: bool) -> tuple[str, ...]:
    """Return the names of the learners for classification or regression, in the order of the catalogue.

    >>> learner_names(classification=False)[:5]
    ('linear', 'ridge', 'lasso', 'elastic_net', 'knn')
    """
    return tuple(name for name, entry in CATALOGUE.items() if entry.suits(classification=classification))


def only_kind(names: Iterable[str]) -> bool:
    """Return whether these learners are for classes; raise LearnerError if they suit numbers as well.

    >>> only_kind(["logistic", "lda"]), only_kind(["lasso"])
    (True, False)
    """
    known = [name for name in names if name not in (ALL, AUTO)]
    suits = [kind for kind in (True, False) if all(_entry(name, None).suits(classification=kind) for name in known)]
    if len(suits) != 1:
        raise LearnerError("Is this classification? Pass y, or classification=True or False.")
    return suits[0]


def learner_named(
    name: str,
    X: pd.DataFrame,
    *,
    classification: bool,
    table: Table | None = None,
    spaces: Spaces | None = None,
    allow_import: bool | None = False,
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
    entry = _entry(name, classification)
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
            raise SpaceError(
                Sentence("{}: this learner does not compete. {}", Argument("space", name), did_you_mean(name, families))
            )
    return families


def expand_names(
    names: Iterable[str], table: Table, *, classification: bool, loss: Any = None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Expand ``"all"`` and ``"auto"``; return each name once, and the learners that these leave out with the reasons.

    ``"auto"`` is a penalised linear model, and boosting where the size of the table allows it.

    >>> import pandas as pd
    >>> table = survey_table(pd.DataFrame({"age": [31, 7]}), classes=2)
    >>> names, left_out = expand_names(["all"], table, classification=True, loss="log")
    >>> left_out["svm"], "svm" in names, "logistic" in names
    ('it has no predict_proba, which the loss log needs', False, True)
    >>> expand_names(["auto"], table, classification=True)
    (('logistic',), {'boosting': 'fewer than 60 rows are too few for it; name it to try'})
    """
    losses = _losses(loss, classification=classification)
    expanded: dict[str, None] = {}
    left_out: dict[str, str] = {}
    for name in names:
        for other in learner_names(classification=classification) if name in (ALL, AUTO) else ():
            entry = CATALOGUE[other]
            if name == AUTO:
                reason = _not_in_auto(entry, table, classification=classification)
            else:
                reason = _not_in_all(entry, table, losses, classification=classification)
            if reason is None:
                expanded[other] = None
            elif reason:
                left_out[other] = reason
        if name not in (ALL, AUTO):
            expanded[name] = None
    return tuple(expanded), {name: reason for name, reason in left_out.items() if name not in expanded}


def _not_in_auto(entry: Entry, table: Table, *, classification: bool) -> str | None:
    """Return why "auto" leaves this learner out, by sizes alone: empty for one that it never includes."""
    if entry.name != "boosting":
        return None if entry.name == ("logistic" if classification else "ridge") else ""
    if table.rows < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} rows are too few for it; name it to try"
    trees = table.classes if table.classes > 2 else 1  # a round
    sizes = sorted(len(values) for values in entry.space(table).values())  # one forest answers all numbers of rounds
    if table.columns * trees * math.prod(sizes[:-1]) > MOST_WORK:
        of_classes = f" and {table.classes} classes" if trees > 1 else ""
        return f"with {table.columns:,} columns{of_classes} it would take minutes; name it to try"
    return None


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


def _entry(name: str, classification: bool | None) -> Entry:
    """Return the entry of a name; None for `classification` does not ask whether it suits."""
    if name not in CATALOGUE:
        raise LearnerError(
            Sentence("There is no learner {!r} in the catalogue. {}", name, _nearest(name, classification))
        )
    entry = CATALOGUE[name]
    if classification is not None and not entry.suits(classification=classification):
        cannot, can = ("classification", "regression") if classification else ("regression", "classification")
        fit = ", ".join(learner_names(classification=classification))
        raise LearnerError(f"{name!r} is for {can}, but this is {cannot}. Learners that suit: {fit}.")
    return entry


# What other libraries and people call learners: in lower case, without blanks, "_", "-", and "classifier" at the end.
_CALLED: Mapping[str, str] = {
    **dict.fromkeys(("ols", "lm", "leastsquares", "linearregression", "linreg"), "linear"),
    **dict.fromkeys(("logit", "logreg", "logisticregression"), "logistic"),
    **dict.fromkeys(("enet", "glmnet"), "elastic_net"),
    **dict.fromkeys(("lineardiscriminantanalysis", "discriminant"), "lda"),
    **dict.fromkeys(("nb", "gnb", "naivebayes", "gaussiannb"), "bayes"),
    **dict.fromkeys(("kneighbors", "neighbors", "nearestneighbors"), "knn"),
    **dict.fromkeys(("dt", "cart", "decisiontree", "rpart"), "tree"),
    **dict.fromkeys(("rf", "randomforest", "ranger"), "forest"),
    **dict.fromkeys(("et", "extratree"), "extra_trees"),
    **dict.fromkeys(("gb", "gbm", "gbdt", "gbrt", "gradientboosting", "histgradientboosting", "hgb"), "boosting"),
    **dict.fromkeys(("svc", "svr", "supportvector"), "svm"),
    **dict.fromkeys(("baseline", "mean", "majority", "constant", "null"), "dummy"),
    **dict.fromkeys(("lgb", "lgbm"), "lightgbm"),
    **dict.fromkeys(("xgb", "xgboost"), "xgboost"),
    **dict.fromkeys(("cat", "cb"), "catboost"),
    **dict.fromkeys(("automl", "default"), AUTO),
    **{name.replace("_", ""): name for name in CATALOGUE},
}


def _nearest(name: str, classification: bool | None) -> str | Sentence:
    """Return our word for what was written as a learner: a learner, a way to hold rows out, a loss; or what is near."""
    plain = re.sub(r"[\s_-]|classifier$|regressor$|cv$", "", name.lower())
    ours = _CALLED.get(plain)
    if plain == "lr":
        ours = "linear" if classification is False else "logistic"
    if ours is not None:
        return f"It is called {ours!r} here{'.' if ours == AUTO else f': {CATALOGUE[ours].words}.'}"
    splits = our_splits(name)
    if splits is not None:
        return Sentence("To say which rows are held out, write {}.", Argument("test", splits))
    with suppress(LossError):
        resolve_losses(name, classification=classification is not False)
        return Sentence("To say what is measured, write {}.", Argument("loss", name))
    return did_you_mean(name, [*CATALOGUE, ALL, AUTO])


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


def import_learner(path: str, *, allowed: bool | None) -> Any:
    """Import ``package.module:Name``: an estimator, or a class or function that returns one.

    The working folder is searched last. Without `allowed`, the user's permission to run code, an OptionError is raised;
    None says that the user is in Python and need not ask.

    >>> import_learner("sklearn.linear_model:HuberRegressor", allowed=True)
    HuberRegressor()
    """
    module_name, _, name = path.rpartition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        near = _nearest(path, None) if our_splits(path) else "An own learner is written as package.module:Name."
        raise LearnerError(Sentence("{} is no learner. {}", Argument("learner", path), near))
    if not allowed:
        way = "import it and pass the estimator" if allowed is None else "add --allow-import"
        text = f"{{}} would import code and run it. If you trust that code, {way}."
        raise OptionError(Sentence(text, Argument("learner", path)))
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
