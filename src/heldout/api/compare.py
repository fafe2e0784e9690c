"""`compare`: compares several learners on the same splits, and returns a `Comparison`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heldout.api.call_text import call_of, command_of_now, with_our_words
from heldout.api.comparable import check_rope, check_same_question, refuse_coarse_answers
from heldout.api.evaluate import check_data, first_plan, run_question
from heldout.api.learners import is_named, named_learners
from heldout.api.plots import Reported
from heldout.api.question import checked_name, prepare, refuse_stream
from heldout.api.result import Result, with_metrics
from heldout.base.environment import environment
from heldout.base.errors import FitFailed, LearnerError, SpaceError
from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.base.registered import registered
from heldout.base.shown import plain
from heldout.base.words import listed
from heldout.data.stream import table_of, target_of
from heldout.engine.progress import open_progress
from heldout.engine.run import Running
from heldout.journal import comparison_key, keep_summary
from heldout.results.estimates import RISK, risk_estimand, sizes_of
from heldout.results.figures import comparison_figure
from heldout.results.headline import OF_ALL_LEARNERS, headline_of
from heldout.results.metrics import best_of, columns_of
from heldout.results.study_facts import YARDSTICKS
from heldout.results.study_record import VERSION, Question, Request, Yardsticks, choices_of
from heldout.results.tables import as_frame
from heldout.results.test_losses import blank_record
from heldout.results.test_set_history import LOOKED_BEFORE, history_of
from heldout.risk.comparison.over_datasets import RankedPair
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Pair, verdict_of_comparison
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import Record
from heldout.splits import as_strategy
from heldout.study.in_words import splits_words
from heldout.study.study import OUTER

EACH_OTHER = Yardsticks(studies={}, without=dict.fromkeys(YARDSTICKS, "the learners are held against each other"))


@registered
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison(Reported):
    """What comparing learners found. Made by :func:`heldout.compare`.

    Attributes
    ----------
    table : data frame
        A row a pair: the difference of the first less the second in the user's own sign, its interval, the p-value,
        the same adjusted by Holm, the posterior probabilities, the verdict and the sentence. The intervals hold
        together at `level`; `interval_level` is the level of each.
    ranking : dict of Estimate
        The risk of each learner, the best first, those without a value last. Its intervals hold one at a time, and
        two that overlap do not mean that there is no difference: see the table.
    results : dict of Result
        What :func:`heldout.evaluate` gives for each learner of which some fit worked.
    failures : dict of str
        Why a learner has no result.
    sentences : tuple of str
        A sentence for each pair.
    pairs : tuple of Pair
        The rows of the table as values.
    findings : tuple of Finding
        Numbered warnings and errors of any of the learners, each once, and of the comparison.
    """

    _shown_as = "comparison"

    pairs: tuple[Pair, ...]
    ranking: Mapping[str, Estimate]
    results: Mapping[str, Result]
    failures: Mapping[str, str]
    level: float
    rope: float | None
    about: Mapping[str, Any]
    remarks: tuple[Finding, ...] = ()
    library: str = "pandas"
    checks: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(pair.sentence for pair in self.pairs)

    @property
    def findings(self) -> tuple[Finding, ...]:
        owners: dict[Finding, list[str]] = {}
        for name, result in self.results.items():
            for one in dict.fromkeys(result.findings):
                owners.setdefault(one, []).append(name)
        grave = [one for one in owners if one.severity != "info"]
        own = {one for one in grave if one.code > "H7" or len(owners[one]) < len(self.results)}
        found = [replace(one, message=f"{listed(owners[one])}: {one.message}") if one in own else one for one in grave]
        return tuple(dict.fromkeys((*found, *self.remarks)))

    @property
    def table(self) -> Any:
        rows = [_row(pair) for pair in self.pairs]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]}, library=self.library)

    def frame(self) -> Any:
        """Return a row for each learner and score: `metrics` of all results, the best learner first."""
        found = {name: with_metrics(self.results[name]).metrics or () for name in self.ranking if name in self.results}
        learners = [name for name, metrics in found.items() for _ in metrics]
        columns = columns_of([metric for metrics in found.values() for metric in metrics])
        return as_frame({"learner": learners, **columns}, library=self.library)

    def summary(self, *, figures: bool = False) -> dict[str, Any]:
        """The comparison as plain values that JSON can hold: docs/summary.md. `figures` adds what the figures show."""
        records = {name: with_metrics(result) for name, result in self.results.items()}  # no fit is made late
        headlines = {name: headline_of(one.about, one.metrics or (), choices_of(one)) for name, one in records.items()}
        shared = plain(next(iter(headlines.values())))
        handles = {name: one.handles for name, one in self.results.items()}
        studies = {name: one.finished(records[name]) for name, one in handles.items() if one is not None}
        metrics = {name: records[name].metrics or () for name in studies}
        facts, others = best_of(studies, metrics, level=self.level, rope=self.rope)
        summary: dict[str, Any] = {
            "version": VERSION,
            "kind": "comparison",
            "headline": {name: shared[name] for name in OF_ALL_LEARNERS} | {"name": self.about.get("name")},
            "level": self.level,
            "rope": plain(self.rope),
            "about": {"call": None, "command": None, **plain(self.about)},
            "verdict": {**verdict_of_comparison(self.ranking, self.pairs, level=self.level), **facts},
            "against_best": plain(others),
            "ranking": [{**plain(estimate.as_dict()), "name": name} for name, estimate in self.ranking.items()],
            "pairs": [plain({**_row(pair), "estimand": pair.difference.estimand}) for pair in self.pairs],
            "learners": {
                name: {
                    "headline": plain(headlines[name]),
                    "metrics": [plain(metric.as_dict()) for metric in one.metrics or ()],
                    "about": plain(one.about),
                    "choices": choices_of(one),
                    "seconds": plain(one.seconds),
                }
                for name, one in records.items()
            },
            "failures": plain(self.failures),
            "findings": [asdict(finding) for finding in self.findings],
            "checks": plain(self.checks),
        }
        if figures:
            folds = {name: one.tables["folds"] for name, one in records.items()}
            leads = {name: next(m for m in one.metrics or () if m.decides) for name, one in records.items()}
            drawn = comparison_figure(
                self.ranking, summary["pairs"], folds, rope=self.rope, level=self.level, leads=leads
            )
            summary["figures"] = {"comparison": plain(drawn)}
        return summary

    def __repr__(self) -> str:
        names = ", ".join(self.ranking)
        return f"<Comparison of {names} by {self.about['loss']}>"


def chances_and_verdict(pair: Pair | RankedPair, *, rope: float | None) -> dict[str, Any]:
    """Return the posterior probabilities of a pair, None without any, with its verdict and its sentence."""
    chances = pair.probabilities
    return {
        "chance_first_better": None if chances is None else chances.left,
        "chance_equal": None if chances is None or rope is None else chances.rope,
        "chance_second_better": None if chances is None else chances.right,
        "verdict": str(pair.verdict),
        "sentence": pair.sentence,
    }


def _row(pair: Pair) -> dict[str, Any]:
    difference = pair.difference
    return {
        "first": pair.first,
        "second": pair.second,
        "loss": difference.loss,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        "interval_level": difference.level,
        "method": difference.method,
        "guarantee": difference.guarantee,
        "p": pair.p,
        "p_method": pair.p_method,
        "p_holm": pair.p_holm,
        **chances_and_verdict(pair, rope=pair.rope),
        "reason": difference.reason,
    }


@with_our_words
def compare(
    learners: Any,
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
    checks: str = "quick",
    ignore: str | Iterable[str] = (),
    options: Options | None = None,
    rope: float | None = None,
    name: str | None = None,
) -> Comparison:
    """Compare learners on the same test splits, pair by pair, and say what that shows.

    Parameters
    ----------
    learners : dict of estimators, or list
        Two or more of what :func:`heldout.evaluate` takes, by name. In a list, names of the catalogue are their own
        names, and estimators get those of their classes.
    X, y and all that is not below
        As in :func:`heldout.evaluate`. Every learner is tested on the same drawn splits; the data are looked at once.
    loss : str, scorer, list or dict, optional
        What is compared: the first of several. None takes the learners' own loss, where they agree on one.
    level : float
        Of all intervals of the table together: with m pairs each interval has the level 1 − (1 − level)/m. The
        intervals of the ranking have this level each.
    rope : float, optional
        Two learners whose risks differ by less than this are practically equal. In the unit of the loss.
    name : str, optional
        What to call the comparison, in reports and in lists of studies.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = ho.compare({"ridge": Ridge(alpha=0.1), "mean": DummyRegressor()}, X, y, loss="absolute")
    >>> found.sentences
    ('ridge is better than mean by 16.2 to 26.1.',)
    """
    bar = open_progress(progress)
    check_rope(rope)
    name = checked_name(name)  # of the comparison alone: its parts may be known by another
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "strata": strata}
    asked = {"test": test, "roles": roles, "loss": loss, "positive": positive, "slices": slices, "level": level}
    request = Request(**asked, seed=seed, checks=checks, ignore=ignore, options=options)
    named = named_learners(learners)
    questions = ask_all(named, X, target_of(y, target), request)
    options = next(iter(questions.values())).options
    how = Running(jobs=jobs, backend=backend, progress=bar, options=options, journal=journal)
    call = call_of(named, replace(request, name=name), verb="compare", rope=rope)
    return answer_all(questions, how, rope=rope, call=call, called=name)


def ask_all(learners: Mapping[str, Any], X: Any, y: Any, request: Request) -> dict[str, Question]:
    """Build the same question for each learner, and check all of them before any fit."""
    refuse_stream(X, who="A comparison")
    if request.test is not None:  # pairs from a generator are read once, for all learners
        request = replace(request, test=as_strategy(request.test))
    questions: dict[str, Question] = {}
    with table_of(X) as table:
        if any(map(is_named, learners.values())):
            from heldout.api.named import by_name

            learners, table, request = by_name(learners, table, y, request)
        for name, learner in learners.items():
            try:
                question = prepare(learner, table, y, request)
            except (LearnerError, SpaceError) as error:
                raise type(error)(f"Learner {name!r}: {error}") from error
            questions[name] = question if question.yardsticks is None else replace(question, yardsticks=EACH_OTHER)
    refuse_coarse_answers(next(iter(questions.values())), who="A comparison")
    check_same_question(questions)
    return questions


def answer_all(
    questions: Mapping[str, Question],
    how: Running,
    *,
    rope: float | None,
    call: str | None = None,
    called: str | None = None,
) -> Comparison:
    """Run every learner and compare their losses; a learner that fails does not stop the others."""
    # All learners count as one look at the test set, since none depends on another's answer.
    history = history_of(*questions.values(), journal=how.journal)
    asked = list(questions.values())
    checks = check_data(asked, first_plan(asked[0]))
    results: dict[str, Result] = {}
    failures: dict[str, str] = {}
    progress = open_progress(how.progress)
    how = replace(how, progress=progress)
    with progress:
        for name, question in progress.in_turn(questions, lambda question: question.cells):
            try:
                results[name] = run_question(question, how, history=history, checks=checks)
            except FitFailed as error:
                failures[name] = str(error).splitlines()[0]
    if not results:
        name, why = next(iter(failures.items()))
        raise FitFailed(f"Not one of the {len(questions)} learners worked. The first, {name!r}: {why}")
    records = {name: _record(question, results.get(name)) for name, question in questions.items()}
    first = next(iter(questions.values()))
    pairs = compare_records(
        records, level=first.level, rope=rope, pool=first.options.pool, interval=first.options.interval
    )
    estimates = {
        name: results[name].risk if name in results else _no_estimate(questions[name], records[name], failures[name])
        for name in questions
    }
    comparison = Comparison(
        pairs=pairs,
        ranking=dict(sorted(estimates.items(), key=lambda item: _place(item[1]))),
        results=results,
        failures=failures,
        level=first.level,
        rope=rope,
        about={
            "loss": first.study.reported[0].name,
            "greater_is_better": first.study.reported[0].sign < 0,
            "name": called,
            "target": first.task.target,
            "source": first.task.source,
            "columns": first.task.n_columns,
            "procedure": splits_words(first.study.splits[OUTER]),
            "test": first.study.splits[OUTER].recipe.words,
            "splits_fingerprint": first.study.splits[OUTER].fingerprint,
            "rows": len(first.task),
            "fingerprint": first.task.fingerprint,
            "seed": first.seed,
            "environment": environment(),
            "call": call,
            "command": command_of_now(),
        },
        remarks=(
            *first.remarks,
            *checks.findings,
            *((LOOKED_BEFORE,) if history is not None and history.past else ()),
        ),
        checks=checks.summary,
        library=first.task.frame,
    )
    studies = [result.journal.study for result in results.values() if result.journal is not None]
    if how.journal is not None and studies:
        keep_summary(how.journal, comparison_key(studies), comparison.summary(figures=True), studies=studies)
    return comparison


def _record(question: Question, result: Result | None) -> Record:
    """Return the test losses of a learner; all are NaN if none of its fits worked."""
    if result is not None and result.handles is not None:
        return replace(result.handles.losses.records[0], seed=0)  # with the same random draws for all learners
    return replace(blank_record(question.task, question.study, 0), row_losses=None)


def _no_estimate(question: Question, record: Record, why: str) -> Estimate:
    study = question.study
    words = risk_estimand(question.task, study, study.reported[0], sizes_of(study))
    plain = estimate_risk(record, name=RISK, estimand=words, level=question.level)
    return replace(plain, reason=f"{plain.reason} {why}")


def _place(estimate: Estimate) -> tuple[bool, float]:
    """Return a sort key for the ranking: best first, and estimates without a value last."""
    if estimate.value is None:
        return True, 0.0
    return False, -estimate.value if estimate.greater_is_better else estimate.value
