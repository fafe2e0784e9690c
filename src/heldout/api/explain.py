"""`explain`: the plan of a study and its cost, with nothing fitted."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from heldout.api.evaluate import ask
from heldout.api.final import chooses_on_all_rows, price_choice
from heldout.base.errors import SplitError
from heldout.base.options import Options, switched_rules
from heldout.base.words import fit_words
from heldout.data.stream import is_stream, read_if_named, target_of
from heldout.planner.account import Account
from heldout.results.extra_fits import account_beside, account_of
from heldout.study.study import Study
from heldout.task import Task


def explain(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    target: Any = None,
    test: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    loss: Any = None,
    seed: int = 0,
    options: Options | None = None,
) -> Account:
    """The plan that :func:`heldout.evaluate` would follow, printed: cells, fits, and which rule answers what.

    Takes what ``evaluate`` takes and refuses what it refuses.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> tuned = ho.Tuned(SVC(), {"C": [1, 5, 15]}, validation=ho.SharedBlocks())
    >>> plan = ho.explain(tuned, X, y, test=ho.KFold(5))
    >>> plan.fits_before, plan.fits
    (65, 35)
    """
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    given = {"test": test, "roles": roles, "loss": loss, "level": 0.95, "seed": seed, "options": options}
    y = target_of(y, target)
    if is_stream(X):
        from heldout.api.streamed import explain_stream

        return explain_stream(learner, X, y, **given)
    asked = ask(learner, read_if_named(X), y, **given)
    how: dict[str, Any] = {
        "rules": switched_rules(asked.options.rules, os.environ),
        "precision": asked.options.precision,
        "limited": asked.options.limits_fits,
    }
    account = account_of(asked.study, asked.task, how)
    note = _best_validation_note(asked.study, asked.task, account, how)
    account = account_beside(account, asked.beside, asked.task, how)
    return account if note is None else replace(account, notes=(*account.notes, note))


def _best_validation_note(study: Study, task: Task, account: Account, how: dict[str, Any]) -> str | None:
    """What the best validation number of a nested study takes: the choice on all rows, which the risk does not need."""
    if not chooses_on_all_rows(study):
        return None
    try:
        price = price_choice(study, task, account, how)
    except SplitError:
        return "best validation: none, since validation cannot split all rows"
    words = f"takes {fit_words(price.fits)} more" if price.fits else "has a closed form"
    when = "made when it is first read" if price.cheap else "made only for result.predictor or --save model.skops"
    return f"best validation: the choice on all rows {words}, {when}"
