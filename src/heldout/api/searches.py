"""Someone else's search: scikit-learn's GridSearchCV and RandomizedSearchCV as a plain search."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, ParameterSampler, check_cv

from heldout.base.errors import LearnerError
from heldout.base.rowkeys import Rows
from heldout.base.seeds import derive
from heldout.losses import Loss, resolve_losses, score_loss
from heldout.search.search import Family, Search
from heldout.search.space import Candidates, build_candidates
from heldout.splits import as_strategy
from heldout.splits.drawn import Splits
from heldout.task.task import Task

_IGNORED = ("n_jobs", "verbose", "pre_dispatch", "return_train_score")
_DEFAULTS = {"n_jobs": None, "verbose": 0, "pre_dispatch": "2*n_jobs", "return_train_score": False}


def understood(search: Any) -> bool:
    """Whether the search can be planned; else it is run as a black box.

    A callable refit may choose by anything; a callable scoring with a refit by name gives scores we cannot know.
    """
    return not callable(search.refit) and not (callable(search.scoring) and isinstance(search.refit, str))


def search_of_sklearn(search: Any, *, seed: int) -> Search:
    """The plain search of a GridSearchCV or RandomizedSearchCV: its candidates, splits, scores and errors."""
    name = type(search).__name__
    if search.refit is False:
        raise LearnerError(f"{name}(refit=False) gives no predictor to evaluate. Use refit=True.")
    family = Family(
        name=type(search.estimator).__name__, estimator=search.estimator, candidates=_candidates(search, seed)
    )
    ignored = [f"{p}={getattr(search, p)!r}" for p in _IGNORED if getattr(search, p) != _DEFAULTS[p]]
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
    """scikit-learn's `cv` argument: what it means is settled by scikit-learn's own check_cv on the rows given."""

    cv: Any
    classifier: bool

    inner_ok_under_partition: ClassVar[bool] = True

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """What the search itself would draw from these rows."""
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
    """The search's scoring, the one that refits first."""
    classification = is_classifier(search.estimator)
    if search.scoring is None:
        return (score_loss(search.estimator),)
    losses = resolve_losses(search.scoring, classification=classification)
    if isinstance(search.scoring, str) or callable(search.scoring):
        return losses  # one score chooses, whatever true value refit has
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
