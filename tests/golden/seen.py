"""What is pinned of a study: plain values, without seconds, versions, paths and whatever else must vary.

Left out, because it varies or may change: seconds, tracebacks, versions and the machine, addresses in memory and our
modules; the text of the plan, which is a rendering; the words of why a rule was not used (that there were some is
pinned); the size of differences that checks found, which are rounding. `operations` are pinned to their order of
magnitude, as documented.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

DIFFERENCE = re.compile(r"(largest difference|by) [\d.e+-]+")
ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
HOME = re.compile(r"from heldout(\.\w+)+ import")
ROUNDING_OF_ZERO = re.compile(r"-?\d[\d.]*e-1\d")
NUMBER = re.compile(r"\d[\d.,]*\d|\d")
FIRST = 3  # values of a long array that are pinned as they are; the others by their digest


def seen(thing: Any) -> Any:
    """The plain values of whatever a study returned."""
    if isinstance(thing, Mapping):
        return {str(key): seen(value) for key, value in thing.items()}
    kind = type(thing).__name__
    if kind in SEERS:
        return SEERS[kind](thing)
    return plain(thing)


def plain(value: Any) -> Any:
    """Values that JSON holds, with arrays of more than a few numbers as digests."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, str | int) or value is None:
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Sequence | set | frozenset):
        return [plain(one) for one in (value if isinstance(value, Sequence) else sorted(value))]
    return f"<{type(value).__name__}>"


def digest(values: Any) -> dict[str, Any]:
    """Shape, first values, and a number or hash that any change of the others changes.

    `weighted` sums positive terms alone, so that it is as precise as the values are.
    """
    array = np.asarray(values)
    flat = array.ravel()
    told: dict[str, Any] = {"shape": list(array.shape), "first": [plain(one) for one in flat[:FIRST].tolist()]}
    if array.dtype.kind == "f":
        finite = np.where(np.isfinite(flat), flat, 0.0)
        if missing := int((~np.isfinite(flat)).sum()):
            told["missing"] = missing
        told["weighted"] = float(np.sum(np.abs(finite) * (1 + np.arange(len(flat)) / max(len(flat), 1))))
        told["negative"] = int((finite < -1e-9).sum())
    else:
        told["hash"] = hash_of([str(one) for one in flat.tolist()])
    return told


