"""`Result`: holds what a study found, and states what every number means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heldout.api.draw import DrawnSplits
from heldout.api.final import StudyHandles, chooses_on_all_rows, final_facts
from heldout.api.plots import Reported
from heldout.api.tuning import chosen_or_refuse
from heldout.base.errors import OptionError, SplitError, StoredError
from heldout.base.findings import Finding
from heldout.base.registered import registered
from heldout.base.shown import plain
from heldout.engine.run import Outcome
from heldout.journal import JournalUse
from heldout.models.model import ModelParts
from heldout.results.corrections import on_all_rows
from heldout.results.estimates import Covers, later_estimates
from heldout.results.extra_fits import EXTRAPOLATED, LEARNING_CURVE
from heldout.results.figures import figures_of
from heldout.results.figures_of_choices import candidate_rows
from heldout.results.figures_of_predictions import class_columns, curve_columns
from heldout.results.findings import STOPPED
from heldout.results.headline import hides_rare_classes, rare_class_finding
from heldout.results.importance import COEFFICIENTS, IMPORTANCE, IN_FOLDS, REPEATS, importance_figure
from heldout.results.metrics import columns_of, metrics_of
from heldout.results.selection import waiting_estimates
from heldout.results.storage import load_record, save_record
from heldout.results.study_record import StudyRecord, summarise
from heldout.results.subgroups import NOT_ASKED, SUBGROUPS, subgroups_figure
from heldout.results.tables import as_frame, one_se_columns
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import Leading, verdict_of
from heldout.study.study import OUTER


@registered
class Result(Reported):
    """What a study found. Made by :func:`heldout.evaluate` and :func:`heldout.load`.

    Attributes
    ----------
    risk : Estimate
        The main number: value, low, high, level, method, guarantee, estimand, train_size, n.
    estimates : dict of Estimate
        Every estimate the study affords, by name, the optimistic ones marked so.
    metrics, folds, choices, candidates, predictions, failures, warnings : data frame
        Tidy tables. `metrics` has familiar scores: value, interval, what no model scores, and the gain over it.
    learning_curve : data frame
        The risk at smaller training sizes; what it extrapolates to is ``estimates["extrapolated"]``.
    roc, pr, gains, thresholds, classes : data frame
        What a classifier does on held-out rows: its curves, as scikit-learn computes them from `predictions`, a table
        of thresholds, and precision, recall and F1 of each class. ``importance()`` says which columns it uses.
    coefficients : data frame
        The coefficients of the folds' predictors, which are fitted again, and in how many folds a column is selected.
    subgroups : data frame
        The risk in each subgroup that ``slices=`` named.
    predictor : estimator
        The final decision function, fitted when first asked for; `covers` says which estimate speaks of it.
    splits : DrawnSplits
        The test splits: to look at, to save, and to pass as ``test=`` to another study of the same data.
    plan : str
        What was done, step by step.
    findings : tuple of Finding
        Numbered remarks.
    """

    _shown_as = "result"

    def __init__(
        self, record: StudyRecord, *, handles: StudyHandles | None = None, splits: DrawnSplits | None = None
    ) -> None:
        self.record_so_far = record  # without the numbers that are computed at first access
        self.handles = handles
        self._tuning: Outcome | None = None  # the choice on all rows; None until it is made
        self._waits = handles is not None  # whether some numbers are not computed yet
        self._stored_splits = splits
        self._late_findings: tuple[Finding, ...] = ()

    @property
    def record(self) -> StudyRecord:
        """The complete record; the first access adds the late estimates, and the choice on all rows if it is cheap."""
        if self._waits and self.handles is not None:
            self._waits = False
            task, outcome, level = self.handles.task, self.handles.outcome, self.risk.level
            self._add(later_estimates(task, outcome, level=level))
            if chooses_on_all_rows(outcome.study) and self._tuning is None:
                self._tune_if_cheap(self.handles)
        return with_metrics(self)

    @cached_property
    def metrics(self) -> Any:
        """Familiar scores with their intervals, and what the best constant answer scores on the same held-out rows."""
        record = with_metrics(self)
        return as_frame(columns_of(record.metrics or ()), library=record.frame)

    def frame(self) -> Any:
        """Return `metrics`: a row for each score."""
        return self.metrics

    def _record_with_marks(self) -> StudyRecord:
        """The record with what figures alone show: the candidate that the one-standard-error rule takes."""
        if self.handles is not None and "one_se" not in self.record.tables:
            self._add({}, tables={"one_se": one_se_columns(self.handles.outcome)})
        return self.record

    def _tune_if_cheap(self, handles: StudyHandles) -> None:
        try:
            tuning = handles.tune_if_cheap()
        except SplitError as error:  # validation that fits into the training parts alone
            reason = f"No value: validation cannot split all rows. {error}"
            self._add(waiting_estimates(handles.outcome.study, reason, level=self.risk.level))
        else:
            if tuning is not None:
                self._take(tuning, handles)

    def _take(self, tuning: Outcome, handles: StudyHandles) -> None:
        """Keep the choice on all rows, and add its best validation loss and corrections to the estimates."""
        self._tuning = tuning
        self.record_so_far = replace(self.record_so_far, about={**self.record_so_far.about, **final_facts(tuning)})
        self._add(on_all_rows(handles.task, tuning, level=self.risk.level))

    def _add(self, estimates: Mapping[str, Estimate], *, tables: Mapping[str, Any] | None = None) -> None:
        """Add numbers computed late to the record; the learning curve's extrapolated estimate stays last."""
        record = self.record_so_far
        every = {**record.estimates, **estimates}
        last = {name: every.pop(name) for name in (EXTRAPOLATED,) if name in every}
        self.record_so_far = replace(record, estimates={**every, **last}, tables={**record.tables, **(tables or {})})

    @property
    def risk(self) -> Estimate:
        return self.record_so_far.estimates["risk"]

    folds = cached_property(lambda self: self._table("folds"))
    choices = cached_property(lambda self: self._table("choices"))
    candidates = cached_property(lambda self: self._table("candidates"))
    failures = cached_property(lambda self: self._table("failures"))
    warnings = cached_property(lambda self: self._table("warnings"))

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        return self.record.estimates

    @cached_property
    def predictions(self) -> Any:
        answer = self.record_so_far.about.get("answer", "full")
        if answer != "full":
            raise OptionError(
                f"The results of single rows are withheld, as answer={answer!r} asks: they would leave no bound for "
                'later looks at these test rows. To see them, evaluate with answer="full".'
            )
        if "no_predictions" in self.record_so_far.about:
            raise OptionError(self.record_so_far.about["no_predictions"])
        return self._table("predictions")

    @cached_property
    def learning_curve(self) -> Any:
        """Training size, estimate, low and high; fitted when first asked for, where the options did not ask before."""
        if LEARNING_CURVE not in self.record_so_far.tables:
            if self.handles is None:
                raise StoredError(
                    "This saved result has no learning curve, and without the learner none can be made. Run evaluate "
                    "with options=Options(learning_curve=True) before saving."
                )
            table, extrapolated = self.handles.learning_curve(self.record_so_far)
            self._add({EXTRAPOLATED: extrapolated}, tables={LEARNING_CURVE: table})
        return self._table("learning_curve")

    roc = cached_property(lambda self: self._frame_of(curve_columns(self.record_so_far, "roc")))
    pr = cached_property(lambda self: self._frame_of(curve_columns(self.record_so_far, "pr")))
    gains = cached_property(lambda self: self._frame_of(curve_columns(self.record_so_far, "gains")))
    thresholds = cached_property(lambda self: self._frame_of(curve_columns(self.record_so_far, "thresholds")))
    classes = cached_property(lambda self: self._frame_of(class_columns(self.record_so_far)))
    subgroups = cached_property(lambda self: self._frame_of(self.record_so_far.tables.get(SUBGROUPS) or NOT_ASKED))

    @property
    def coefficients(self) -> Any:
        """A row a coefficient: its mean and spread over the folds' predictors, and how many folds select the column."""
        if COEFFICIENTS not in self.record_so_far.tables:
            self._measure(COEFFICIENTS)
        columns = self.record_so_far.tables[COEFFICIENTS]
        return self._frame_of(columns or self.record_so_far.about["no_coefficients"])

    def importance(self, repeats: int | None = None, *, loss: Any = None, by_fold: bool = False) -> Any:
        """How much worse the loss gets when a column of held-out rows is permuted; the mean over folds, by column.

        Each fold is scikit-learn's ``permutation_importance`` of that fold's predictor, which is fitted again, on its
        held-out rows, with the seed of the study as ``random_state``.

        Parameters
        ----------
        repeats : int, optional
            How often each column is permuted. None: what the result holds, else 5.
        loss : str or scorer, optional
            None: the loss of ``result.risk``.
        by_fold : bool
            Return a row for each fold and column instead, with the standard deviation over repeats.
        """
        known = self.record_so_far.about.get(IMPORTANCE)
        if known is None or loss is not None or repeats not in (None, known["repeats"]):
            self._measure(IMPORTANCE, repeats=REPEATS if repeats is None else repeats, loss=loss)
        return self._table(IN_FOLDS if by_fold else IMPORTANCE)

    def _measure(self, what: str, **how: Any) -> None:
        """Fit the folds' predictors again, and keep what they use; refuse where they are gone or tell too much."""
        record = self.record_so_far
        answer = record.about.get("answer", "full")
        if answer != "full":
            raise OptionError(f"The {what} of columns tells more of the test rows than answer={answer!r} allows.")
        if self.handles is None:
            raise StoredError(
                f"This saved result has no {what}, and without the learner none can be computed. Run evaluate with "
                "options=Options(importance=5) before saving."
            )
        tables, about = self.handles.measure_columns(**how)
        self.record_so_far = replace(record, tables={**record.tables, **tables}, about={**record.about, **about})

    def _frame_of(self, columns: Mapping[str, Any] | str) -> Any:
        """Return columns as a data frame; raise the reason why there are none."""
        if isinstance(columns, str):
            raise OptionError(columns)
        return as_frame(columns, library=self.record_so_far.frame)

    def _table(self, name: str) -> Any:
        return as_frame(self.record_so_far.tables[name], library=self.record_so_far.frame)

    @property
    def is_complete(self) -> bool:
        """Whether the study ran to its end, and not only until its time was up."""
        return all(finding.code != STOPPED for finding in self.record_so_far.findings)

    @property
    def has_splits(self) -> bool:
        """Whether the rows of the test splits are known; a stream deals them as they pass."""
        return self._stored_splits is not None or (self.handles is not None and self.handles.streamed is None)

    @cached_property
    def splits(self) -> DrawnSplits:
        if self._stored_splits is not None:
            return self._stored_splits
        if self.handles is None or not self.has_splits:
            raise StoredError(
                "The splits of this result are not known by row: a stream deals rows into folds as they pass. "
                "Evaluate data that are loaded."
            )
        return DrawnSplits.of(self.handles.task, self.handles.outcome.study.splits[OUTER])

    @property
    def plan(self) -> Any:
        """The plan that was followed; printing it shows cells, fits and steps, and how much the journal knew."""
        if self.handles is None:
            return self.record_so_far.plan["text"]
        account, use = self.handles.outcome.account, self.journal
        return account if use is None else replace(account, notes=(*account.notes, f"journal: {use}"))

    @property
    def journal(self) -> JournalUse | None:
        """How many cells came from the journal and how many were computed; None without one, or once loaded."""
        return None if self.handles is None else self.handles.outcome.journal

    @property
    def findings(self) -> tuple[Finding, ...]:
        late = hides_rare_classes(self.record_so_far.about)
        return (*(with_metrics(self) if late else self.record_so_far).findings, *self._late_findings)

    @property
    def covers(self) -> Covers:
        return self.record_so_far.covers

    @cached_property
    def predictor(self) -> Any:
        handles = self.handles
        if handles is None:
            raise StoredError(
                "A saved result holds numbers, not the learner, so it cannot make the predictor. "
                "Run evaluate again (the same seed gives the same numbers) and ask it there."
            )
        if chooses_on_all_rows(handles.study) and self._tuning is None:
            tuning = handles.tune()
            chosen_or_refuse(tuning)
            self._take(tuning, handles)
        predictor, self._late_findings = handles.predictor(self._tuning)
        return predictor

    def model_parts(self) -> ModelParts:
        """Return what :func:`heldout.save_model` writes: predictor, the estimate that covers it, and training rows."""
        predictor = self.predictor
        rows = None if self.handles is None or self.handles.streamed is not None else self.handles.task.X
        estimate = self.estimates[self.covers.estimate]
        return ModelParts(predictor=predictor, estimate=estimate, covers=self.covers.sentence, rows=rows)

    def save(self, path: str | Path) -> None:
        """Write everything but the learner to one file of plain data, which :func:`heldout.load` reads."""
        splits = (self.splits.saved, self.splits.description) if self.has_splits else None
        save_record(replace(self._record_with_marks(), findings=self.findings), splits, path)

    def summary(self, *, figures: bool = False) -> dict[str, Any]:
        """The result as plain values that JSON can hold: docs/summary.md. `figures` adds what the figures show."""
        record = self._record_with_marks() if figures else self.record
        units = "groups" if "groups" in record.about.get("roles", ()) else "rows"
        leads = next(
            (Leading(estimate=one.estimate, label=one.label) for one in record.metrics or () if one.decides), None
        )
        verdict = verdict_of(record.estimates, record.no_model, rows=record.about["rows"], units=units, leads=leads)
        summary = summarise(record, findings=self.findings, verdict=verdict)
        for name, figure in ((SUBGROUPS, subgroups_figure), (IMPORTANCE, importance_figure)):
            summary[name] = plain(figure(record)) if record.tables.get(name) else None
        if figures:
            summary["candidates"] = plain(candidate_rows(record))
            summary["figures"] = figures_of(record, self.splits.description.picture if self.has_splits else None)
        return summary

    def _prepare_figure(self, name: str) -> None:
        if name == "learning_curve":
            _ = self.learning_curve  # fitted when first asked for
        elif name == IMPORTANCE and self.handles is not None:
            self.importance()
        elif name == COEFFICIENTS and self.handles is not None:
            _ = self.coefficients

    def __repr__(self) -> str:
        risk = self.risk
        value = f"{risk.value:.4g}" if risk.value is not None else risk.answer or "no value"
        between = "" if risk.low is None else f", {risk.level:.0%} interval {risk.low:.4g} to {risk.high:.4g}"
        return f"<Result {risk.loss} {value}{between}: {risk.estimand}>"


def with_metrics(result: Result) -> StudyRecord:
    """Return the record of a result with familiar scores, computed when they are first asked for, and their finding."""
    record = result.record_so_far
    if record.metrics is None and result.handles is not None:
        metrics = metrics_of(result.handles.finished(record))
        rare = rare_class_finding(record.about, metrics)
        found = record.findings if rare is None else (*record.findings, rare)
        result.record_so_far = record = replace(record, metrics=metrics, findings=found)
    return record


def load(path: str | Path) -> Result:
    """Read a result that :meth:`heldout.Result.save` wrote. No code in the file can run.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Result
        With every number and table; without the learner, so it cannot make the predictor.
    """
    record, splits = load_record(path)
    return Result(record, splits=None if splits is None else DrawnSplits(splits[0], description=splits[1]))
