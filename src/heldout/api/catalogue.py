"""The catalogue: learners by name, each with its preparation of columns and its default space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.api.preparation import column_kinds, prepare_coded, prepare_scaled, prepare_unscaled
from heldout.api.tuned import Tuned
from heldout.base.errors import LearnerError, did_you_mean
from heldout.base.losses import Loss, resolve_losses
from heldout.study.space import log_grid

if TYPE_CHECKING:
    import pandas as pd

Space = dict[str, Any]
SCALED, UNSCALED, CODED, NOTHING = "scaled", "unscaled", "coded", "nothing"
STRENGTHS = (-6, 2, 17)  # exponents of ten: 10^-6 … 10^2 in half steps, for how strongly to regularise


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A learner of the catalogue. `space` is made for a number of rows; names in it are those of the model."""

    name: str
    words: str
    classifier: Callable[[], Any] | None
    regressor: Callable[[], Any] | None
    space: Callable[[int], Space]
    preparation: str = SCALED

    def suits(self, *, classification: bool) -> bool:
        """Whether this learner can learn such a target."""
        return (self.classifier if classification else self.regressor) is not None


def default_learner(*, classification: bool) -> str:
    """The learner to begin with: regularised linear models are quick, and hard to beat by much on small tables."""
    return "logistic" if classification else "ridge"


def learner_names(*, classification: bool) -> tuple[str, ...]:
    """The names of the learners that suit such a target.

    >>> learner_names(classification=False)
    ('ridge', 'lasso', 'knn', 'tree', 'forest', 'boosting', 'svm', 'dummy')
    """
    return tuple(name for name, entry in CATALOGUE.items() if entry.suits(classification=classification))


def learner_named(name: str, X: pd.DataFrame, *, classification: bool) -> tuple[Any, Space]:
    """A learner of the catalogue for these columns, and its default space.

    Parameters
    ----------
    name : str
        Such as ``"ridge"``; :func:`learner_names` lists them.
    X : pandas.DataFrame
        The columns to learn from: their types decide the preparation.
    classification : bool
        Whether the target is classes.

    Returns
    -------
    tuple of estimator and dict
        The dict is empty where there is nothing to tune.

    Examples
    --------
    >>> import pandas as pd
    >>> estimator, space = learner_named("ridge", pd.DataFrame({"age": [31, 7]}), classification=False)
    >>> list(space), len(space["ridge__alpha"])
    (['ridge__alpha'], 17)
    """
    entry = _entry(name, classification=classification)
    make = entry.classifier if classification else entry.regressor
    assert make is not None, "_entry refuses learners that do not suit"
    model = make()
    if entry.preparation == NOTHING:
        return model, {}
    kinds = column_kinds(X)
    if entry.preparation == CODED:
        columns, codes = prepare_coded(kinds)
        model.set_params(categorical_features=codes or None)
    else:
        columns = (prepare_scaled if entry.preparation == SCALED else prepare_unscaled)(kinds)
    inside = f"{name}__regressor" if isinstance(model, TransformedTargetRegressor) else name
    space = {f"{inside}__{parameter}": values for parameter, values in entry.space(len(X)).items()}
    return Pipeline([("prepare", columns), (name, model)]), space


def tuned_learner(names: Iterable[str], X: pd.DataFrame, *, classification: bool, **options: Any) -> Any:
    """One learner from one or several names: families that compete, or the learner itself if it has nothing to tune.

    Parameters
    ----------
    names : iterable of str
        A name given twice counts once.
    X : pandas.DataFrame
        The columns to learn from.
    classification : bool
        Whether the target is classes.
    **options
        What :class:`heldout.Tuned` takes: ``validation``, ``loss``, ``random_state`` and others.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 7]})
    >>> list(tuned_learner(["ridge", "knn"], X, classification=False, validation=3).estimator)
    ['ridge', 'knn']
    """
    families = {name: learner_named(name, X, classification=classification) for name in dict.fromkeys(names)}
    if not families:
        raise LearnerError("No learner was named.")
    if options.get("loss") is not None:
        _check_answers(families, resolve_losses(options["loss"], classification=classification))
    if len(families) == 1:
        ((estimator, space),) = families.values()
        if not space:
            return estimator
    return Tuned(families, **options)


