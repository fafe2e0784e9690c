"""The ledger: what is one look, which rows are the same rows, and that another keeper of looks can take its place."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.audit import Ledger, Look, MemoryLedger, TestRows, list_looks
from heldout.audit.ledger import looks_before, process_ledger
from heldout.audit.test_rows import rows_of_task
from heldout.task import declare

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), rng.normal(size=60)


def task(X=X, y=y, classification=False):
    return declare(X, y, classification=classification)


def rows(*numbers, **data):
    return rows_of_task(task(**data), np.array(numbers))


def look(question="q", where=None, **more):
    known = {
        "when": "2026-01-01T00:00:00+00:00",
        "question": question,
        "rows": where if where is not None else rows(0, 1, 2),
        "learner": "Ridge()",
        "learner_key": "r",
        "loss": "squared",
        "answer": "full",
        "alphabet": inf,
        "rows_shown": True,
    }
    return Look(**(known | more))


def test_a_memory_keeps_what_a_ledger_keeps():
    assert isinstance(MemoryLedger(), Ledger)
    assert isinstance(process_ledger(), Ledger)
    assert not isinstance(object(), Ledger)


def test_looks_are_kept_in_order_and_the_same_question_once():
    ledger = MemoryLedger()
    ledger.record([look("first")])
    ledger.record([look("second"), look("second", loss="absolute"), look("second", learner_key="k")])
    ledger.record([look("first", when="later")])
    kept = [(one.question, one.loss, one.learner_key, one.when[:4]) for one in ledger.looks()]
    assert kept == [
        ("first", "squared", "r", "2026"),
        ("second", "squared", "r", "2026"),
        ("second", "absolute", "r", "2026"),
        ("second", "squared", "k", "2026"),
    ]


def test_one_shared_row_is_a_look():
    ledger = MemoryLedger()
    ledger.record([look("near", rows(0, 1, 2)), look("far", rows(10, 11))])
    assert [one.question for one in ledger.looks_at(rows(2, 3, 4))] == ["near"]
    assert [one.question for one in ledger.looks_at(rows(2, 10))] == ["near", "far"]
    assert ledger.looks_at(rows(5)) == ()


def test_looks_before_a_question_are_those_before_it_was_first_asked():
    ledger = MemoryLedger()
    for question in ("a", "b", "c", "b"):
        ledger.record([look(question)])
    assert [one.question for one in looks_before(ledger, rows(0), "b")] == ["a"]
    assert [one.question for one in looks_before(ledger, rows(0), "new")] == ["a", "b", "c"]


def test_equal_sets_of_rows_are_kept_once():
    ledger = MemoryLedger()
    ledger.record([look("a", rows(0, 1)), look("b", rows(0, 1))])
    first, second = ledger.looks()
    assert first.rows is second.rows


def test_new_features_do_not_make_a_new_test_set():
    wider = np.c_[X, X**2]
    assert rows(0, 1, 2).shared_with(rows(2, 3, X=wider)) == 1


def test_rows_in_a_table_of_their_own_are_known_by_their_content():
    some = np.array([7, 3, 50])
    assert rows(0, 1, 2, X=X[some], y=y[some]).shared_with(rows(3, 4, 50)) == 2


def test_other_labels_do_not_make_other_rows():
    assert rows(0, 1, 2).shared_with(rows(0, 1, 3, y=y + 1)) == 2
    assert rows(0, 1, 2).shared_with(rows(0, 1, 3, y=rng.normal(size=60))) == 2


def test_equal_rows_of_one_table_are_told_apart_by_their_number():
    flat = np.zeros((60, 2))
    labels = rng.integers(0, 2, 60)
    labels[[0, 1]] = 0, 1
    made = {"X": flat, "y": labels, "classification": True}
    assert rows(0, 1, **made).shared_with(rows(2, 3, **made)) == 0
    assert rows(0, 1, **made).shared_with(rows(1, 2, **made)) == 1


@pytest.mark.parametrize("labels", [np.repeat([0, 1], 40), np.repeat([1, 0], 40), np.tile([0, 1], 5), np.arange(80)])
def test_a_target_that_tells_too_little_names_no_table(labels):
    data = [np.random.default_rng(seed).normal(size=(len(labels), 2)) for seed in (1, 2)]
    first, second = (rows_of_task(declare(part, labels, classification=False), np.arange(5)) for part in data)
    assert set(first.tables).isdisjoint(second.tables)
    assert first.shared_with(second) == 0
    assert first.shared_with(first) == 5


@settings(deadline=None)
@given(st.sets(st.integers(0, 59), min_size=1), st.sets(st.integers(0, 59), min_size=1))
def test_sharing_is_symmetric_and_counts_the_rows(some, others):
    first, second = rows(*some), rows(*others)
    assert first.shared_with(second) == second.shared_with(first) == len(some & others)
    assert (first.key == second.key) == (some == others)


def test_shown_rows_cost_more_than_any_alphabet():
    assert look(alphabet=2.0).price == inf
    assert look(alphabet=2.0, rows_shown=False).price == 2.0


def test_the_list_of_looks_is_plain():
    ledger = MemoryLedger()
    ledger.record([look(), look("b", alphabet=2.0, answer="pass/fail:0.2", rows_shown=False)])
    first, second = list_looks(ledger)
    assert first["alphabet"] is None
    assert first["rows"] == 3
    assert (second["alphabet"], second["answer"], second["rows_shown"]) == (2.0, "pass/fail:0.2", False)
    assert list_looks() == []


def test_rows_are_values_that_cannot_be_confused():
    made = rows(0, 1)
    assert isinstance(made, TestRows)
    assert replace(made).key == made.key
    assert len(made) == 2
