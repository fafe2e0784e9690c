"""Turns the arguments of a verb into a checked question, and refuses every mistake that is visible before a fit."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from heldout.api.call_text import call_of
from heldout.api.learners import as_search, is_frozen, is_named, refuse_name_of_stream
from heldout.audit.study_checks import accept_mode
from heldout.audit.trap import EXPLAINED, parse_ignore
from heldout.base.errors import (
    Argument,
    InputError,
    LearnerError,
    LossError,
    OptionError,
    RoleError,
    Sentence,
    SplitError,
)
from heldout.base.options import Options, parse_answer, switched_rules
from heldout.base.rowkeys import derive
from heldout.base.words import line
from heldout.data.stream import declare_stream, is_stream, open_stream, table_of
from heldout.engine.stream_source import Source
from heldout.kernels.brute import check_search
from heldout.kernels.statistics.recognise import families_of
from heldout.kernels.statistics.scores import check_streamable
from heldout.losses import Loss, check_losses, family_of, for_target, is_pooled, positive_class, resolve_losses
from heldout.planner.evidence import with_evidence
from heldout.planner.passes import check_rules
from heldout.results.estimates import check_interval
from heldout.results.extra_fits import pose_curve, pose_pairs
from heldout.results.importance import check_importance
from heldout.results.looks import RULES
from heldout.results.study_record import Question, QuestionOfStream, Request, Slice
from heldout.results.subgroups import read_slices
from heldout.results.tables import FOLD_COLUMNS
from heldout.results.test_set_history import check_answer
from heldout.risk.estimate_risk import WITH_FITS
from heldout.search.search import Search
from heldout.splits import Given, as_strategy
from heldout.splits.cells import plan_cells
from heldout.splits.drawn import Splits
from heldout.splits.foreign import default_strategy
from heldout.study.race import race_of
from heldout.study.study import TEST, pose_evaluation
from heldout.task import Task, declare

LONGEST_NAME = 100  # characters


def prepare(learner: Any, X: Any, y: Any, request: Request) -> Question:
    """Turn the user's arguments into a checked question, about data in memory or about a stream."""
    with nullcontext(X) if is_stream(X) else table_of(X) as table:
        return _prepare(learner, table, y, request)


def _prepare(learner: Any, X: Any, y: Any, request: Request) -> Question:
    given = learner, request
    if is_stream(X):
        refuse_name_of_stream(learner)
    elif is_named(learner):
        from heldout.api.named import by_name

        learners, X, request = by_name({"": learner}, X, y, request)
        learner = learners[""]
    options, seed = checked_options(request), int(request.seed)
    asked = {"learner": learner, "seed": seed, "level": float(request.level), "options": options}
    asked |= {"checks": accept_mode(request.checks), "ignore": parse_ignore(request.ignore, known=(*EXPLAINED, *RULES))}
    if is_stream(X):
        return _prepare_stream(asked, X, y, request)
    search = as_search(learner, seed=seed, timed=request.roles.get("time") is not None)
    slices = () if request.slices is None else read_slices(request.slices, X)
    task = declare(X, y, classification=is_classifier(learner), **request.roles)
    search, reported = _checked_losses(search, request, task, options)
    strategy = strategy_for(request.test, task)
    if is_frozen(learner) and not isinstance(strategy, Given):
        raise LearnerError(
            "A frozen predictor is not trained again, so only rows it never saw can test it. "
            "Name them: test=Given(rows)."
        )
    test_seed = seed_of_test(task, seed)
    outer = strategy.draw(task, task.all_rows, seed=test_seed)
    _check_classes_in_parts(task, outer, reported[0], options.pool)
    if options.answer != "full" or options.ledger is not None:
        check_answer(options, outer, reported)
        _refuse_more_told(options, slices)
    study = pose_evaluation(search, task, outer, reported=reported, race=race_of(options) if options.race else None)
    study = replace(study, name=checked_name(request.name))
    study = with_evidence(study, task, rules=switched_rules(options.rules, os.environ), limited=options.limits_fits)
    check_interval(task, study, options.interval)
    if options.importance is not None:
        check_importance(task, study)
    question = Question(
        **asked,
        task=task,
        study=study,
        test=strategy,
        pairs=pose_pairs(study, task, strategy, options=options, seed=test_seed)
        if options.interval in WITH_FITS
        else None,
        curve=pose_curve(study, task, options.learning_curve, seed=test_seed) if options.learning_curve else None,
        positive=positive_class(request.positive, task.classes, classification=task.classification),
        asks_loss=_is_asked(request.loss, reported),
        call=call_of(*given),
        slices=slices,
        remarks=request.remarks,
    )
    if question.checks != "all":
        return question
    from heldout.api.yardsticks import pose_yardsticks  # late, since it imports the catalogue

    return replace(question, yardsticks=pose_yardsticks(study, task, one_test_set=question.has_one_test_set))


