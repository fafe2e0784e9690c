"""Says in words what a study predicted, from what and how: the facts of the first lines of every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.base.findings import Finding
from heldout.engine.run import Outcome
from heldout.results.metrics import Metric
from heldout.study.in_words import family_words, learner_words, procedure_words
from heldout.task import Task

MOST_CLASSES = 20  # that are listed with their shares
OF_ALL_LEARNERS = ("name", "target", "source", "rows", "columns", "classes", "median", "metric")  # in a comparison


def facts_of(task: Task, outcome: Outcome) -> dict[str, Any]:
    """Return the facts of a headline that need the task and the study, as plain values of `about`.

    They are words, and the rows of each class or the median of a numeric target, where they are known.
    """
    return {
        "learner_words": learner_words(outcome.study.search),
        "procedure": procedure_words(outcome.study),
        **_target_facts(task, None if outcome.stream is None else outcome.stream.targets.counts.sum(axis=0)),
    }


def _target_facts(task: Task, counts: Any) -> dict[str, Any]:
    if counts is not None:  # of a stream
        return {} if task.classes is None else {"class_rows": counts.tolist()}
    if task.y.ndim != 1 or len(task.y) != task.size:
        return {}
    if task.classes is not None:
        return {"class_rows": np.bincount(np.searchsorted(task.classes, task.y), minlength=len(task.classes)).tolist()}
    return {"median": float(np.median(task.y))} if task.y.dtype.kind in "iuf" else {}


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
    names = [family_words(name) for name in about["families"]]
    best = " and ".join(f"{family_words(name)} in {count}" for name, count in counts.most_common(3))
    return f"Chosen in each fold among {', '.join(names[:-1])} and {names[-1]} ({best} of {counts.total()})"


RARE = 0.2  # the share of all rows outside the commonest class below which accuracy hides them


def hides_rare_classes(about: Mapping[str, Any]) -> bool:
    """Return whether nearly all rows are of one class, so that always answering it has a high accuracy."""
    rows = about.get("class_rows") or []
    return len(rows) > 1 and about.get("answer", "full") == "full" and 1 - max(rows) / max(sum(rows), 1) < RARE


def rare_class_finding(about: Mapping[str, Any], metrics: Sequence[Metric]) -> Finding | None:
    """Return H105 if accuracy leads although nearly all rows are of one class, with a score to decide by instead."""
    leads = next((one for one in metrics if one.decides), None)
    if not hides_rare_classes(about) or leads is None or leads.label not in ("accuracy", "error rate"):
        return None
    rows, classes = about["class_rows"], about["classes"]
    common = int(np.argmax(rows))
    rest = 1 - rows[common] / sum(rows)
    which = repr(classes[1 - common]) if len(classes) == 2 else f"not {classes[common]!r}"
    text = f"{100 * rest:.2g} % of the rows are {which}: accuracy hides them. "
    by_name = {one.estimate.loss: one for one in metrics if one.estimate.value is not None}
    best = next((by_name[name] for name in ("auc", "balanced_accuracy") if name in by_name), None)
    if best is not None:
        one, verdict = best.estimate, best.against.verdict
        better = {"better": "is better than", "worse": "is worse than"}.get(verdict, "is not shown to beat")
        between = "" if one.low is None or one.high is None else f" ({one.low:.3f} to {one.high:.3f})"
        text += f"By {best.label} the learner {better} chance: {one.value:.3f}{between}. "
    names = dict.fromkeys(["balanced_accuracy"] if best is None else [best.estimate.loss, "balanced_accuracy"])
    names = {"logloss": None} if "stream" in about else names  # a stream takes losses of rows alone
    ways = " or ".join(f"loss={name!r} (--loss {name})" for name in names)
    return Finding(code="H105", severity="warning", message=f"{text}Decide by {ways}.")
