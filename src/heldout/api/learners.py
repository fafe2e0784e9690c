"""Whatever a user calls a learner, as the plain search that a study knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.utils import get_tags

from heldout.api.searches import search_of_sklearn, understood
from heldout.api.tuned import Tuned
from heldout.base.errors import LearnerError
from heldout.catalogue.learners import Wish, families_named
from heldout.catalogue.preparation import Table
from heldout.losses import Loss, resolve_losses, score_loss
from heldout.search.search import Family, Search
from heldout.search.space import build_candidates

if TYPE_CHECKING:
    import pandas as pd


def as_search(learner: Any, *, seed: int, timed: bool = False) -> Search:
    """The search of a `Tuned`, of scikit-learn's own searches where they are understood, else the learner as it is."""
    check_learner(learner)
    if type(learner) is Tuned:
        own = learner.as_search(seed=seed, timed=timed)
        if learner.options is None:
            return own
        note = "Tuned: its options are those of its own fit, noted and ignored; this study has options= of its own."
        return replace(own, notes=(*own.notes, note))
    if type(learner) in (GridSearchCV, RandomizedSearchCV) and understood(learner):
        return search_of_sklearn(learner, seed=seed)
    notes: tuple[str, ...] = ()
    if type(learner) in (GridSearchCV, RandomizedSearchCV):
        why = "callable refit" if callable(learner.refit) else "callable scoring that gives several scores"
        notes = (f"{type(learner).__name__} with a {why} is run as a black box: its fits cannot be shared.",)
    family = Family(name=type(learner).__name__, estimator=learner, candidates=build_candidates(None, seed=seed))
    if isinstance(learner, GridSearchCV | RandomizedSearchCV):
        losses: tuple[Loss, ...] = (score_loss(learner),)  # what it chooses by, as for the searches that are understood
    else:
        losses = resolve_losses(None, classification=is_classifier(learner))
    return Search(families=(family,), losses=losses, seed=seed, notes=notes)


def tuned_learner(
    names: Iterable[str],
    X: pd.DataFrame,
    *,
    classification: bool,
    table: Table | None = None,
    wish: Wish | None = None,
    **options: Any,
) -> Any:
    """One learner from one or several names: families that compete, or the learner itself if it has nothing to tune.

    Parameters
    ----------
    names : iterable of str
        A name given twice counts once. ``"all"`` stands for every learner of scikit-learn that suits the target, the
        losses and the size of the table; those of other libraries are named beside it, so that the same words mean
        the same on every machine.
    X : pandas.DataFrame
        The columns to learn from.
    classification : bool
        Whether the target is classes.
    table : Table, optional
        What :func:`survey_table` saw in X; left out, it looks now.
    wish : Wish, optional
        Spaces of the user's own, and whether code may be imported.
    **options
        What :class:`heldout.Tuned` takes: ``validation``, ``loss``, ``random_state`` and others.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 7]})
    >>> list(tuned_learner(["ridge", "knn"], X, classification=False, validation=3).estimator)
    ['ridge', 'knn']
    """
    families = families_named(names, X, classification=classification, table=table, wish=wish, loss=options.get("loss"))
    if len(families) == 1:
        ((estimator, space),) = families.values()
        if not space:
            return estimator
    return Tuned(families, **options)


def check_learner(learner: Any) -> None:
    """Refuse what is not a scikit-learn estimator, with the way out."""
    if isinstance(learner, type):
        raise LearnerError(
            f"{learner.__name__} is a class, not a learner. Pass one made from it: {learner.__name__}()."
        )
    if not hasattr(learner, "fit"):
        raise LearnerError(
            f"A learner is a scikit-learn estimator or Pipeline, or a Tuned; {type(learner).__name__} has no fit."
        )
    if not hasattr(learner, "get_params"):
        raise LearnerError(
            f"{type(learner).__name__} has no get_params, so it cannot be cloned. Derive it from "
            "sklearn.base.BaseEstimator."
        )
    if isinstance(learner, BaseEstimator) and get_tags(learner).input_tags.pairwise:
        raise LearnerError(
            f"{type(learner).__name__} takes a precomputed matrix between rows, which heldout does not split. "
            "Pass features and let the learner compute its kernel or distances."
        )


def is_frozen(learner: Any) -> bool:
    """Whether this is a predictor already fitted, that fitting leaves alone."""
    return isinstance(learner, FrozenEstimator)