def _refuse_more_told(options: Options, slices: tuple[Slice, ...]) -> None:
    """Refuse subgroups and importance where `answer` withholds the results of single rows."""
    asked = {"slices": bool(slices), "importance": options.importance is not None}
    for name in [name for name, wanted in asked.items() if wanted and parse_answer(options.answer).withholds]:
        raise OptionError(
            f"{name}= tells more of the test rows than answer={options.answer!r} allows. Leave out one of them."
        )


def _prepare_stream(asked: dict[str, Any], X: Any, y: Any, request: Request) -> Question:
    """Build a checked question about a stream; its study splits buckets of rows, here called cells, instead of rows."""
    learner, seed, options = asked["learner"], asked["seed"], asked["options"]
    _refuse_in_stream(learner, request, options)
    stream, classification = open_stream(X, y), is_classifier(learner)
    search = as_search(learner, seed=seed)
    strategy = default_strategy(timed=False) if request.test is None else as_strategy(request.test)
    plan_seed, validation = derive(seed, "cells", stream.fingerprint), search.validation
    plan = plan_cells(strategy, validation, rows=stream.rows, seed=plan_seed, classification=classification)
    task, shift = declare_stream(stream, classification=classification)
    search, reported = _checked_losses(search, request, task, options)
    check_streamable((*reported, *search.losses))
    families = families_of(search, task)
    if search.final == "ensemble":
        raise LearnerError('final="ensemble" averages predictors, which a stream does not. Use final="retrain".')
    if isinstance(strategy, Given) and hasattr(stream, "spread"):
        raise SplitError(
            f"{strategy!r} numbers rows, and the {stream.name} has them on its workers. Use KFold, Holdout or "
            "Resample, or a Parquet file."
        )
    cells = plan.task(int(stream.fingerprint, 16))
    test_seed = derive(seed, TEST, cells.content_key(cells.all_rows))
    outer = plan.as_drawn(strategy).draw(cells, cells.all_rows, seed=test_seed)
    check_answer(options, outer, reported)
    if search.validation is not None:
        search = replace(search, validation=plan.as_drawn(search.validation))
    study = replace(pose_evaluation(search, cells, outer, reported=reported), name=checked_name(request.name))
    check_interval(task, study, options.interval, rows=options.rows)
    watched = outer.held if len(outer) == 1 else None  # cells of a single test set, whose rows the ledger identifies
    source = Source(stream=stream, task=task, plan=plan, shift=shift, watched=watched)
    of_stream = QuestionOfStream(source=source, families=families, cells=cells)
    asks_loss = _is_asked(request.loss, reported)
    asked["positive"] = positive_class(request.positive, task.classes, classification=classification)
    return Question(**asked, task=task, study=study, test=strategy, asks_loss=asks_loss, stream=of_stream)


def checked_name(name: Any) -> str | None:
    """Refuse a name of a study that is no text on one line, or too long for a list."""
    if name is not None and (not isinstance(name, str) or line(name) != name or not 0 < len(name) <= LONGEST_NAME):
        words = "{} is no name of a study: write a text on one line, of at most {} characters."
        raise OptionError(Sentence(words, Argument("name", name), LONGEST_NAME))
    return name


