"""Says in words what a study predicted, from what and how: the facts of the first lines of every report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.base.words import clipped, line
from heldout.results.metrics import Metric
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER, Study
from heldout.task import Task

MOST_CLASSES = 20  # that are listed with their shares
OF_ALL_LEARNERS = ("name", "target", "source", "rows", "columns", "classes", "median", "metric")  # in a comparison


def facts_of(task: Task, study: Study) -> dict[str, Any]:
    """Return the facts of a headline that need the task and the study, as plain values of `about`."""
    search = study.search
    return {
        "learner_words": ("tuned " if search.tuned else "") + _learner_words(search),
        "procedure": _procedure(study),
        **_target_facts(task),
    }


def _target_facts(task: Task) -> dict[str, Any]:
    """Return the rows of each class, or the median of a numeric target; nothing where y is no single column."""
    if task.y.ndim != 1 or len(task.y) != task.size:
        return {}
    if task.classes is not None:
        return {"class_rows": np.bincount(np.searchsorted(task.classes, task.y), minlength=len(task.classes)).tolist()}
    return {"median": float(np.median(task.y))} if task.y.dtype.kind in "iuf" else {}


def _learner_words(search: Search) -> str:
    """Return the families of a learner in words, never a Pipeline's repr.

    >>> _spaced("HistGradientBoostingClassifier")
    'hist gradient boosting'
    """
    if len(search.families) > 1:
        names = [_spaced(line(family.name)) for family in search.families]
        return f"choice among {', '.join(names[:-1])} and {names[-1]}"
    model = search.families[0].estimator
    while hasattr(model, "steps") and model.steps:
        model = model.steps[-1][1]
    return _spaced(type(model).__name__)


def _spaced(name: str) -> str:
    """Return the name of a class in words, without its kind."""
    name = re.sub(r"(?<=.)(Classifier|Regressor|Regression)$", "", name) if name != "LogisticRegression" else name
    return clipped(" ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+|[^A-Z]+", name)).lower(), 60)


def _procedure(study: Study) -> str:
    """Return how the learner was tested, in the words of a textbook."""
    outer = study.splits[OUTER]
    words = _words_of_splits(outer)
    inner = study.search.tuned and bool(study.choices)
    return f"nested {words}" if inner and outer.parts > 1 and not words.startswith("each") else words


def _words_of_splits(outer: Splits) -> str:
    recipe = outer.recipe
    parts = outer.parts // recipe.repeats
    again = f", repeated {recipe.repeats} times" if recipe.repeats > 1 else ""
    if recipe.kind in ("kfold", "shared"):
        return f"{parts}-fold cross-validation{again}"
    if recipe.kind == "loo":
        return "leave-one-out" if not recipe.grouped else "leave-one-group-out"
    if recipe.kind == "forward":
        return f"each test on the {'block' if parts == 1 else f'{parts} blocks'} after its training rows"
    if outer.parts == 1:
        return f"one test set of {len(outer.held):,} rows"
    return f"{outer.parts} random test sets" if recipe.kind == "resample" else f"{outer.parts} test sets"


def headline_of(about: Mapping[str, Any], metrics: Sequence[Metric], choices: Sequence[Mapping[str, Any]]) -> Any:
    """Return the headline of a summary, as docs/summary.md describes it; all values are plain."""
    classes, rows = about.get("classes"), about.get("class_rows")
    shares = None
    if classes is not None and rows is not None:
        pairs = sorted(zip(classes, rows, strict=True), key=lambda pair: -pair[1])[:MOST_CLASSES]
        shares = [{"label": label, "share": count / max(sum(rows), 1)} for label, count in pairs]
    leads = next((one for one in metrics if one.decides), None)
    compared = leads is not None and leads.against.difference is not None
    return {
        "name": about.get("name"),
        "target": about.get("target"),
        "source": about.get("source"),
        "rows": about["rows"],
        "columns": about.get("columns"),
        "classes": shares,
        "median": about.get("median"),
        "learner": about.get("learner_words") or about["learner"],
        "procedure": about.get("procedure") or about["test"],
        "chosen": _chosen(about, choices),
        "metric": None if leads is None else leads.estimate.loss,
        "verdict": leads.against.verdict if compared and leads is not None else None,
    }


def _chosen(about: Mapping[str, Any], choices: Sequence[Mapping[str, Any]]) -> str | None:
    """Say which families were chosen how often; None where there is one family only."""
    counts = Counter(str(one["family"]) for one in choices if one["candidate"] >= 0)
    if len(about["families"]) < 2 or not counts:
        return None
    names = [_spaced(line(name)) for name in about["families"]]
    best = " and ".join(f"{_spaced(line(name))} in {count}" for name, count in counts.most_common(3))
    return f"Chosen in each fold among {', '.join(names[:-1])} and {names[-1]} ({best} of {counts.total()})"
