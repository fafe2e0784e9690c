"""The candidates of a tuned learner over all folds: a row each, the best first."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.results.choices import params_in
from heldout.results.record import Facts

MOST_ROWS = 1_000  # candidates that a report lists
Floats = NDArray[np.float64]


class Inside:
    """The validation losses of all candidates in all folds, as arrays of folds × candidates, lower is better."""

    def __init__(self, facts: Facts) -> None:
        columns = facts.tables["candidates"]
        loss = facts.about["chosen_by"]
        folds = len(np.unique(columns["fold"]))
        beside = facts.estimates.get("best_validation", facts.estimates["risk"])
        self.loss = str(loss)
        self.sign = -1 if beside.greater_is_better else 1
        self.count = len(columns["candidate"]) // folds
        self.means: Floats = self.sign * np.asarray(columns[f"validation_{loss}"], dtype=float).reshape(folds, -1)
        parts = np.asarray(columns["parts"], dtype=float).reshape(folds, -1)
        sds = np.asarray(columns[f"validation_{loss}_sd"], dtype=float).reshape(folds, -1)
        self.errors: Floats = sds / np.sqrt(parts)  # NaN where there is one validation part
        self.failed: NDArray[np.intp] = np.asarray(columns["failed_parts"]).reshape(folds, -1).sum(axis=0)
        unfinished = np.asarray(columns.get("unfinished_parts", np.zeros(folds * self.count, dtype=int)))
        self.dropped: NDArray[np.intp] = (unfinished.reshape(folds, -1) > 0).sum(
            axis=0
        )  # folds where a race dropped it
        self.families = list(columns["family"][: self.count])
        always = facts.about.get("parameters", {})
        names = [name for name in columns if name.startswith("param_")]
        self.params = [
            params_in({name: columns[name][place] for name in names}, always.get(str(self.families[place]), ()))
            for place in range(self.count)
        ]

    def shown(self, value: float) -> float | None:
        """A mean in the user's own sign."""
        return None if np.isnan(value) else self.sign * float(value) + 0.0


def has_candidates(facts: Facts) -> bool:
    """Whether there was anything to choose from."""
    return bool(facts.tables["candidates"]) and facts.about["candidates"] > 1


def chosen_times(facts: Facts) -> Counter[int]:
    """In how many folds each candidate was chosen."""
    choices = facts.tables["choices"]
    return Counter(int(c) for c in choices["candidate"] if c >= 0) if choices else Counter()


def candidate_rows(facts: Facts) -> list[dict[str, Any]]:
    """A row a candidate, the best mean first, those that failed somewhere last."""
    if not has_candidates(facts):
        return []
    inside, chosen = Inside(facts), chosen_times(facts)
    means, errors = inside.means.mean(axis=0), inside.errors.mean(axis=0)
    order = np.argsort(means, kind="stable")[:MOST_ROWS]  # NaN comes last
    return [
        {
            "candidate": place,
            "family": inside.families[place],
            "params": inside.params[place],
            "mean": inside.shown(means[place]),
            "se": None if np.isnan(errors[place]) else float(errors[place]),
            "chosen": chosen[place],
            "failed": int(inside.failed[place]),
            "note": _note(int(inside.failed[place]), int(inside.dropped[place]), len(inside.means)),
        }
        for place in order.tolist()
    ]


def _note(failed: int, dropped: int, folds: int) -> str | None:
    """Why a candidate has no mean."""
    words = [f"{failed} fits failed"] if failed else []
    words += [f"dropped by the race in {dropped} of {folds} folds"] if dropped else []
    return ", ".join(words) or None