def checked_options(request: Request) -> Options:
    """Refuse an invalid level, seed or options. Return the options, or the defaults for None."""
    level, seed = request.level, request.seed
    if not isinstance(level, float | int | np.floating) or not 0 < level < 1:
        raise OptionError(f"level is the probability that an interval covers, between 0 and 1, but it is {level!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise OptionError(f"seed is a whole number, but it is {seed!r}.")
    options = Options() if request.options is None else request.options
    if not isinstance(options, Options):
        raise OptionError(f"options= takes heldout.Options(…), not {type(options).__name__}.")
    check_rules(options.rules)
    return options


def strategy_for(test: Any, task: Task) -> Any:
    """Convert `test` to a strategy; None gives the default for this task."""
    return default_strategy(timed=task.time is not None) if test is None else as_strategy(test)


def seed_of_test(task: Task, seed: int) -> int:
    """Derive the seed of the test splits from the user's seed and the content of the rows."""
    return derive(seed, TEST, task.content_key(task.all_rows))


def refuse_stream(X: Any, *, who: str) -> None:
    """Refuse a stream, for a verb that needs all rows in memory; `who` names the verb in the message."""
    if is_stream(X):
        raise InputError(f"{who} needs all rows at hand, and a stream passes once. Load the data.")


def _checked_losses(search: Search, request: Request, task: Task, options: Options) -> tuple[Search, tuple[Loss, ...]]:
    """Check all losses on this target. Return the search with its losses, and the losses to report."""
    positive = positive_class(request.positive, task.classes, classification=task.classification)
    search = replace(search, losses=for_target(search.losses, task.classes, positive))
    reported = search.losses
    if request.loss is not None:
        asked = resolve_losses(request.loss, classification=task.classification)
        reported = for_target(asked, task.classes, positive)
    for one in reported:
        if one.name in FOLD_COLUMNS:
            raise LossError(f"A loss cannot be called {one.name!r}: result.folds has a column of that name.")
    check_losses(reported, task.y, task.classification, weighted=task.weight is not None)
    check_search(search, task, checked=reported)
    for one in reported if options.pool else ():
        if one.rows is None and not is_pooled(one):
            raise OptionError(
                Sentence(
                    "{} needs a loss of single rows, or a score that is a function of means over rows, but {!r} is "
                    "neither: predictions of different folds cannot be ranked together.",
                    Argument("pool", True),
                    one.name,
                ),
                Sentence("Leave {} out.", Argument("pool", True)),
            )
    return search, reported


def _is_asked(loss: Any, reported: tuple[Loss, ...]) -> bool:
    """Return whether anyone chose the reported losses; a learner that was given none has these."""
    return loss is not None or [one.name for one in reported] not in (["zero_one"], ["squared"], ["score"])


def _check_classes_in_parts(task: Task, outer: Splits, loss: Loss, pool: bool | None) -> None:
    """Refuse, before any fit, a score that needs every class in each part if some part lacks one."""
    if task.classes is None or task.y.ndim != 1 or len(task.y) != task.size:
        return
    if family_of(loss) != "auc" and not (pool is False and is_pooled(loss)):
        return
    for part in range(len(outer)):
        present = np.unique(task.y[outer.held_rows(part)])
        if len(present) < len(task.classes):
            lacking = next(label for label in task.classes if label not in present)
            label = lacking.item() if isinstance(lacking, np.generic) else lacking
            raise SplitError(
                f"{loss.name!r} needs every class in each held-out part, but part {part} has no row of the class "
                f"{label!r}. Use fewer or stratified folds, or a loss that each row has, such as 'log'."
            )


def _refuse_in_stream(learner: Any, request: Request, options: Options) -> None:
    refuse_name_of_stream(learner)
    if is_frozen(learner):
        raise LearnerError("A frozen predictor is not tested on a stream. Load the data, or some of them.")
    for role, value in request.roles.items():
        if value is not None:
            raise RoleError(
                f"{role}= is not obeyed in a stream, whose rows are dealt into folds as they pass. Load the data, or "
                f"leave {role} out."
            )
    for name, value in (("slices", request.slices), ("importance", options.importance)):
        if value is not None:
            raise OptionError(f"{name}= needs the rows at hand, which a stream does not keep. Load the data.")
    if options.learning_curve is not None or options.interval in WITH_FITS:
        name = "learning_curve" if options.learning_curve is not None else "interval"
        raise OptionError(f"{name}={getattr(options, name)!r} takes fits on other rows, which a stream does not give.")
    if options.race is not None:
        raise OptionError(
            f'race="{options.race}" saves fits, and a stream has none: its statistics answer all candidates. '
            "Leave race out."
        )
    if options.timeout is not None:
        raise OptionError("timeout= returns what a study has, and one of a stream has nothing until its pass ends.")
    if any(on is False for on in (options.rules or {}).values()):
        raise OptionError("A stream is answered from statistics alone, so rules cannot be switched off. Load the data.")
    if options.pool and not options.rows:
        raise OptionError("pool=True needs the losses of single rows. Add rows=True, which takes one more pass.")
