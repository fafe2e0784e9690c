"""Computes what a result makes on demand: the choice on all rows, and the final predictor, which is checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.frozen import FrozenEstimator

from heldout.api.tuning import chosen_or_refuse, final_of, make_final
from heldout.backends.registry import is_usable
from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed, HeldoutError, OptionError, first_line
from heldout.base.findings import Finding
from heldout.base.options import Options, plan_settings
from heldout.base.shown import plain
from heldout.engine.checks import ROUNDING
from heldout.engine.run import Outcome, Running, run_study
from heldout.engine.streams import Streamed
from heldout.kernels.perform import FITS_EACH
from heldout.kernels.scoring import catch_all_warnings
from heldout.kernels.statistics.scores import all_from_squares
from heldout.kernels.step import operations
from heldout.losses import check_losses, label_and_unit, on_target, resolve_losses
from heldout.planner.account import Account
from heldout.planner.passes import make_plan
from heldout.planner.plan import Plan
from heldout.results.extra_fits import curve_of, pose_curve
from heldout.results.importance import (
    COEFFICIENTS,
    IMPORTANCE,
    IN_FOLDS,
    check_importance,
    coefficient_columns,
    importance_tables,
)
from heldout.results.metrics import Finished
from heldout.results.study_facts import BY_ALL, COLUMN
from heldout.results.study_record import Columns, Question, QuestionOfStream, StudyRecord
from heldout.results.test_losses import TestLosses
from heldout.risk.estimate import Estimate
from heldout.study.study import FINAL, OUTER, TEST, Study, pose_tuning
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyHandles:
    """Holds what a result needs to compute its predictor and other things later; a loaded result has none."""

    question: Question
    outcome: Outcome
    losses: TestLosses
    how: Running
    streamed: Streamed | None = None  # sums gathered while reading a stream; None for data in memory

    @property
    def task(self) -> Task:
        return self.question.task

    @property
    def study(self) -> Study:
        return self.outcome.study

    def how_now(self) -> Running:
        """Return the settings for later runs: a new time limit, and the default backend if the given one was closed."""
        return replace(self.how, deadline=None, backend=self.how.backend if is_usable(self.how.backend) else None)

    def finished(self, record: StudyRecord) -> Finished:
        """Return what the familiar scores of the study are made of, as far as the record may show them."""
        return Finished(
            task=self.task,
            outcome=self.outcome,
            losses=self.losses,
            options=self.question.options,
            asked=self.question.asks_loss,
            estimates=record.estimates,
            no_model=record.no_model,
            answer=record.about.get("answer", "full"),
            looks_before=record.about.get("looks_before", 0),
        )

    def tune(self) -> Outcome:
        """Choose a candidate on all rows by the learner's own validation."""
        if self.streamed is not None and self.question.stream is not None:
            return self._tune_stream(self.streamed, self.question.stream.cells)
        return tune_on_all_rows(pose_on_all_rows(self.study, self.task), self.task, self.how_now())

    def tune_if_cheap(self) -> Outcome | None:
        """Choose on all rows if that is cheap, without progress bar, events or journal; else return None.

        It is cheap if kernels answer it in little work, and all their checks in this study passed; for a stream, if
        the gathered sums are enough.
        """
        outcome, how = self.outcome, self.how_now()
        if self.streamed is not None:
            losses = self.study.search.losses
            return self.tune() if all_from_squares(losses, classification=self.task.classification) else None
        if outcome.stopped is not None or not all(check.passed for check in outcome.checks):
            return None
        posed = pose_on_all_rows(self.study, self.task)
        price = price_choice(posed, self.task, outcome.account, how.options)
        if not price.cheap:
            return None
        quiet = replace(how, progress=False, journal=None, options=replace(how.options, on_event=None))
        known = posed.race is None and not get_config()["enable_metadata_routing"]  # then it is the plan that is run
        return tune_on_all_rows(posed, self.task, quiet, price.plan if known else None)

    def learning_curve(self, record: StudyRecord) -> tuple[dict[str, Any], Estimate]:
        """Fit the learning curve at the usual sizes, and return its table and the extrapolated estimate."""
        if record.about.get("answer", "full") != "full":
            raise OptionError(
                "A learning curve tells more of the test rows than answer= allows. Evaluate without that option."
            )
        study, task = self.study, self.task
        smaller = pose_curve(study, task, True, seed=self.question.seed)
        assert smaller is not None, "sizes were given"
        return curve_of(task, study, self.losses, run_study(smaller, task, self.how_now()), level=self.question.level)

    def measure_columns(self, *, repeats: int | None = None, loss: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return tables of what the fold predictors use, and what to note about them.

        Coefficients are always read; columns are permuted only if `repeats` is given.
        """
        task, study, level = self.task, self.study, self.question.level
        options = Options(importance=repeats)  # refuses what is no count
        one = study.reported[0]
        if loss is not None:
            (one, *_) = resolve_losses(loss, classification=task.classification)
            check_losses([one], task.y, task.classification, weighted=task.weight is not None)
            (one,) = on_target((one,), task.classes)
        if options.importance is not None:
            check_importance(task, study)
        predictors = self.fold_predictors()
        found = coefficient_columns(predictors)
        tables: dict[str, Any] = {COEFFICIENTS: {} if isinstance(found, str) else found}
        about: dict[str, Any] = {"no_coefficients": found} if isinstance(found, str) else {}
        if options.importance is not None:
            record, repeats = self.losses.records[0], options.importance
            with one_thread():
                tables |= importance_tables(task, study, predictors, record, loss=one, repeats=repeats, level=level)
            label, _ = label_and_unit(one)
            about[IMPORTANCE] = {"name": one.name, "loss": label, "repeats": options.importance}
        return tables, about

    def columns_used(self) -> Columns | str:
        """Return how the loss of each fold changes when a column is permuted, for checks="all"; or why it is not known.

        A loss of probabilities notices a change that turns no label.
        """
        study, task, asked = self.study, self.task, self.question
        if not asked.asks_use:
            return BY_ALL if asked.yardsticks is None else asked.yardsticks.without[COLUMN]
        likely = task.classification and all(hasattr(one.estimator, "predict_proba") for one in study.search.families)
        try:
            tables, _ = self.measure_columns(repeats=1, loss="log" if likely else None)
            used: Columns = tables[IN_FOLDS]
            return used
        except HeldoutError as error:
            return first_line(error)

    def fold_predictors(self) -> list[Any]:
        """Fit the predictor of each test part again, on the same rows and at the same seed."""
        study, task, learner = self.study, self.task, self.question.learner
        if self.streamed is not None:
            raise OptionError("The predictors of the folds take rows at hand, which a stream passes once. Load them.")
        if isinstance(learner, FrozenEstimator):
            return [learner] * len(study.splits[OUTER])
        tests = {
            part: self.outcome.tables.panels.get(panel.key) for panel in study.of_level(TEST) for part in panel.parts
        }
        inner = {choice.fold: study.validation_splits(choice) for choice in study.choices}
        found = []
        with one_thread(), catch_all_warnings():  # the study has told of these warnings
            for part, table in tests.items():
                if table is None or not len(table.candidates) or table.responses(table.candidates[0], part) is None:
                    raise FitFailed(f"The predictor of fold {part} failed, so what it uses is not known: see failures.")
                rows, candidate = study.splits[OUTER].train_rows(part), table.candidates[0]
                found.append(make_final(study.search, candidate, task, rows, inner.get(part), fit_params={}))
        return found

    def predictor(self, tuning: Outcome | None) -> tuple[Any, tuple[Finding, ...]]:
        """Return the fitted final predictor and findings on it; `tuning` is the choice on all rows, if there is one."""
        if self.streamed is not None and self.question.stream is not None:
            return self._predictor_of_stream(self.streamed, self.question.stream, tuning), ()
        task, learner = self.task, self.question.learner
        if isinstance(learner, FrozenEstimator):
            return learner, ()
        if len(self.study.splits[OUTER]) == 1:
            return self._tested_again()
        if tuning is None:
            with one_thread():
                return make_final(self.study.search, 0, task, task.all_rows, None, fit_params={}), ()
        return final_of(tuning, task, chosen_or_refuse(tuning), fit_params={})[0], ()

    def _tune_stream(self, streamed: Streamed, cells: Task) -> Outcome:
        """Choose on all rows of a stream from its sums; read the rows again only for losses that need them."""
        posed = pose_tuning(self.study.search, cells, cells.all_rows, outer=self.question.study.splits[OUTER])
        with one_thread():
            tuned, tables, _ = streamed.run.answer(streamed.run.counting_rows(posed))
        return replace(self.outcome, study=tuned, tables=tables)

    def _predictor_of_stream(self, streamed: Streamed, stream: QuestionOfStream, tuning: Outcome | None) -> Any:
        """Build the final predictor of a stream from its sums."""
        study, run = self.study, streamed.run
        names = np.array(stream.source.stream.columns, dtype=object)
        chosen, cells = 0, stream.cells.all_rows
        if study.splits[OUTER].parts == 1:
            panel = study.of_level(TEST)[0]
            (ref,) = panel.trains_of(0)
            chosen = self.outcome.tables[panel.key].candidates[0]
            cells = study.splits[ref.splits].train_rows(ref.part)
        elif tuning is not None:
            chosen = chosen_or_refuse(tuning)
            if study.search.final == "keep":
                cells = tuning.study.splits[FINAL].train_rows(0)
        with one_thread():
            every = zip(run.families, run.fits(cells), strict=True)
            family, fits = next((family, fits) for family, fits in every if chosen in family.candidates)
            return fits.predictor(family.candidates.index(chosen), names)

    def _tested_again(self) -> tuple[Any, tuple[Finding, ...]]:
        """Fit the tested predictor again on the same rows and seed; report a finding if its test predictions differ."""
        study, task = self.study, self.task
        table = self.outcome.tables[study.of_level(TEST)[0].key]
        recorded = table.responses(table.candidates[0], 0) if len(table.candidates) else None
        if recorded is None or recorded.predict is None:
            raise FitFailed(
                "The predictor that was to be tested failed, so there is none to give. See result.failures."
            )
        outer = study.splits[OUTER]
        inner = next((study.validation_splits(choice) for choice in study.choices), None)
        with one_thread():
            predictor = make_final(study.search, table.candidates[0], task, outer.train_rows(0), inner, fit_params={})
            again = np.asarray(predictor.predict(task.take(outer.held_rows(0))))
        tiers = {line.tier for line in self.outcome.account.lines if line.level == TEST}
        return predictor, _of_difference(again, recorded.predict, tiers)


def final_facts(tuning: Outcome) -> dict[str, Any]:
    """Return the candidate that all rows chose, where the final predictor is trained with it on all of them."""
    search, chosen = tuning.study.search, tuning.study.chosen.get(FINAL)
    if search.final != "retrain" or chosen is None or chosen.candidate is None:
        return {}
    family, params = search.family_of(chosen.candidate), search.params_of(chosen.candidate)
    return {"final": {"candidate": chosen.candidate, "family": family.name, "params": plain(dict(params))}}


def chooses_on_all_rows(study: Study) -> bool:
    """Return whether the final predictor is chosen on all rows: a tuned learner with several test parts."""
    return study.search.tuned and study.splits[OUTER].parts > 1


def pose_on_all_rows(study: Study, task: Task) -> Study:
    """Pose the validation study on all rows.

    Raises SplitError if the validation splits suit only the training parts and not all rows.
    """
    return pose_tuning(study.search, task, task.all_rows, outer=study.splits[OUTER], race=study.race)


def tune_on_all_rows(posed: Study, task: Task, how: Running, first: Plan | None = None) -> Outcome:
    """Run the validation study on all rows, which chooses the final candidate."""
    return run_study(posed, task, how, first=first)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicePrice:
    """Holds the cost of the choice on all rows, beyond the study."""

    plan: Plan
    fits: int
    cheap: bool  # kernels answer it, in no more operations than the study itself


def price_choice(posed: Study, task: Task, account: Account, options: Options) -> ChoicePrice:
    """Return the cost of the choice on all rows.

    Operation counts of the plan decide what is cheap, never the clock; a step that fits each candidate is never cheap.
    """
    plan = make_plan(posed, task, done=frozenset(), **plan_settings(options))
    costs = [None if step.kernel in FITS_EACH else operations(step, task, posed.splits) for step in plan.steps]
    spent = sum(line.operations or 0.0 for line in account.lines)
    cheap = None not in costs and sum(filter(None, costs)) <= spent
    return ChoicePrice(plan=plan, fits=sum(step.fits for step in plan.steps), cheap=cheap)


def _of_difference(again: Any, recorded: Any, tiers: set[str]) -> tuple[Finding, ...]:
    """Return finding H204 if a refitted predictor's predictions differ by more than its kernel's `tiers` allow."""
    differ = int(np.count_nonzero((again != recorded).reshape(len(again), -1).any(axis=1)))
    share = _largest_difference(again, recorded)
    # A fit in single precision has a rounding error of this size.
    rounding = ROUNDING if again.dtype == np.float64 else float(np.sqrt(np.finfo(np.float32).eps))
    if not differ or ("rounding" in tiers and share <= rounding):
        return ()
    rows = f"{differ} of {len(again)} test rows"
    if "approximate" in tiers:
        how_much = f", by {share:.1g} of the largest prediction at most" if np.isfinite(share) else ""
        text = (
            "The test was answered by an approximation. The predictor is "
            f"scikit-learn's own fit: it differs on {rows}{how_much}."
        )
        return (Finding(code="H204", severity="info", message=text),)
    text = (
        f"Fitted again on the same rows and seed, the predictor differs on {rows}: the learner is not "
        "deterministic. Set its random_state, or its thread count."
    )
    return (Finding(code="H204", severity="warning", message=text),)


def _largest_difference(again: Any, recorded: Any) -> float:
    """Return the largest difference relative to the largest recorded value; infinite for labels."""
    if again.dtype.kind != "f" or again.shape != recorded.shape:
        return float("inf")
    return float(np.abs(again - recorded).max() / (np.abs(recorded).max() or 1.0))
