"""`evaluate`: how good a learner really is."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from heldout.api.call_text import call_of, command_of_now
from heldout.api.draw import seed_of_test, strategy_for
from heldout.api.learners import as_search, is_frozen
from heldout.api.result import Live, Result
from heldout.api.tuning import check_search, describe_all_failed
from heldout.base.errors import Argument, FitFailed, LearnerError, LossError, OptionError, Sentence, SplitError
from heldout.base.findings import Finding
from heldout.base.options import Options, switched_rules
from heldout.data.stream import is_stream, read_if_named, target_of
from heldout.engine.run import Running, run_study
from heldout.journal import keep_summary, open_journal
from heldout.losses import Loss, check_losses, family_of, is_pooled, on_target, resolve_losses
from heldout.planner.evidence import with_evidence
from heldout.planner.passes import check_rules
from heldout.results.estimates import check_interval
from heldout.results.extra_fits import answer_beside, ask_beside
from heldout.results.question import Asked
from heldout.results.record import gather_facts
from heldout.results.tables import FOLD_COLUMNS
from heldout.results.test_set_history import Sight, check_answer, looks_of, sight_of, tell
from heldout.splits import Given
from heldout.splits.drawn import Splits
from heldout.splits.remarks import mixed_time_note, near_validation_note
from heldout.study.pose import OUTER, pose_evaluation
from heldout.study.race import race_of
from heldout.study.study import TEST
from heldout.task import Task, declare


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
    level: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    backend: Any = None,
    journal: Any = None,
    progress: bool | str = "auto",
    options: Options | None = None,
) -> Result:
    """Estimate the risk of a learner on rows it never saw, with an interval that says what it promises.

    Parameters
    ----------
    learner : estimator
        Any scikit-learn estimator or Pipeline, a :class:`~heldout.Tuned` (then this is nested), a ``GridSearchCV`` or
        ``RandomizedSearchCV``, or ``FrozenEstimator(model)`` for a predictor already fitted.
    X, y : array-like
        The data: numpy, scipy sparse, pandas or polars. With a frame, `y` and the roles may name columns. A path of a
        .csv or .tsv file is read; a Parquet file or folder, or a Dask data frame, may be larger than memory and is
        read in passes, for learners with sufficient statistics: see docs/streaming.md.
    target : str, optional
        Another name for `y`, where it names a column.
    test : int, splitter or pairs of row arrays, optional
        Which rows are held out to estimate the risk. None: ``KFold(5)``, or ``Forward(5)`` when time is declared.
    groups, time, sample_weight, strata : array-like or column name, optional
        Roles of the rows, obeyed at every level of splitting. `time` takes a pair (start, end) too: docs/splits.md.
    loss : str, scorer, list or dict, optional
        What is estimated; the first of several is ``result.risk``. None takes the learner's own loss.
    level : float
        The level of the intervals.
    seed : int
        Decides the test splits, and whatever the learner leaves to chance.
    jobs : int, optional
        Worker processes; None takes every core this process may use, where the work is worth it.
    backend : "inline", "processes", "dask://host:8786" or distributed.Client, optional
        Where the fits are done. None decides by how long they take, here or on local processes; the numbers are the
        same everywhere.
    journal : path, optional
        A file that keeps every finished answer, such as "study.db". The same call goes on where it was ended, or
        answers at once; a larger space or one more loss uses what is there. See docs/journal.md.
    progress : "auto" or bool
        A bar for runs that last.
    options : Options, optional
        Less used switches.

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
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    given = {"test": test, "roles": roles, "loss": loss, "level": level, "seed": seed, "options": options}
    how = Running(jobs=jobs, backend=backend, progress=progress, journal=journal)
    y = target_of(y, target)
    if is_stream(X):
        from heldout.api.streamed import evaluate_stream

        return evaluate_stream(learner, X, y, how, **given)
    asked = ask(learner, read_if_named(X), y, **given)
    return answer(asked, replace(how, options=asked.options))


def answer(asked: Asked, how: Running, *, sight: Sight | None = None) -> Result:
    """Run a question that was asked, gather what it found, and enter it in the ledger where it looked at a test set.

    `sight` is what several questions that are asked at once share; a single one finds its own.
    """
    # The journal stays open throughout, so that no other program takes it before what is asked beside the study.
    with nullcontext() if how.journal is None else open_journal(how.journal):
        return _answer(asked, how, sight_of(asked, journal=how.journal) if sight is None else sight)


def _answer(asked: Asked, how: Running, sight: Sight | None) -> Result:
    outcome = run_study(asked.study, asked.task, how)
    test_tables = [outcome.tables[p.key] for p in outcome.study.of_level(TEST) if p.key in outcome.tables.panels]
    known = any(
        np.isfinite(table.losses).any() or (table.answered.any() and not table.failures) for table in test_tables
    )
    if outcome.stopped is None and not known:
        raise FitFailed(describe_all_failed(outcome))
    options = asked.options
    facts = gather_facts(
        asked.task, outcome, level=asked.level, seed=asked.seed, pool=options.pool, interval=options.interval
    )
    about = {**facts.about, "call": asked.call, "command": command_of_now()}
    facts = replace(facts, about=about, findings=(*split_findings(asked), *facts.findings))
    facts, outcome = answer_beside(facts, asked.task, outcome, beside=asked.beside, how=how, level=asked.level)
    if sight is not None:
        facts = tell(facts, asked, outcome, sight)
        sight.ledger.record(looks_of(facts, asked, outcome, sight))
    result = Result(facts, live=Live(learner=asked.learner, task=asked.task, outcome=outcome, how=how))
    if outcome.journal is not None and how.journal is not None and outcome.stopped is None:
        keep_summary(how.journal, outcome.journal.study, result.summary(figures=True))
    return result


