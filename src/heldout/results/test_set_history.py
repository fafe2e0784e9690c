"""Looks at a test set: what a study may tell of it, and how far its interval holds after what was told before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from heldout.audit.ledger import JournalLedger, Ledger, Look, looks_before, process_ledger
from heldout.audit.test_rows import TestRows, rows_of_task
from heldout.backends.pickling import dumps
from heldout.base.answers import PASS_FAIL, Answer, parse_answer
from heldout.base.errors import Argument, OptionError, Sentence, Splitter
from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.engine.run import Outcome
from heldout.journal.identity import identify
from heldout.losses import Loss
from heldout.results.estimates import RISK, trained_sizes
from heldout.results.question import Asked
from heldout.results.record import Facts
from heldout.results.test_losses import test_record
from heldout.risk.earlier_looks import (
    FIRST,
    UNBOUNDED,
    VACUOUS,
    EarlierLooks,
    alphabet_of,
    disclosed_estimate,
    passes,
    rounded,
)
from heldout.risk.estimate import Estimate
from heldout.risk.record import Record
from heldout.risk.verdict import NOT_SHOWN, Reference
from heldout.splits.drawn import Splits
from heldout.study.pose import OUTER

ESCAPES = "Rows that were reordered, and changed in more than scale or columns, are not recognised."
# Findings that tell of the predictions or losses of single test rows.
FROM_TEST_LOSSES = ("H104", "H302", "H303", "H305", "H306", "H307", "H308", "H309")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight:
    """A test set as it lies before a question: its rows, and who looked at any of them before."""

    ledger: Ledger
    rows: TestRows
    question: str
    learner_keys: Mapping[Asked, str]
    past: tuple[Look, ...]


def check_answer(options: Options, outer: Splits, losses: Sequence[Loss]) -> None:
    """Refuse an answer that these splits and losses cannot give, and a ledger that is none."""
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


def sight_of(*asked: Asked, journal: Any = None, rows: TestRows | None = None) -> Sight | None:
    """The test set of a question before it is answered, or None where no single test set is looked at.

    A journal is the ledger of its studies, unless the options name another; learners are then known by an identity
    that lasts. Several questions on the same rows that are asked at once, as in a comparison, are one: none of their
    learners depends on another's answer.
    """
    first = asked[0]
    outer = first.study.splits[OUTER]
    if len(outer) > 1 and not isinstance(first.learner, FrozenEstimator):
        return None  # cross-validation: the risk of a typical predictor, no test set that a predictor is held to
    ledger, key_of = _ledger_of(first, journal), content_key if journal is None else _lasting_key
    rows = rows_of_task(first.task, outer.held) if rows is None else rows  # a stream knows its own
    digest = blake2b(digest_size=16)
    keys = {one: key_of(clone(one.learner)) for one in asked}
    for one, key in keys.items():
        losses = [(loss.name, loss.scorer) for loss in one.study.reported]
        words = (one.task.fingerprint, outer.fingerprint, one.seed, one.options.answer, *map(key_of, losses))
        digest.update("\x1f".join([key, *map(str, words)]).encode())
    question = digest.hexdigest()
    past = looks_before(ledger, rows, question)
    return Sight(ledger=ledger, rows=rows, question=question, learner_keys=keys, past=past)


def _ledger_of(asked: Asked, journal: Any) -> Ledger:
    if asked.options.ledger is not None:
        own: Ledger = asked.options.ledger
        return own
    return process_ledger() if journal is None else JournalLedger(journal)


def _lasting_key(thing: Any) -> str:
    """A key that is the same in every process, as long as code and libraries are."""
    return identify(thing, "the learner").key.hex()


def content_key(thing: Any) -> str:
    """A key for the content of a learner or scorer: functions and classes of a notebook by their code.

    What cannot be pickled gets a key of its own each time, so that asking again counts as a new look.
    """
    try:
        return blake2b(dumps(thing), digest_size=16).hexdigest()
    except Exception:  # the user's own objects raise what they like when they are pickled
        return uuid4().hex


def tell(facts: Facts, asked: Asked, outcome: Outcome, sight: Sight) -> Facts:
    """The facts as they may be told: intervals that account for earlier looks, coarse answers, rows withheld."""
    answer = parse_answer(asked.options.answer)
    past = EarlierLooks(
        alphabets=tuple(look.price for look in sight.past), rows_shown=any(k.rows_shown for k in sight.past)
    )
    told = {n: disclosed_estimate(r, facts.estimates[n], answer, past) for n, _, r in _records(asked, outcome)}
    estimates = {name: told[name].estimate if name in told else one for name, one in facts.estimates.items()}
    about = {**facts.about, "answer": str(answer), "looks_before": len(sight.past)}
    tables = dict(facts.tables)
    if answer.withholds:
        tables["predictions"] = {}
        tables["folds"] = {**tables["folds"], **_coarse_columns(asked, outcome, answer)}
    kept = [one for one in facts.findings if not (answer.withholds and one.code in FROM_TEST_LOSSES)]
    findings = (*kept, *_findings(told[RISK].status, sight))
    no_model = _against(facts.no_model, sight, withheld=answer.withholds)
    return replace(facts, estimates=estimates, about=about, tables=tables, findings=findings, no_model=no_model)


def _against(reference: Reference | None, sight: Sight, *, withheld: bool) -> Reference | None:
    """The comparison with no model, which tells more than a coarse answer, and holds for a first look alone."""
    if reference is None or withheld:
        return None if reference is None else Reference(reason="The results of single rows are withheld.")
    if not sight.past or reference.value is None:
        return reference
    why = "These test rows were looked at before, and the comparison takes no account of that."
    cleared: dict[str, Any] = dict.fromkeys(("low", "high", "method", "guarantee", "p"))
    return replace(reference, **cleared, verdict=NOT_SHOWN, reason=why)


def looks_of(facts: Facts, asked: Asked, outcome: Outcome, sight: Sight) -> list[Look]:
    """The looks that a question has taken: one a loss that has a value. `facts` are those that are told."""
    answer = parse_answer(asked.options.answer)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    found = []
    for name, loss, record in _records(asked, outcome):
        if np.isnan(record.fold_losses).any():
            continue  # nothing was told
        found.append(
            Look(
                when=when,
                question=sight.question,
                rows=sight.rows,
                learner=_words(facts.about),
                learner_key=sight.learner_keys[asked],
                loss=loss.name,
                answer=str(answer),
                alphabet=alphabet_of(answer, record, right_or_wrong=loss.counts_errors),
                rows_shown=not answer.withholds,
                told=_told_words(facts.estimates[name]),
            )
        )
    return found


def _records(asked: Asked, outcome: Outcome) -> list[tuple[str, Loss, Record]]:
    """Each reported loss with the name of its estimate and what was recorded of it."""
    study = outcome.study
    sizes = trained_sizes(study, study.splits[OUTER])
    return [
        (RISK if number == 0 else f"{RISK}_{loss.name}", loss, test_record(asked.task, outcome, number, sizes))
        for number, loss in enumerate(study.reported)
    ]


def _coarse_columns(asked: Asked, outcome: Outcome, answer: Answer) -> dict[str, Any]:
    """The losses in the table of folds, as coarse as the answer."""
    columns: dict[str, Any] = {}
    for _, loss, record in _records(asked, outcome):
        (value,) = record.fold_losses.tolist()
        if answer.kind == PASS_FAIL:
            columns[loss.name] = [None if np.isnan(value) else "pass" if passes(answer, record, value) else "fail"]
        elif answer.size is not None and not np.isnan(value):
            columns[loss.name] = np.array([loss.sign * rounded(value, answer.size) + 0.0])
    return columns


def _findings(status: str, sight: Sight) -> list[Finding]:
    if status == FIRST:
        return []
    whole = all(look.rows.key == sight.rows.key for look in sight.past)
    which = "these test rows" if whole else "test sets that share rows with this one"
    learners = list(dict.fromkeys(look.learner for look in sight.past))
    named = learners[0] + (", …" if len(learners) > 1 else "")  # a report shows 300 characters
    times = "One earlier look was" if len(sight.past) == 1 else f"{len(sight.past)} earlier looks were"
    seen = f"{times} taken at {which} ({named})"
    way_out = 'test on fresh rows, or let them answer "rounded" or "pass/fail:…" from the first look on.'
    if status == UNBOUNDED:
        text = f"{seen}. No bound covers a learner chosen after them: {way_out} {ESCAPES}"
        return [Finding(code="H402", severity="warning", message=text)]
    text = f"{seen}. The interval is widened, so that it holds for a learner chosen after them. {ESCAPES}"
    found = [Finding(code="H401", severity="warning", message=text)]
    if status == VACUOUS:
        text = f"The earlier looks have used these test rows up, the interval tells next to nothing: {way_out}"
        found.append(Finding(code="H403", severity="warning", message=text))
    return found


def _told_words(estimate: Estimate) -> str:
    """What a look was told: "0.12 (0.05 to 0.2)", or "pass: at most 0.2 (0 to 0.3)"."""
    value = estimate.answer if estimate.value is None else f"{estimate.value:.4g}"
    between = "" if estimate.low is None else f" ({estimate.low:.4g} to {estimate.high:.4g})"
    return f"{value}{between}"


def _words(about: Mapping[str, Any]) -> str:
    if len(about["families"]) > 1:
        text = " | ".join(about["families"])
    else:
        text = str(about["learner"] if about["tuned"] else about["estimators"][0])
    return text if len(text) <= 60 else text[:59] + "…"
