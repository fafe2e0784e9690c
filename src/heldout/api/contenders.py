"""The learners that are compared, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from heldout.api.learners import check_learner
from heldout.base.errors import LearnerError

LONGEST = 100  # characters of a name
WAYS = "Pass a dict of names and estimators: {'ridge': Ridge(), 'forest': RandomForestRegressor()}"


def named_learners(learners: Any) -> dict[str, Any]:
    """Two or more learners by name, from a dict, or from a list that takes the names of its classes.

    >>> from sklearn.linear_model import Lasso, Ridge
    >>> list(named_learners([Ridge(), Lasso(), Ridge(alpha=10)]))
    ['Ridge', 'Lasso', 'Ridge 2']
    """
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
        try:
            check_learner(learner)
        except LearnerError as error:
            raise LearnerError(f"Learner {name!r}: {error}") from error
    twins = [name for name, times in Counter(" ".join(name.split()) for name in named).items() if times > 1]
    if twins:
        raise LearnerError(f"Two learners are called {twins[0]!r}, up to blanks. Give each its own name.")
    return named


def _by_class(learners: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    times: Counter[str] = Counter()
    for learner in learners:
        word = _class_name(learner)
        times[word] += 1
        named[word if times[word] == 1 else f"{word} {times[word]}"] = learner
    return named


def _class_name(learner: Any) -> str:
    """The class of what predicts: the last step of a Pipeline, what a search tunes."""
    if isinstance(learner, Pipeline):
        return _class_name(learner.steps[-1][1])
    inner = getattr(learner, "estimator", None)
    if type(learner).__name__ in ("Tuned", "GridSearchCV", "RandomizedSearchCV") and hasattr(inner, "fit"):
        return f"{type(learner).__name__} {_class_name(inner)}"
    return type(learner).__name__