def _entry(name: str, *, classification: bool) -> Entry:
    if name not in CATALOGUE:
        raise LearnerError(f"There is no learner {name!r} in the catalogue. {did_you_mean(name, CATALOGUE)}")
    entry = CATALOGUE[name]
    if not entry.suits(classification=classification):
        cannot, can = ("classification", "regression") if classification else ("regression", "classification")
        fit = ", ".join(learner_names(classification=classification))
        raise LearnerError(f"{name!r} is for {can}, but this is {cannot}. Learners that suit: {fit}.")
    return entry


def _check_answers(families: Mapping[str, tuple[Any, Space]], losses: tuple[Loss, ...]) -> None:
    """Refuse a learner that cannot answer what a loss asks, such as probabilities, before any fit."""
    for name, (estimator, _) in families.items():
        for loss in losses:
            for methods in loss.methods:
                if not any(hasattr(estimator, method) for method in methods):
                    raise LearnerError(
                        f"{name!r} has no {' or '.join(methods)}, which the loss {loss.name!r} needs. "
                        "Choose another learner, or another loss."
                    )


def _on_unit_target(model: Any) -> TransformedTargetRegressor:
    """Penalties that depend on the unit of the target mean the same for cents and for millions."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _neighbours(rows: int) -> Space:
    # An inner training part may be far smaller than the table; more neighbours than rows would fail there.
    counts = [count for count in (1, 3, 5, 9, 15, 25, 41) if count <= max(1, rows // 6)]
    return {"n_neighbors": counts, "weights": ["uniform", "distance"]}


_ENTRIES = (
    Entry(
        name="ridge",
        words="linear, squared penalty",
        classifier=RidgeClassifier,
        regressor=Ridge,
        space=lambda _: {"alpha": log_grid(*STRENGTHS)},
    ),
    Entry(
        name="lasso",
        words="linear, few columns used",
        classifier=None,
        regressor=lambda: _on_unit_target(Lasso(max_iter=100_000)),
        space=lambda _: {"alpha": log_grid(*STRENGTHS)},
    ),
    Entry(
        name="logistic",
        words="linear, probabilities of classes",
        classifier=lambda: LogisticRegression(max_iter=10_000),
        regressor=None,
        space=lambda _: {"C": 1 / log_grid(*STRENGTHS)},
    ),
    Entry(
        name="knn",
        words="nearest neighbours",
        classifier=KNeighborsClassifier,
        regressor=KNeighborsRegressor,
        space=_neighbours,
    ),
    Entry(
        name="tree",
        words="one decision tree",
        classifier=DecisionTreeClassifier,
        regressor=DecisionTreeRegressor,
        space=lambda _: {"max_depth": [1, 2, 4, 8, 16], "min_samples_leaf": [1, 4, 16]},
        preparation=UNSCALED,
    ),
    Entry(
        name="forest",
        words="random forest of 100 trees",
        classifier=RandomForestClassifier,
        regressor=RandomForestRegressor,
        space=lambda _: {"max_features": ["sqrt", 0.3, 1.0], "min_samples_leaf": [1, 5]},
        preparation=UNSCALED,
    ),
    Entry(
        name="boosting",
        words="gradient-boosted trees",
        classifier=HistGradientBoostingClassifier,
        regressor=HistGradientBoostingRegressor,
        space=lambda _: {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [4, 31]},
        preparation=CODED,
    ),
    Entry(
        name="svm",
        words="support vectors, Gaussian kernel",
        classifier=SVC,
        regressor=lambda: _on_unit_target(SVR()),
        space=lambda _: {"C": log_grid(-1, 2, 4), "gamma": log_grid(-3, 0, 4)},
    ),
    Entry(
        name="dummy",
        words="ignores the columns: what any learner must beat",
        classifier=DummyClassifier,
        regressor=DummyRegressor,
        space=lambda _: {},
        preparation=NOTHING,
    ),
)
CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