def hash_of(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def seen_frame(frame: Any) -> Any:
    """A digest a column; the names of the columns where there is no row."""
    if not len(frame):
        return "no rows: " + ", ".join(map(str, frame.columns))
    return {str(name): digest(frame[name].to_numpy()) for name in frame.columns}


def seen_result(result: Any, X: Any = None) -> dict[str, Any]:
    """A result: its summary, its tables, its figures, and what the final predictor answers on `X`."""
    whole = result.summary(figures=True)
    told = {
        "summary": seen_summary(whole),
        "figures": {name: seen_figure(name, figure) for name, figure in whole["figures"].items()},
        "findings": [f"{one.code} {one.severity}" for one in result.findings],
        "candidates": seen_frame(result.candidates),
        "ranked": hash_of([(one["candidate"], one["chosen"]) for one in whole["candidates"]]),
        "warnings": seen_frame(result.warnings),
        "near_ties": near_ties(result.candidates, whole["about"].get("chosen_by")),
    }
    about = whole["about"]
    if about.get("answer", "full") == "full" and "no_predictions" not in about:
        told["predictions"] = seen_frame(result.predictions)
    if result.journal is not None:
        told["journal"] = [result.journal.recalled, result.journal.computed]
    if X is not None:
        told["final"] = seen_predictor(result.predictor, X)
        after = seen_estimates(result.summary()["estimates"])
        told["estimates_with_predictor"] = {
            name: one for name, one in after.items() if one != told["summary"]["estimates"].get(name)
        }
    return told


def near_ties(candidates: Any, loss: str | None) -> int:
    """How many folds have two candidates whose means differ by less than a millionth: other last bits could choose.

    Means of counts of errors that are the same number, summed in another order, are ties on every machine.
    """
    column = f"validation_{loss}"
    if column not in candidates.columns:
        return 0
    found = 0
    for _, fold in candidates.groupby("fold") if hasattr(candidates, "groupby") else ():
        means = np.sort(np.asarray(fold[column], dtype=float))
        means = means[np.isfinite(means)]
        apart = np.diff(means) / np.abs(means).max(initial=1e-300)
        found += bool(((apart > 1e-14) & (apart < 1e-6)).any())
    return found


def seen_predictor(predictor: Any, X: Any) -> dict[str, Any]:
    told = {"type": type(predictor).__name__}
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(predictor, method):
            told[method] = digest(getattr(predictor, method)(X))
    return told


def seen_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary of a result or a comparison without what must vary."""
    told = {key: value for key, value in summary.items() if key not in ("figures", "candidates", "seconds", "plan")}
    told["about"] = seen_about(summary["about"])
    if "meanings" in told.get("verdict", {}):
        verdict = told["verdict"]
        optimism = verdict["optimism"] and ROUNDING_OF_ZERO.sub("0", verdict["optimism"])
        told["verdict"] = {**verdict, "meanings": seen_meanings(verdict["meanings"]), "optimism": optimism}
    if "risk" in told:
        told["risk"] = "is estimates.risk" if summary["risk"] == summary["estimates"]["risk"] else summary["risk"]
        told["estimates"] = seen_estimates(summary["estimates"])
    if "choices" in told:  # `params` are the columns `param_…` again
        told["choices"] = [{key: value for key, value in one.items() if key != "params"} for one in told["choices"]]
    if "failures" in told:
        told["failures"] = seen_failures(summary["failures"])
    if "plan" in summary:
        told["plan"] = seen_plan(summary["plan"])
    if "seconds" in summary:
        told["seconds"] = seen_seconds(summary["seconds"])
    if "checks" in told:
        told["checks"] = {**told["checks"], "seconds": 0}
    if "learners" in told:
        told["learners"] = {name: seen_learner(one) for name, one in summary["learners"].items()}
    return told


def seen_estimates(estimates: Mapping[str, Any]) -> dict[str, Any]:
    """Estimates without the keys that are null, and without ends that were not clipped."""
    found = {}
    for name, one in estimates.items():
        told = {key: value for key, value in one.items() if value is not None and key != "name"}
        if told.get("unclipped") == [one.get("low"), one.get("high")]:
            told["unclipped"] = "as shown"
        found[name] = told
    return found


def seen_about(about: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: lasting(value) for key, value in about.items()}
    if "environment" in told:
        told["environment"] = ", ".join(sorted(told["environment"]))
    return told


def lasting(value: Any) -> Any:
    """Without addresses in memory, which functions show, and without modules of ours, which may move."""
    if isinstance(value, list):
        return [lasting(one) for one in value]
    return HOME.sub("from heldout… import", ADDRESS.sub(" at …>", value)) if isinstance(value, str) else value


def seen_meanings(meanings: Mapping[str, Any]) -> dict[str, Any]:
    """The words of each estimate; its numbers are pinned where they stand by themselves."""
    return {name: {**one, "text": NUMBER.sub("#", one["text"])} for name, one in meanings.items()}


def seen_failures(failures: Any) -> Any:
    if isinstance(failures, Mapping):  # of a comparison: what happened, by learner
        return dict(failures)
    return [{**one, "traceback": bool(one["traceback"])} for one in failures]


def seen_learner(learner: Mapping[str, Any]) -> dict[str, Any]:
    told = {**learner, "about": seen_about(learner["about"])}
    if "seconds" in told:
        told["seconds"] = seen_seconds(learner["seconds"])
    return told


def seen_seconds(seconds: Mapping[str, Any]) -> dict[str, Any]:
    spent = [[one["level"], one["family"], one["cells"]] for one in seconds.get("spent", ())]
    return {"keys": ", ".join(sorted(seconds)), "spent": spent}


def seen_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Plan lines as they are, rules that were used with their counts, the others by name."""
    told = {key: value for key, value in plan.items() if key not in ("text", "passes", "checks", "checked", "lines")}
    told["lines"] = [{**line, "operations": magnitude(line["operations"])} for line in plan["lines"]]
    told["passes"] = ", ".join(one["name"] for one in plan["passes"])
    told["unused"] = ", ".join(name_of_unused(one) for one in plan["passes"] if not one["used"])
    told["used"] = [seen_pass(one) for one in plan["passes"] if one["used"]]
    told["checked"] = [DIFFERENCE.sub(r"\1 …", line) for line in plan["checked"]]
    told["checks"] = [
        {key: value for key, value in check.items() if key != "difference"} for check in plan.get("checks", ())
    ]
    return told


def name_of_unused(one: Mapping[str, Any]) -> str:
    return f"{one['name']} (why)" if one["refusals"] else one["name"]


def seen_pass(one: Mapping[str, Any]) -> Any:
    left = {key: value for key, value in one.items() if key not in ("seconds", "refusals", "used")}
    return {**left, "refusals": bool(one["refusals"])}


def magnitude(operations: float | None) -> float | None:
    """The power of ten, to one digit; it is compared to within a factor of ten."""
    return None if operations is None else round(float(np.log10(max(operations, 1.0))), 1)


def seen_figure(name: str, figure: Any) -> Any:
    """The numbers of a figure as a digest, all else as a hash."""
    if "none" in figure:
        return figure
    floats: list[float] = []
    rest: list[Any] = []

    def take(path: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key in sorted(value):
                if name != "time" or key in ("level", "family", "cells", "bars", "name", "fits_before", "fits_after"):
                    take(f"{path}.{key}", value[key])
        elif isinstance(value, list):
            rest.append((path, len(value)))
            for one in value:
                if not (isinstance(one, Mapping) and one.get("name") == "best_validation_bbc"):  # see `compare`
                    take(path, one)
        elif isinstance(value, float):
            floats.append(value)
        else:
            rest.append((path, value))

    take("", figure)
    numbers = digest(np.array(floats))
    return {"keys": ", ".join(sorted(figure)), "numbers": [len(floats), numbers["weighted"]], "hash": hash_of(rest)}


def seen_comparison(comparison: Any) -> dict[str, Any]:
    whole = comparison.summary(figures=True)
    told = seen_summary(whole)
    told["figures"] = {name: seen_figure(name, figure) for name, figure in whole["figures"].items()}
    told["table"] = seen_frame(comparison.table)
    told["results"] = {name: hash_of(seen_about(one.summary()["about"])) for name, one in comparison.results.items()}
    return told


def seen_tuned(tuned: Any) -> dict[str, Any]:
    """A fitted Tuned, its `cv_results_` and estimates among the rest."""
    results = {
        name: digest(np.asarray(values)) for name, values in tuned.cv_results_.items() if not name.endswith("_time")
    }
    return {
        "attributes": sorted(name for name in vars(tuned) if name.endswith("_") and not name.startswith("_")),
        "best": [tuned.best_index_, plain(tuned.best_params_), plain(tuned.best_score_)],
        "cv_results": {name: one for name, one in results.items() if name != "params"},
        "estimates": seen_estimates({name: plain(one) for name, one in tuned.estimates_.items()}),
        "covers": plain(tuned.covers_),
    }


def seen_account(account: Any) -> dict[str, Any]:
    """The plan that `explain` gives."""
    told = plain(account)
    counted = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before}
    return {**counted, **seen_plan(told)}


def seen_splits(splits: Any) -> dict[str, Any]:
    parts = [hash_of([train.tolist(), held.tolist()]) for train, held in splits]
    return {
        "words": splits.words,
        "fingerprint": splits.fingerprint,
        "task_fingerprint": splits.task_fingerprint,
        "findings": [f"{one.code} {one.severity}" for one in splits.findings],
        "first": [splits.train_rows(0)[:6].tolist(), splits.held_rows(0)[:6].tolist()],
        "parts": parts if len(parts) <= 12 else [len(parts), hash_of(parts)],
        "totals": plain(splits.summary().totals),
        "frame": seen_frame(splits.summary().frame),
    }


def by_summary(thing: Any) -> Any:
    """Advice, a test against chance, what `check` found."""
    return plain(thing.summary())


def seen_across(across: Any) -> dict[str, Any]:
    return {**seen_summary(across.summary()), "table": seen_frame(across.table), "losses": seen_frame(across.losses)}


SEERS = {
    "Result": seen_result,
    "Comparison": seen_comparison,
    "Tuned": seen_tuned,
    "Account": seen_account,
    "DrawnSplits": seen_splits,
    "Advice": by_summary,
    "Checked": by_summary,
    "ChanceTest": by_summary,
    "AcrossComparison": seen_across,
}
