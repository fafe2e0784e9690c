"""`evaluate`: estimates the risk of a learner. `explain`: returns the plan of that without a fit."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.api.call_text import command_of_now, with_our_words
from heldout.api.final import StudyHandles, chooses_on_all_rows, pose_on_all_rows, price_choice
from heldout.api.question import prepare
from heldout.api.result import Result
from heldout.api.tuning import describe_all_failed
from heldout.audit.row_views import views_of
from heldout.audit.test_rows import TestRows
from heldout.base.errors import FitFailed, OptionError, SplitError
from heldout.base.options import Options
from heldout.base.words import fit_words
from heldout.data.stream import is_stream, target_of
from heldout.engine.run import Outcome, Running, run_study
from heldout.engine.stream_account import account_of_stream
from heldout.engine.streams import Streamed, run_streamed
from heldout.journal import keep_summary, open_journal
from heldout.planner.account import Account, merge_accounts
from heldout.results.extra_fits import account_of, counted_with
from heldout.results.importance import importance_price
from heldout.results.record import build_record
from heldout.results.study_record import Question, Request
from heldout.results.test_losses import read_test_losses
from heldout.results.test_set_history import TestSetHistory, enter_looks, history_of, history_of_rows
from heldout.study.study import TEST, Study
from heldout.task import Task


@with_our_words
def evaluate(
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
    positive: Any = None,
    slices: Any = None,
    level: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    backend: Any = None,
    journal: Any = None,
    progress: bool | str = "auto",
    options: Options | None = None,
    name: str | None = None,
) -> Result:
    """Estimate the risk of a learner on rows it never saw, with an interval that says what it promises.

    Parameters
    ----------
    learner : estimator, str or list of str
        Any scikit-learn estimator or Pipeline, a :class:`~heldout.Tuned` (then this is nested), a ``GridSearchCV`` or
        ``RandomizedSearchCV``, ``FrozenEstimator(model)`` for one already fitted, or names as for ``heldout.learner``.
    X, y, target : array-like
        The data: numpy, scipy sparse, pandas or polars. With a frame, `y` (or `target`) and the roles may name columns.
        The path of a table (.csv, .xlsx …) is read; a Parquet file or folder, or a Dask data frame, may be larger than
        memory and is read in passes, for learners with sufficient statistics: see docs/streaming.md.
    test : int, splitter, str or pairs of row arrays, optional
        Which rows are held out to estimate the risk. None: ``KFold(5)``, or ``Forward(5)`` when time is declared.
    groups, time, sample_weight, strata : array-like or column name, optional
        Roles of the rows, obeyed at every level of splitting. `time` takes a pair (start, end) too: docs/splits.md.
    loss : str, scorer, list or dict, optional
        What is estimated, such as "auc", "logloss", "rmse" or any scorer; the first of several is ``result.risk``. None
    what: dict[str, Any] = {"loss": loss, "positive": positive, "slices": slices, "level": level, "name": name}
    request = Request(test=test, roles=roles, **what, seed=seed, options=options)
    jobs : int, optional
        Worker processes; None takes every core this process may use, where the work is worth it.
    backend : "inline", "processes", "dask://host:8786" or distributed.Client, optional
        Where the fits are done. None decides by how long they take, here or on local processes; the numbers are the
        same everywhere.
    journal : path, optional
    what: dict[str, Any] = {"loss": loss, "positive": positive, "slices": slices, "level": level, "name": name}
    request = Request(test=test, roles=roles, **what, seed=seed, options=options)

    Returns
    -------
    Result

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> result = ho.evaluate(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, test=ho.KFold(5))
    >>> result.risk.estimand
    'expected zero-one risk of the learner trained on 120 rows, at the class shares of the sample'
    """
    if journal is not None and is_stream(X):
        raise OptionError("A study of a stream is one pass over it, which a journal does not keep. Leave journal out.")
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    what: dict[str, Any] = {"loss": loss, "positive": positive, "slices": slices, "level": level, "name": name}
    request = Request(test=test, roles=roles, **what, seed=seed, options=options)
    question = prepare(learner, X, target_of(y, target), request)
    how = Running(jobs=jobs, backend=backend, progress=progress, journal=journal, options=question.options)
    return run_question(question, how)


@with_our_words
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
    positive: Any = None,
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
    request = Request(test=test, roles=roles, loss=loss, positive=positive, seed=seed, options=options)
    return plan_of_question(prepare(learner, X, target_of(y, target), request))


def run_question(question: Question, how: Running, *, history: TestSetHistory | None = None) -> Result:
    """Run a question, build its result, and enter it in the ledger if it looked at a test set.

    Questions that are asked together share a `history`; with None the question finds its own.
    """
    # The journal stays open throughout, so that no other program locks it before the extra studies run.
    with nullcontext() if how.journal is None else open_journal(how.journal):
        if history is None and question.stream is None and question.has_one_test_set:
            history = history_of(question, journal=how.journal)
        result = _run(question, how, history)
        use = result.journal
        if use is not None and how.journal is not None and result.is_complete:
            keep_summary(how.journal, use.study, result.summary(figures=True))
    return result


def _run(question: Question, how: Running, history: TestSetHistory | None) -> Result:
    task, streamed = question.task, None
    asked_by: dict[str, Any] = {"call": question.call, "command": command_of_now()}
    if question.stream is None:
        outcome = run_study(question.study, task, how)
    else:
        streamed = run_streamed(question.study, question.stream.source, question.stream.families, how)
        outcome, rows = streamed.outcome, _test_rows(task, streamed)
        history = None if rows is None else history_of_rows((question,), None, rows)
        command = {name: words for name, words in asked_by.items() if words is not None}
        asked_by = {"stream": question.stream.source.stream.name, "passes": streamed.run.passes, **command}
    _refuse_without_answers(outcome)
    losses = read_test_losses(task, outcome, seed=question.seed)
    extra = {name: run_study(study, task, how) for name, study in question.extra.items()}
    record = build_record(question, outcome, losses, extra=extra, history=history, asked_by=asked_by)
    if history is not None:
        enter_looks(record, question, losses, history)
    if extra:
        outcome = counted_with(outcome, extra)
    handles = StudyHandles(question=question, outcome=outcome, losses=losses, how=how, streamed=streamed)
    result = Result(record, handles=handles)
    if question.options.importance is not None:
        result.importance(question.options.importance)
    return result


def _refuse_without_answers(outcome: Outcome) -> None:
    """Raise FitFailed if no test part has a loss or at least responses."""
    panels = outcome.tables.panels
    tables = [panels[p.key] for p in outcome.study.of_level(TEST) if p.key in panels]
    known = any(np.isfinite(table.losses).any() or (table.answered.any() and not table.failures) for table in tables)
    if outcome.stopped is None and not known:
        raise FitFailed(describe_all_failed(outcome))


def _test_rows(task: Task, streamed: Streamed) -> TestRows | None:
    """Return how the ledger identifies the rows of a stream's single test set; None if there are several parts."""
    watched = streamed.run.watched
    if watched is None:
        return None
    views = views_of(watched.X, watched.y, np.arange(len(watched.y)))
    exact = replace(views[0], rows=len(watched.content), tokens=np.sort(watched.content))  # all rows, not a sample
    return TestRows(tables=(task.fingerprint,), columns=(), numbers=watched.numbers, views=(exact, *views[1:]))


def plan_of_question(question: Question) -> Account:
    """Return the plan of a question and its extra studies; of a stream only the first rows are read."""
    study, task, options = question.study, question.task, question.options
    if question.stream is not None:
        return account_of_stream(study, question.stream.source, keep_rows=options.rows)
    account = account_of(study, task, options)
    notes = [_best_validation_note(study, task, account, options)]
    if options.importance is not None:
        notes.append(importance_price(task, study, options.importance))
    for name, beside in question.extra.items():
        account = merge_accounts(account, account_of(beside, task, options), words=name)
    return replace(account, notes=(*account.notes, *(note for note in notes if note is not None)))


def _best_validation_note(study: Study, task: Task, account: Account, options: Options) -> str | None:
    """Describe what a nested study's best validation loss costs: the choice on all rows; None if there is none."""
    if not chooses_on_all_rows(study):
        return None
    try:
        price = price_choice(pose_on_all_rows(study, task), task, account, options)
    except SplitError:
        return "best validation: none, since validation cannot split all rows"
    words = f"takes {fit_words(price.fits)} more" if price.fits else "has a closed form"
    when = "made when it is first read" if price.cheap else "made only for result.predictor or --save model.skops"
    return f"best validation: the choice on all rows {words}, {when}"
