"""`Result`: what a study found, with every number's meaning beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heldout.api.draw import DrawnSplits
from heldout.api.final import chooses_on_all_rows, final_predictor, is_cheap, tune_on_all_rows
from heldout.api.plots import Plots
from heldout.api.tuning import chosen_or_refuse
from heldout.backends.dask.connect import still_open
from heldout.base.errors import OptionError, SplitError, StoredError
from heldout.base.findings import Finding
from heldout.base.plain import plain
from heldout.base.registered import registered
from heldout.engine.run import Outcome, Running
from heldout.journal import JournalUse
from heldout.models.model import ModelParts
from heldout.report.page import write_page
from heldout.report.show import as_html, as_text
from heldout.results.figures import figures_of
from heldout.results.figures_of_candidates import candidate_rows
from heldout.results.frames import as_frame
from heldout.results.learning_curve import late_curve
from heldout.results.record import Facts
from heldout.results.scope import Covers
from heldout.results.selection import on_all_rows, waiting_estimates
from heldout.results.storage import load_record, save_record
from heldout.results.summary import summarise
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import verdict_of
from heldout.study.pose import OUTER
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamedFinal:
    """How a study of a stream makes its predictor, and first its choice on all rows."""

    tune: Callable[[], Outcome]
    cheap: bool  # whether the statistics that were gathered suffice to choose
    predictor: Callable[[Outcome | None], Any]  # of the choice on all rows, where one is due


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Live:
    """What a result needs to make its predictor; a loaded result has none of it."""

    learner: Any
    task: Task
    outcome: Outcome
    how: Running
    stream: StreamedFinal | None = None  # how a stream makes its predictor

    def how_now(self) -> Running:
        """How to run what is asked for later: with as long again, and here where the cluster was closed since."""
        return replace(self.how, deadline=None, backend=self.how.backend if still_open(self.how.backend) else None)

    @property
    def chooses_on_all_rows(self) -> bool:
        return chooses_on_all_rows(self.outcome.study)

    def tune(self) -> Outcome:
        """The choice on all rows."""
        if self.stream is not None:
            return self.stream.tune()
        return tune_on_all_rows(self.outcome, self.task, self.how_now())

    def tune_if_cheap(self) -> Outcome | None:
        """The same where it takes no fits worth mentioning, without a bar, events or a journal; else None."""
        if self.stream is not None:
            return self.stream.tune() if self.stream.cheap else None
        how = self.how_now()
        if not is_cheap(self.outcome, self.task, how):
            return None
        quiet = replace(how, progress=False, journal=None, options=replace(how.options, on_event=None))
        return tune_on_all_rows(self.outcome, self.task, quiet)


@registered
class Result:
    """What a study found. Made by :func:`heldout.evaluate` and :func:`heldout.load`.

    Attributes
    ----------
    risk : Estimate
        The main number: value, low, high, level, method, guarantee, estimand, train_size, n.
    estimates : dict of Estimate
        Every estimate the study affords, by name, the optimistic ones marked so.
    folds, choices, candidates, predictions, failures, warnings : data frame
        Tidy tables.
    learning_curve : data frame
        The risk at smaller training sizes; what it extrapolates to is ``estimates["extrapolated"]``.
    predictor : estimator
        The final decision function, fitted when first asked for; `covers` says which estimate speaks of it.
    splits : DrawnSplits
        The test splits: to look at, to save, and to pass as ``test=`` to another study of the same data.
    plan : str
        What was done, step by step.
    findings : tuple of Finding
        Numbered remarks.
    """

    def __init__(self, facts: Facts, *, live: Live | None = None, splits: DrawnSplits | None = None) -> None:
        self._facts = facts
        self._live = live
        self._tuning: Outcome | None = None  # the choice on all rows, once it was made
        self._asked_if_cheap = live is None or not live.chooses_on_all_rows
        self._stored_splits = splits
        self._late_findings: tuple[Finding, ...] = ()

    @property
    def facts(self) -> Facts:
        """All that the result says; the best validation number is made when it is first read, where that is cheap."""
        if not self._asked_if_cheap:
            assert self._live is not None
            self._asked_if_cheap = True
            try:
                tuning = self._live.tune_if_cheap()
            except SplitError as error:  # validation that fits into the training parts alone
                waiting = waiting_estimates(
                    self._live.outcome.study,
                    f"No value: validation cannot split all rows. {error}",
                    level=self.risk.level,
                )
                self._facts = replace(self._facts, estimates={**self._facts.estimates, **waiting})
            else:
                if tuning is not None:
                    self._take(tuning)
        return self._facts

    def _take(self, tuning: Outcome) -> None:
        """Keep the choice on all rows, and put what it says of its best number among the estimates."""
        assert self._live is not None
        self._tuning = tuning
        made = on_all_rows(self._live.task, tuning, level=self.risk.level)
        self._facts = replace(self._facts, estimates={**self._facts.estimates, **made})

    @property
    def risk(self) -> Estimate:
        return self._facts.estimates["risk"]

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        return self.facts.estimates

    @cached_property
    def folds(self) -> Any:
        return self._table("folds")

    @cached_property
    def choices(self) -> Any:
        return self._table("choices")

    @cached_property
    def candidates(self) -> Any:
        return self._table("candidates")

    @cached_property
    def predictions(self) -> Any:
        answer = self._facts.about.get("answer", "full")
        if answer != "full":
            raise OptionError(
                f"The results of single rows are withheld, as answer={answer!r} asks: they would leave no bound for "
                'later looks at these test rows. To see them, evaluate with answer="full".'
            )
        if "no_predictions" in self._facts.about:
            raise OptionError(self._facts.about["no_predictions"])
        return self._table("predictions")

    @cached_property
    def learning_curve(self) -> Any:
        """Training size, estimate, low and high; fitted when first asked for, where the options did not ask before."""
        if "learning_curve" not in self._facts.tables:
            if self._live is None:
                raise StoredError(
                    "This saved result has no learning curve, and without the learner none can be made. Run evaluate "
                    "with options=Options(learning_curve=True) before saving."
                )
            self._facts = late_curve(self._facts, self._live.task, self._live.outcome, how=self._live.how_now())
        return self._table("learning_curve")

    @cached_property
    def failures(self) -> Any:
        return self._table("failures")

    @cached_property
    def warnings(self) -> Any:
        return self._table("warnings")

    def _table(self, name: str) -> Any:
        return as_frame(self._facts.tables[name], library=self._facts.frame)

    @property
    def has_splits(self) -> bool:
        """Whether the rows of the test splits are known; a stream deals them as they pass."""
        return self._stored_splits is not None or (self._live is not None and self._live.stream is None)

    @cached_property
    def splits(self) -> DrawnSplits:
        if self._stored_splits is not None:
            return self._stored_splits
        if self._live is None or not self.has_splits:
            raise StoredError(
                "The splits of this result are not known by row: a stream deals rows into folds as they pass. "
                "Evaluate data that are loaded."
            )
        return DrawnSplits.of(self._live.task, self._live.outcome.study.splits[OUTER])

    @property
    def plan(self) -> Any:
        """The plan that was followed; printing it shows cells, fits and steps, and how much the journal knew."""
        if self._live is None:
            return self._facts.plan["text"]
        account, use = self._live.outcome.account, self.journal
        return account if use is None else replace(account, notes=(*account.notes, f"journal: {use}"))

    @property
    def journal(self) -> JournalUse | None:
        """How many cells came from the journal and how many were computed; None without one, or once loaded."""
        return None if self._live is None else self._live.outcome.journal

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self._facts.findings, *self._late_findings)

    @property
    def covers(self) -> Covers:
        return Covers(**self._facts.covers)

    @cached_property
    def predictor(self) -> Any:
        if self._live is None:
            raise StoredError(
                "A saved result holds numbers, not the learner, so it cannot make the predictor. "
                "Run evaluate again (the same seed gives the same numbers) and ask it there."
            )
        live = self._live
        if live.chooses_on_all_rows and self._tuning is None:
            tuning = live.tune()
            chosen_or_refuse(tuning)
            self._asked_if_cheap = True
            self._take(tuning)
        if live.stream is not None:
            return live.stream.predictor(self._tuning)
        predictor, findings = final_predictor(live.outcome, live.task, live.learner, tuning=self._tuning)
        self._late_findings = findings
        return predictor

    def model_parts(self) -> ModelParts:
        """What :func:`heldout.save_model` writes: the predictor, the estimate that covers it, its training rows."""
        predictor = self.predictor
        rows = None if self._live is None or self._live.stream is not None else self._live.task.X
        estimate = self.estimates[self.covers.estimate]
        return ModelParts(predictor=predictor, estimate=estimate, covers=self.covers.sentence, rows=rows)

    def save(self, path: str | Path) -> None:
        """Write everything but the learner to one file of plain data, which :func:`heldout.load` reads."""
        splits = (self.splits.kept, self.splits.told) if self.has_splits else None
        save_record(replace(self.facts, findings=self.findings), splits, path)

    def summary(self, *, figures: bool = False) -> dict[str, Any]:
        """The result as plain values that JSON can hold: docs/summary.md. `figures` adds what the figures show."""
        facts = self.facts
        units = "groups" if "groups" in facts.about.get("roles", ()) else "rows"
        verdict = verdict_of(facts.estimates, facts.no_model, rows=facts.about["rows"], units=units)
        summary = summarise(facts, findings=self.findings, verdict=verdict)
        if figures:
            summary["candidates"] = plain(candidate_rows(facts))
            summary["figures"] = figures_of(facts, self.splits.told.picture if self.has_splits else None)
        return summary

    @property
    def plot(self) -> Plots:
        """The figures of the report on matplotlib axes: ``result.plot.folds()`` and so on."""

        def prepare(name: str) -> None:
            if name == "learning_curve":
                _ = self.learning_curve  # fitted when first asked for

        return Plots(lambda: self.summary(figures=True), prepare=prepare)

    def report(self, path: str | Path) -> None:
        """Write one page with all of it, for colleagues: a single HTML file that opens offline.

        Needs ``pip install 'heldout[report]'``.
        """
        write_page(self.summary(figures=True), path)

    def __repr__(self) -> str:
        risk = self.risk
        value = f"{risk.value:.4g}" if risk.value is not None else risk.answer or "no value"
        between = "" if risk.low is None else f", {risk.level:.0%} interval {risk.low:.4g} to {risk.high:.4g}"
        return f"<Result {risk.loss} {value}{between}: {risk.estimand}>"

    def __str__(self) -> str:
        return as_text("result", self.summary())

    def _repr_html_(self) -> str:
        return as_html("result", self.summary())


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
    return Result(record, splits=None if splits is None else DrawnSplits(splits[0], told=splits[1]))
