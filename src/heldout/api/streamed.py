"""`evaluate` and `explain` of data larger than memory: a Parquet file, a folder of them, or a Dask data frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier

from heldout.api.evaluate import check_poolable, checked_options, reported_losses
from heldout.api.learners import as_search, is_frozen
from heldout.api.result import Live, Result, StreamedFinal
from heldout.api.tuning import check_search, chosen_or_refuse, describe_all_failed
from heldout.audit.row_views import views_of
from heldout.audit.test_rows import TestRows
from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed, LearnerError, OptionError, RoleError, SplitError
from heldout.base.options import Options
from heldout.base.seeds import derive
from heldout.data.stream import declare_stream, open_stream
from heldout.engine.run import Outcome, Running
from heldout.engine.streaming.account import account_of_stream
from heldout.engine.streaming.run import Streamed, run_streamed
from heldout.engine.streaming.source import Source
from heldout.kernels.statistics.family import Family
from heldout.kernels.statistics.recognise import families_of
from heldout.kernels.statistics.scores import all_from_squares, check_streamable
from heldout.losses import check_losses, on_target
from heldout.planner.account import Account
from heldout.results.estimates import check_interval
from heldout.results.question import Asked
from heldout.results.record import Facts, gather_facts
from heldout.results.test_set_history import check_answer, looks_of, sight_of, tell
from heldout.risk.choose_interval import WITH_FITS
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Reference
from heldout.splits import Given, as_strategy
from heldout.splits.cells import cell_task, deals_strata, of_cells, plan_deal
from heldout.splits.foreign import default_strategy
from heldout.study.pose import FINAL, OUTER, pose_evaluation, pose_tuning
from heldout.study.study import TEST
from heldout.task import Task

Told = TypeVar("Told", Estimate, Reference)
NO_ROWS = (
    "the losses of single rows were not kept. options=Options(rows=True) keeps them, for one more pass over the data."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AskedOfStream:
    """A question about a stream that passed every check, before any pass over its columns."""

    asked: Asked  # its study is of cells
    source: Source
    families: tuple[Family, ...]
    cells: Task


def evaluate_stream(learner: Any, X: Any, y: Any, how: Running, **given: Any) -> Result:
    """The risk of a learner on a stream, as :func:`heldout.evaluate` asks for it."""
    if how.journal is not None:
        raise OptionError("A study of a stream is one pass over it, which a journal does not keep. Leave journal out.")
    question = ask_stream(learner, X, y, **given)
    asked = question.asked
    how = replace(how, options=asked.options)
    streamed = run_streamed(asked.study, question.source, question.families, how)
    outcome = streamed.outcome
    tested = [outcome.tables[p.key] for p in outcome.study.of_level(TEST) if p.key in outcome.tables.panels]
    if not any(np.isfinite(table.losses).any() for table in tested):
        raise FitFailed(describe_all_failed(outcome))
    facts = _facts(asked, streamed)
    sight = sight_of(asked, rows=_test_rows(asked, streamed))
    if sight is not None:
        facts = tell(facts, asked, outcome, sight)
        sight.ledger.record(looks_of(facts, asked, outcome, sight))

    final = StreamedFinal(
        tune=partial(tune_stream, question, streamed),
        cheap=all_from_squares(outcome.study.search.losses, classification=asked.task.classification),
        predictor=partial(final_of_stream, question, streamed),
    )
    return Result(facts, live=Live(learner=learner, task=asked.task, outcome=outcome, how=how, stream=final))


def explain_stream(learner: Any, X: Any, y: Any, **given: Any) -> Account:
    """The plan of a study of a stream; for a classifier the target is read, nothing else."""
    question = ask_stream(learner, X, y, **given)
    rows = question.asked.options.rows
    return account_of_stream(question.asked.study, question.source, keep_rows=rows)


def ask_stream(
    learner: Any,
    X: Any,
    y: Any,
    *,
    test: Any,
    roles: Mapping[str, Any],
    loss: Any,
    level: float,
    seed: int,
    options: Options | None,
) -> AskedOfStream:
    """Turn what the user gave into a checked question about a stream."""
    options = checked_options(level, seed, options)
    _refuse(learner, roles, options)
    stream = open_stream(X, y)
    classification = is_classifier(learner)
    search = as_search(learner, seed=int(seed))
    strategy = default_strategy(timed=False) if test is None else as_strategy(test)
    deal_seed = derive(int(seed), "cells", stream.fingerprint)
    deal = plan_deal(strategy, search.validation, rows=stream.rows, seed=deal_seed)
    stratified = deals_strata(strategy, search.validation, classification=classification)
    task, shift = declare_stream(stream, classification=classification)
    reported = reported_losses(loss, search.losses, classification=classification)
    check_losses(reported, task.y, classification, weighted=False)
    check_search(search, task)
    reported = on_target(reported, task.classes)
    search = replace(search, losses=on_target(search.losses, task.classes))
    check_streamable((*reported, *search.losses))
    if options.pool:
        check_poolable(reported)
    families = families_of(search, task)
    if search.final == "ensemble":
        raise LearnerError('final="ensemble" averages predictors, which a stream does not. Use final="retrain".')
    _refuse_given_rows_on_workers(strategy, stream)
    cells = cell_task(deal, int(stream.fingerprint, 16))
    test_seed = derive(int(seed), TEST, cells.content_key(cells.all_rows))
    outer = of_cells(strategy, deal).draw(cells, cells.all_rows, seed=test_seed)
    check_answer(options, outer, reported)
    if search.validation is not None:
        search = replace(search, validation=of_cells(search.validation, deal))
    study = pose_evaluation(search, cells, outer, reported=reported)
    check_interval(task, study, options.interval, rows=options.rows)
    asked = Asked(learner=learner, task=task, study=study, seed=int(seed), level=level, options=options, test=strategy)
    source = Source(stream=stream, task=task, deal=deal, shift=shift, stratified=stratified, watched=_watched(study))
    return AskedOfStream(asked=asked, source=source, families=families, cells=cells)


def _refuse_given_rows_on_workers(strategy: Any, stream: Any) -> None:
    if isinstance(strategy, Given) and hasattr(stream, "spread"):
        raise SplitError(
            f"{strategy!r} numbers rows, and the {stream.name} has them on its workers. Use KFold, Holdout or "
            "Resample, or a Parquet file."
        )


def _watched(study: Any) -> Any:
    """The cells of a single test set, whose rows the ledger must know."""
    outer = study.splits[OUTER]
    return outer.held if len(outer) == 1 else None


def _refuse(learner: Any, roles: Mapping[str, Any], options: Options) -> None:
    if is_frozen(learner):
        raise LearnerError("A frozen predictor is not tested on a stream. Load the data, or some of them.")
    for role, value in roles.items():
        if value is not None:
            raise RoleError(
                f"{role}= is not obeyed in a stream, whose rows are dealt into folds as they pass. Load the data, or "
                f"leave {role} out."
            )
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


def _facts(asked: Asked, streamed: Streamed) -> Facts:
    outcome, options = streamed.outcome, asked.options
    facts = gather_facts(
        asked.task, outcome, level=asked.level, seed=asked.seed, pool=options.pool, interval=options.interval
    )
    about = {**facts.about, "stream": streamed.run.source.stream.name, "passes": streamed.run.passes}
    if streamed.rows is None:
        about["no_predictions"] = f"This is a study of a stream: {NO_ROWS}"
        estimates = {name: _with_reason(one) for name, one in facts.estimates.items()}
        no_model = None if facts.no_model is None else _with_reason(facts.no_model)
        return replace(facts, about=about, estimates=estimates, no_model=no_model)
    tables = {**facts.tables, "predictions": _prediction_columns(asked, outcome, streamed)}
    return replace(facts, about=about, tables=tables)


def _with_reason(estimate: Told) -> Told:
    """Methods that need single rows say that a score belongs to whole sets; here the rows are what is missing."""
    if estimate.reason is None or "belongs to whole sets" not in estimate.reason:
        return estimate
    return replace(estimate, reason=f"No interval: {NO_ROWS}")


def _prediction_columns(asked: Asked, outcome: Outcome, streamed: Streamed) -> dict[str, Any]:
    assert streamed.rows is not None
    found = [tally for tally in streamed.rows if tally.predicted]
    if not found:
        return {}
    columns = {
        "fold": np.concatenate([np.full(tally.count, fold) for fold, tally in enumerate(streamed.rows)]),
        "row": np.concatenate([rows for tally in found for rows in tally.rows]),
        "y": np.concatenate([y for tally in found for y in tally.y]),
        "predict": np.concatenate([one for tally in found for one in tally.predicted]),
    }
    for number, loss in enumerate(outcome.study.reported):
        if loss.rows is not None:
            columns[f"loss_{loss.name}"] = np.concatenate([one[number] for tally in found for one in tally.losses])
    return columns


def _test_rows(asked: Asked, streamed: Streamed) -> TestRows | None:
    watched = streamed.run.watched
    if watched is None:
        return None
    views = views_of(watched.X, watched.y, np.arange(len(watched.y)))
    exact = replace(views[0], rows=len(watched.content), tokens=np.sort(watched.content))  # of all rows, not only some
    return TestRows(tables=(asked.task.fingerprint,), columns=(), numbers=watched.numbers, views=(exact, *views[1:]))


def tune_stream(question: AskedOfStream, streamed: Streamed) -> Outcome:
    """The choice on all rows, from the statistics that were gathered: rows pass again for losses that need them."""
    outcome, run = streamed.outcome, streamed.run
    posed = pose_tuning(
        outcome.study.search,
        question.cells,
        question.cells.all_rows,
        outer=question.asked.study.splits[OUTER],
    )
    with one_thread():
        tuned, tables, _ = run.answer(run.counting_rows(posed))
    return replace(outcome, study=tuned, tables=tables)


def final_of_stream(question: AskedOfStream, streamed: Streamed, tuning: Outcome | None) -> Any:
    """The final predictor, from the statistics that were gathered."""
    outcome, run = streamed.outcome, streamed.run
    study, search = outcome.study, outcome.study.search
    names = np.array(question.source.stream.columns, dtype=object)
    with one_thread():
        if len(study.splits[OUTER]) == 1:
            panel = study.of_level(TEST)[0]
            (ref,) = panel.trains_of(0)
            chosen = outcome.tables[panel.key].candidates[0]
            cells = study.splits[ref.splits].train_rows(ref.part)
        elif tuning is None:
            chosen, cells = 0, question.cells.all_rows
        else:
            chosen = chosen_or_refuse(tuning)
            inner = tuning.study.splits[FINAL]
            cells = inner.train_rows(0) if search.final == "keep" else question.cells.all_rows
        for family, fits in zip(run.families, run.fits(cells), strict=True):
            if chosen in family.candidates:
                return fits.predictor(family.candidates.index(chosen), names)
    raise AssertionError("every candidate belongs to a family")
