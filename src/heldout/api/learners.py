"""Converts any learner, scikit-learn's own searches included, to the Search that a study takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, ParameterSampler, RandomizedSearchCV, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from heldout.api.tuned import Tuned
from heldout.base.errors import LearnerError
from heldout.base.rowkeys import Rows, derive
from heldout.losses import Loss, resolve_losses, score_loss
from heldout.search.search import Candidates, Family, Search, build_candidates
from heldout.splits import as_strategy
from heldout.splits.drawn import Splits
from heldout.task.task import Task

if TYPE_CHECKING:
    import pandas as pd


def as_search(learner: Any, *, seed: int, timed: bool = False) -> Search:
    """Convert a learner to a Search; unless it is a Tuned or an understood search, it is the only candidate."""
    check_learner(learner)
    if type(learner) is Tuned:
        own = learner.as_search(seed=seed, timed=timed)
        if learner.options is None:
            return own
        note = "Tuned: its options are those of its own fit, noted and ignored; this study has options= of its own."
        return replace(own, notes=(*own.notes, note))
    notes: tuple[str, ...] = ()
    if type(learner) in (GridSearchCV, RandomizedSearchCV):
        if understood(learner):
            return search_of_sklearn(learner, seed=seed)
        why = "callable refit" if callable(learner.refit) else "callable scoring that gives several scores"
        notes = (f"{type(learner).__name__} with a {why} is run as a black box: its fits cannot be shared.",)
    family = Family(name=type(learner).__name__, estimator=learner, candidates=build_candidates(None, seed=seed))
    if isinstance(learner, GridSearchCV | RandomizedSearchCV):
        losses: tuple[Loss, ...] = (score_loss(learner),)  # the loss by which it chooses, as for understood searches
    else:
        losses = resolve_losses(None, classification=is_classifier(learner))
    return Search(families=(family,), losses=losses, seed=seed, notes=notes)


def tuned_learner(names: Iterable[str], X: pd.DataFrame, *, classification: bool, **options: Any) -> Any:
    """Return one learner for one or several names: a Tuned of these families, or a single estimator without a space.

    A name given twice counts once. ``"all"`` stands for every scikit-learn learner that suits the target, the losses
    and the size of the table; learners of other libraries must be named, so that "all" means the same on every
    machine. Options are ``table``, ``spaces`` and ``allow_import`` of :func:`families_named`, and the arguments of
    :class:`heldout.Tuned`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 7]})
    >>> list(tuned_learner(["ridge", "knn"], X, classification=False, validation=3).estimator)
    ['ridge', 'knn']
    """
    from heldout.catalogue.learners import families_named

    of_families = {name: options.pop(name) for name in ("table", "spaces", "allow_import") if name in options}
    families = families_named(names, X, classification=classification, loss=options.get("loss"), **of_families)
    if len(families) == 1:
        ((estimator, space),) = families.values()
        if not space:
            return estimator
    return Tuned(families, **options)


def is_named(learner: Any) -> bool:
    """Return whether a learner is given by name, or by several names that compete."""
    return isinstance(learner, str) or (
        isinstance(learner, list | tuple) and len(learner) > 0 and all(isinstance(name, str) for name in learner)
    )


def refuse_name_of_stream(learner: Any) -> None:
    """Refuse a learner by name for a stream."""
    if is_named(learner):
        raise LearnerError(
            "A learner by name is made for columns that are looked at first, and a stream passes once. Load the data, "
            "or pass an estimator."
        )


def check_learner(learner: Any) -> None:
    """Refuse anything that is not a scikit-learn estimator, and say what to pass instead."""
    if isinstance(learner, type):
        raise LearnerError(
            f"{learner.__name__} is a class, not a learner. Pass one made from it: {learner.__name__}()."
        )
    if not hasattr(learner, "fit"):
        raise LearnerError(
            "A learner is a scikit-learn estimator or Pipeline, a Tuned, or a name such as 'ridge'; "
            f"{type(learner).__name__} has no fit."
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
    """Return whether the learner is a FrozenEstimator, which ``fit`` does not change."""
    return isinstance(learner, FrozenEstimator)


_IGNORED = {"n_jobs": None, "verbose": 0, "pre_dispatch": "2*n_jobs", "return_train_score": False}


def understood(search: Any) -> bool:
    """Return whether a scikit-learn search can be planned; otherwise it is run as a black box.

    A callable refit may choose by any rule, and a callable scoring with a named refit returns scores unknown to us.
    """
    return not callable(search.refit) and not (callable(search.scoring) and isinstance(search.refit, str))


def search_of_sklearn(search: Any, *, seed: int) -> Search:
    """Convert a GridSearchCV or RandomizedSearchCV to a Search: its candidates, splits, losses and error_score."""
    name = type(search).__name__
    if search.refit is False:
        raise LearnerError(f"{name}(refit=False) gives no predictor to evaluate. Use refit=True.")
    family = Family(
        name=type(search.estimator).__name__, estimator=search.estimator, candidates=_candidates(search, seed)
    )
    ignored = [f"{p}={getattr(search, p)!r}" for p, usual in _IGNORED.items() if getattr(search, p) != usual]
    return Search(
        families=(family,),
        losses=_losses(search),
        seed=seed,
        validation=SklearnCV(search.cv if _repeatable(search.cv) else list(search.cv), is_classifier(search.estimator)),
        error_score=_error_score(search.error_score),
        notes=(f"{name}: {', '.join(ignored)} noted and ignored; heldout has jobs= and progress=.",) if ignored else (),
    )


@dataclass(frozen=True, slots=True, eq=False)
class SklearnCV:
    """Strategy for scikit-learn's `cv` argument, which scikit-learn's own check_cv interprets for the given rows."""

    cv: Any
    classifier: bool

    inner_ok_under_partition: ClassVar[bool] = True

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the splits that the search itself would draw from these rows."""
        if isinstance(self.cv, list):
            return as_strategy(self.cv).draw(task, rows, seed=seed)
        splitter = check_cv(self.cv, task.y[rows], classifier=self.classifier)
        return as_strategy(splitter).draw(task, rows, seed=seed)


