"""Adjusts the results of a study for earlier looks at its test set, and enters new looks in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from heldout.audit.ledger import JournalLedger, Ledger, Look, looks_before, process_ledger
from heldout.audit.test_rows import TestRows, rows_of_task
from heldout.backends.pickling import dumps
from heldout.base.errors import Argument, OptionError, Sentence, Splitter
from heldout.base.findings import Finding
from heldout.base.options import PASS_FAIL, Answer, Options, parse_answer
from heldout.base.words import clipped
from heldout.journal.identity import identify
from heldout.losses import Loss
from heldout.results.estimates import RISK, risk_name
from heldout.results.no_model import without_interval
from heldout.results.study_record import Question, StudyRecord
from heldout.results.test_losses import TestLosses
from heldout.risk import earlier_looks
from heldout.risk.estimate import Estimate
from heldout.risk.record import Record
from heldout.risk.verdict import Reference
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER

ESCAPES = "Rows that were reordered, and changed in more than scale or columns, are not recognised."
# Findings that reveal predictions or losses of single test rows.
FROM_TEST_LOSSES = (
    *("H104", "H302", "H303", "H305", "H306", "H307", "H308", "H309"),
    *("H704", "H705", "H706", "H707", "H708", "H709", "H710", "H711", "H712"),
)
LOOKED_BEFORE = Finding(
    code="H402",
    severity="warning",
    message="These test rows were looked at before. The intervals of differences take no account of that: they hold "
    "for learners that were decided on without it.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestSetHistory:
    """Holds the rows of a test set and the earlier looks at any of them."""

    __test__: ClassVar[bool] = False  # no test, whatever its name begins with

    ledger: Ledger
    rows: TestRows
    question: str
    learner_keys: Mapping[Question, str]
    past: tuple[Look, ...]


def check_answer(options: Options, outer: Splits, losses: Sequence[Loss]) -> None:
    """Refuse an `answer` option that these splits and losses cannot give, and a `ledger` option that is no Ledger."""
    if options.ledger is not None and not isinstance(options.ledger, Ledger):
        raise OptionError(
            f"ledger= takes a ledger, such as heldout.audit.MemoryLedger(), not {type(options.ledger).__name__}."
        )
    answer = parse_answer(options.answer)
    if not answer.withholds:
        return
    if len(outer) > 1:
        raise OptionError(
            f"answer={str(answer)!r} is about what one test set tells, but here {len(outer)} parts are held out in "
            "turn.",
            Sentence(
                "Use {} or {}, or leave answer out.",
                Argument("test", Splitter("Holdout", "…")),
                Splitter("Given", "rows"),
            ),
        )
    for name in ("interval", "learning_curve"):
        if getattr(options, name) is not None:
            raise OptionError(
                f"{name}= would tell more of the test rows than answer={str(answer)!r} does. Leave one out."
            )
    if answer.kind == PASS_FAIL and len(losses) > 1:
        names = " and ".join(repr(loss.name) for loss in losses)
        raise OptionError(f"answer={str(answer)!r} has one mark, but there are several losses: {names}. Ask for one.")


def history_of(*questions: Question, journal: Any = None) -> TestSetHistory | None:
    """Find the earlier looks at the test set of a question. Return None for cross-validation, which has no test set.

    Unless the options name a ledger, the journal is the ledger, and learners are identified across processes. Several
    questions asked at once on the same rows, as in a comparison, count as one look, since none of their learners
    depends on another's answer.
    """
    first = questions[0]
    outer = first.study.splits[OUTER]
    if len(outer) > 1 and not isinstance(first.learner, FrozenEstimator):
        return None  # cross-validation: the risk of a typical predictor, and no single test set
    return history_of_rows(questions, journal, rows_of_task(first.task, outer.held))


def history_of_rows(questions: Sequence[Question], journal: Any, rows: TestRows) -> TestSetHistory:
    """Find the earlier looks at these test rows. The rows of a stream are known only after it was read."""
    first = questions[0]
    if first.options.ledger is not None:
        ledger: Ledger = first.options.ledger
    else:
        ledger = process_ledger() if journal is None else JournalLedger(journal)
    key_of = content_key if journal is None else _lasting_key
    keys = {one: key_of(clone(one.learner)) for one in questions}
    digest = blake2b(digest_size=16)
    for one, key in keys.items():
        losses = [(loss.name, loss.scorer) for loss in one.study.reported]
        fingerprints = (one.task.fingerprint, first.study.splits[OUTER].fingerprint)
        words = (*fingerprints, one.seed, one.options.answer, *map(key_of, losses))
        digest.update("\x1f".join([key, *map(str, words)]).encode())
    asked = digest.hexdigest()
    past = looks_before(ledger, rows, asked)
    return TestSetHistory(ledger=ledger, rows=rows, question=asked, learner_keys=keys, past=past)


def _lasting_key(thing: Any) -> str:
    """Return a key that is the same in every process while code and libraries do not change."""
    return identify(thing, "the learner").key.hex()


def content_key(thing: Any) -> str:
    """Return a key for the content of a learner or scorer; functions and classes of a notebook enter by their code.

    Lambdas and closures, which a journal refuses, enter by their pickle. An object that cannot be pickled gets a new
    random key each time, so that asking again counts as a new look.
    """
    for make_key in (_lasting_key, _pickled_key):
        with suppress(Exception):  # the user's own objects raise what they like when they are read or pickled
            return make_key(thing)
    return uuid4().hex


def _pickled_key(thing: Any) -> str:
    return blake2b(dumps(thing), digest_size=16).hexdigest()


def disclosed(record: StudyRecord, question: Question, losses: TestLosses, history: TestSetHistory) -> StudyRecord:
    """Return the record as it may be shown: intervals account for earlier looks, and a coarse answer hides rows."""
    answer = parse_answer(question.options.answer)
    looks = history.past
    past = earlier_looks.EarlierLooks(
        alphabets=tuple(look.price for look in looks), rows_shown=any(look.rows_shown for look in looks)
    )
    told = {
        name: earlier_looks.disclosed_estimate(losses_of, record.estimates[name], answer, past)
        for name, _, losses_of in _by_name(question, losses)
    }
    tables = dict(record.tables)
    if answer.withholds:
        tables["predictions"] = {}
        tables["folds"] = {**tables["folds"], **_coarse_columns(question, losses, answer)}
    kept = [one for one in record.findings if not (answer.withholds and one.code in FROM_TEST_LOSSES)]
    return replace(
        record,
        estimates={name: told[name].estimate if name in told else one for name, one in record.estimates.items()},
        about={**record.about, "answer": str(answer), "looks_before": len(looks)},
        tables=tables,
        findings=(*kept, *_findings(told[RISK].status, history)),
        no_model=_against(record.no_model, history, withheld=answer.withholds),
    )


def _against(reference: Reference | None, history: TestSetHistory, *, withheld: bool) -> Reference | None:
    """Clear the comparison with no model after a coarse answer, and its interval and p-value after an earlier look."""
    if reference is None or withheld:
        return None if reference is None else Reference(reason="The results of single rows are withheld.")
    return without_interval(reference) if history.past else reference


def enter_looks(record: StudyRecord, question: Question, losses: TestLosses, history: TestSetHistory) -> None:
    """Enter the looks of a question in the ledger: one look for each loss that has a value."""
    answer = parse_answer(question.options.answer)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    looks = [
        Look(
            when=when,
            question=history.question,
            rows=history.rows,
            learner=_learner_words(record.about),
            learner_key=history.learner_keys[question],
            loss=loss.name,
            answer=str(answer),
            alphabet=earlier_looks.alphabet_of(answer, losses_of, right_or_wrong=loss.counts_errors),
            rows_shown=not answer.withholds,
            told=_told_words(record.estimates[name]),
        )
        for name, loss, losses_of in _by_name(question, losses)
        if not np.isnan(losses_of.fold_losses).any()  # otherwise no value was shown
    ]
    history.ledger.record(looks)


def _by_name(question: Question, losses: TestLosses) -> list[tuple[str, Loss, Record]]:
    """Return the name of the estimate, the loss and the record of each reported loss."""
    reported = question.study.reported
    return [
        (risk_name(number, loss), loss, record)
        for number, (loss, record) in enumerate(zip(reported, losses.records, strict=True))
    ]


def _coarse_columns(question: Question, losses: TestLosses, answer: Answer) -> dict[str, Any]:
    """Return the loss columns for the table of folds, rounded or as "pass" and "fail", as the answer option asks."""
    columns: dict[str, Any] = {}
    for _, loss, record in _by_name(question, losses):
        (value,) = record.fold_losses.tolist()
        if answer.kind == PASS_FAIL:
            columns[loss.name] = [
                None if np.isnan(value) else "pass" if earlier_looks.passes(answer, record, value) else "fail"
            ]
        elif answer.size is not None and not np.isnan(value):
            columns[loss.name] = np.array([loss.sign * earlier_looks.rounded(value, answer.size) + 0.0])
    return columns


def _findings(status: str, history: TestSetHistory) -> list[Finding]:
    if status == earlier_looks.FIRST:
        return []
    whole = all(look.rows.key == history.rows.key for look in history.past)
    which = "these test rows" if whole else "test sets that share rows with this one"
    learners = list(dict.fromkeys(look.learner for look in history.past))
    named = learners[0] + (", …" if len(learners) > 1 else "")  # a report shows 300 characters
    times = "One earlier look was" if len(history.past) == 1 else f"{len(history.past)} earlier looks were"
    seen = f"{times} taken at {which} ({named})"
    way_out = 'test on fresh rows, or let them answer "rounded" or "pass/fail:…" from the first look on.'
    if status == earlier_looks.UNBOUNDED:
        text = f"{seen}. No bound covers a learner chosen after them: {way_out} {ESCAPES}"
        return [Finding(code="H402", severity="warning", message=text)]
    text = f"{seen}. The interval is widened, so that it holds for a learner chosen after them. {ESCAPES}"
    found = [Finding(code="H401", severity="warning", message=text)]
    if status == earlier_looks.VACUOUS:
        text = f"The earlier looks have used these test rows up, the interval tells next to nothing: {way_out}"
        found.append(Finding(code="H403", severity="warning", message=text))
    return found


def _told_words(estimate: Estimate) -> str:
    """Write what a look was told: "0.12 (0.05 to 0.2)", or "pass: at most 0.2 (0 to 0.3)"."""
    value = estimate.answer if estimate.value is None else f"{estimate.value:.4g}"
    between = "" if estimate.low is None else f" ({estimate.low:.4g} to {estimate.high:.4g})"
    return f"{value}{between}"


def _learner_words(about: Mapping[str, Any]) -> str:
    if len(about["families"]) > 1:
        text = " | ".join(about["families"])
    else:
        text = str(about["learner"] if about["tuned"] else about["estimators"][0])
    return clipped(text, 60)