def split_findings(asked: Asked) -> tuple[Finding, ...]:
    """What the two levels of splitting have to say of each other."""
    notes = {
        "H102": near_validation_note(asked.study.splits[OUTER].recipe, asked.study.search.validation),
        "H103": mixed_time_note(asked.task, asked.study.splits[OUTER]),
    }
    return tuple(Finding(code=code, severity="warning", message=note) for code, note in notes.items() if note)


def ask(
    learner: Any,
    X: Any,
    y: Any,
    *,
    test: Any,
    roles: dict[str, Any],
    loss: Any,
    level: float,
    seed: int,
    options: Options | None,
) -> Asked:
    """Turn what the user gave into a checked question; everything that can be refused before a fit is refused here."""
    given = {"test": test, "roles": roles, "loss": loss, "level": level, "seed": seed, "options": options}
    options = checked_options(level, seed, options)
    search = as_search(learner, seed=int(seed), timed=roles["time"] is not None)
    classification = is_classifier(learner)
    task = declare(X, y, classification=classification, **roles)
    reported = reported_losses(loss, search.losses, classification=classification)
    check_losses(reported, task.y, classification, weighted=task.weight is not None)
    check_search(search, task, checked=reported)
    reported = on_target(reported, task.classes)
    search = replace(search, losses=on_target(search.losses, task.classes))
    if options.pool:
        check_poolable(reported)
    strategy = strategy_for(test, task)
    if is_frozen(learner) and not isinstance(strategy, Given):
        raise LearnerError(
            "A frozen predictor is not trained again, so only rows it never saw can test it. "
            "Name them: test=Given(rows)."
        )
    test_seed = seed_of_test(task, int(seed))
    outer = strategy.draw(task, task.all_rows, seed=test_seed)
    check_classes_in_parts(task, outer, reported[0], options.pool)
    check_answer(options, outer, reported)
    study = pose_evaluation(search, task, outer, reported=reported, race=race_of(options))
    study = with_evidence(study, task, rules=switched_rules(options.rules, os.environ), limited=options.limits_fits)
    check_interval(task, study, options.interval)
    return Asked(
        learner=learner,
        task=task,
        study=study,
        seed=int(seed),
        level=float(level),
        options=options,
        test=strategy,
        beside=ask_beside(study, task, strategy, options=options, seed=test_seed),
        call=call_of(learner, given),
    )


def checked_options(level: float, seed: int, options: Options | None) -> Options:
    """Refuse a level, a seed or options that are none; the default options where there are none."""
    if not isinstance(level, float | int | np.floating) or not 0 < level < 1:
        raise OptionError(f"level is the probability that an interval covers, between 0 and 1, but it is {level!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise OptionError(f"seed is a whole number, but it is {seed!r}.")
    options = Options() if options is None else options
    if not isinstance(options, Options):
        raise OptionError(f"options= takes heldout.Options(…), not {type(options).__name__}.")
    check_rules(options.rules)
    return options


def reported_losses(loss: Any, own: tuple[Loss, ...], *, classification: bool) -> tuple[Loss, ...]:
    """The losses asked for, else the learner's own."""
    losses = own if loss is None else resolve_losses(loss, classification=classification)
    for one in losses:
        if one.name in FOLD_COLUMNS:
            raise LossError(f"A loss cannot be called {one.name!r}: result.folds has a column of that name.")
    return losses


def check_poolable(losses: tuple[Loss, ...]) -> None:
    """Refuse to pool scores that compare the rows of a set with each other, before anything is fitted."""
    for loss in losses:
        if loss.rows is None and not is_pooled(loss):
            raise OptionError(
                Sentence(
                    "{} needs a loss of single rows, or a score that is a function of means over rows, but {!r} is "
                    "neither: predictions of different folds cannot be ranked together.",
                    Argument("pool", True),
                    loss.name,
                ),
                "Leave pool out.",
            )


def check_classes_in_parts(task: Task, outer: Splits, loss: Loss, pool: bool | None) -> None:
    """Refuse a score that needs every class in each part where a part lacks one, before anything is fitted."""
    needs_all = family_of(loss) == "auc" or (pool is False and is_pooled(loss))
    if not needs_all or task.classes is None or task.y.ndim != 1 or len(task.y) != len(task):
        return
    for part in range(len(outer)):
        there = np.unique(task.y[outer.held_rows(part)])
        if len(there) < len(task.classes):
            lacking = next(label for label in task.classes if label not in there)
            raise SplitError(
                f"{loss.name!r} needs every class in each held-out part, but part {part} has no row of the class "
                f"{_plain(lacking)!r}. Use fewer or stratified folds, or a loss that each row has, such as 'log'."
            )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