def _repeatable(cv: Any) -> bool:
    return cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split") or not isinstance(cv, Iterable)


def _candidates(search: Any, seed: int) -> Candidates:
    if type(search) is GridSearchCV:
        return build_candidates(search.param_grid, seed=seed)
    # A RandomState is copied, as clone copies it for each outer fold.
    state = deepcopy(search.random_state) if search.random_state is not None else derive(seed, "random_state")
    dicts = search.param_distributions
    names = dict.fromkeys(name for one in (dicts if isinstance(dicts, list) else [dicts]) for name in one)
    return Candidates(list(ParameterSampler(dicts, search.n_iter, random_state=state)), tuple(names))


def _losses(search: Any) -> tuple[Loss, ...]:
    """Return the losses for the search's scoring; the one that chooses comes first."""
    classification = is_classifier(search.estimator)
    if search.scoring is None:
        return (score_loss(search.estimator),)
    losses = resolve_losses(search.scoring, classification=classification)
    if isinstance(search.scoring, str) or callable(search.scoring):
        return losses  # the only score chooses, whichever true value refit has
    if isinstance(search.refit, str):
        chosen = [loss for loss in losses if loss.name == search.refit]
        if not chosen:
            raise LearnerError(f"refit={search.refit!r} is not among the scores {[loss.name for loss in losses]}.")
        losses = (*chosen, *(loss for loss in losses if loss.name != search.refit))
    elif len(losses) > 1:
        raise LearnerError("A search with several scores needs refit= to name the one that chooses.")
    return losses


def _error_score(value: Any) -> float | str | None:
    if value == "raise":
        return "raise"
    return None if value is None or np.isnan(value) else float(value)


LONGEST = 100  # characters of a name
WAYS = "Pass names, as in ['ridge', 'forest'], or a dict of names and estimators: {'ridge': Ridge(), 'mean': 'dummy'}"


def named_learners(learners: Any) -> dict[str, Any]:
    """Return two or more learners by name, from a dict, or from a list, where class names serve as names.

    >>> from sklearn.linear_model import Lasso, Ridge
    >>> list(named_learners([Ridge(), Lasso(), Ridge(alpha=10), "knn+tree"]))
    ['Ridge', 'Lasso', 'Ridge 2', 'knn+tree']
    """
    if isinstance(learners, str):
        learners = [name.strip() for name in learners.split(",") if name.strip()]
    if isinstance(learners, Mapping):
        named = dict(learners)
    elif isinstance(learners, list | tuple) and not any(isinstance(one, tuple) for one in learners):
        named = _by_class(learners)
    else:
        raise LearnerError(f"Learners to compare have names, but this is a {type(learners).__name__}. {WAYS}.")
    if len(named) < 2:
        raise LearnerError(f"A comparison needs at least two learners, and there is {len(named) or 'none'}. {WAYS}.")
    for name, learner in named.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise LearnerError(f"A learner's name is shown to people, but {name!r} is no printable text. {WAYS}.")
        if len(name) > LONGEST:
            raise LearnerError(f"A learner's name has at most {LONGEST} characters, but {name[:20] + '…'!r} has more.")
        if is_named(learner):
            continue
        try:
            check_learner(learner)
        except LearnerError as error:
            raise LearnerError(f"Learner {name!r}: {error}") from error
    twins = [name for name, times in Counter(" ".join(name.split()) for name in named).items() if times > 1]
    if twins:
        raise LearnerError(f"Two learners are called {twins[0]!r}, up to blanks. Give each its own name.")
    return named


def _by_class(learners: Any) -> dict[str, Any]:
    learners = dict.fromkeys(learners) if all(isinstance(one, str) for one in learners) else learners
    named: dict[str, Any] = {}
    times: Counter[str] = Counter()
    for learner in learners:
        word = _class_name(learner)
        times[word] += 1
        named[word if times[word] == 1 else f"{word} {times[word]}"] = learner
    return named


def _class_name(learner: Any) -> str:
    """Return the class name of a Pipeline's last step, or of a search with what it tunes, such as "Tuned Ridge"."""
    if isinstance(learner, str):
        return learner
    if isinstance(learner, Pipeline):
        return _class_name(learner.steps[-1][1])
    inner = getattr(learner, "estimator", None)
    if type(learner).__name__ in ("Tuned", "GridSearchCV", "RandomizedSearchCV") and hasattr(inner, "fit"):
        return f"{type(learner).__name__} {_class_name(inner)}"
    return type(learner).__name__
