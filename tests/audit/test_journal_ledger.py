"""The ledger of a journal: looks last, and going on with a study is no look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.audit.ledger import JournalLedger, Ledger, MemoryLedger, list_looks, process_ledger
from heldout.base.errors import JournalError
from heldout.journal.records import encode
from heldout.journal.store import open_journal


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + rng.normal(size=80) > 0).astype(int)


def look(data: tuple[Any, Any], journal: Path, neighbours: int, **options: Any) -> ho.Result:
    learner = KNeighborsClassifier(neighbours)
    question = {"test": ho.Holdout(0.3), "journal": journal, "jobs": 1, "progress": False, "checks": "none"}
    return ho.evaluate(learner, *data, options=ho.Options(**options), **question)


def test_it_is_a_ledger(tmp_path: Path):
    assert isinstance(JournalLedger(tmp_path / "study.db"), Ledger)


def test_looks_last_beyond_the_file_being_closed_and_asking_again_is_no_look(data: tuple[Any, Any], tmp_path: Path):
    journal = tmp_path / "study.db"
    first = look(data, journal, 1)
    second = look(data, journal, 3)
    again = look(data, journal, 1)
    assert [finding.code for finding in second.findings] == ["H402"]
    assert again.findings == first.findings == ()
    looks = list_looks(JournalLedger(journal))
    assert [one["learner"] for one in looks] == [
        "KNeighborsClassifier(n_neighbors=1)",
        "KNeighborsClassifier(n_neighbors=3)",
    ]
    assert {one["rows"] for one in looks} == {24}
    assert process_ledger().looks() == ()


def test_coarse_answers_are_priced_from_the_journal(data: tuple[Any, Any], tmp_path: Path):
    journal = tmp_path / "study.db"
    look(data, journal, 1, answer="rounded")
    widened = look(data, journal, 3, answer="rounded")
    assert [finding.code for finding in widened.findings] == ["H401"]
    (one, other) = JournalLedger(journal).looks()
    assert one.alphabet == other.alphabet > 1
    assert one.rows.key == other.rows.key


def test_a_ledger_of_the_users_own_goes_first(data: tuple[Any, Any], tmp_path: Path):
    own = MemoryLedger()
    look(data, tmp_path / "study.db", 1, ledger=own)
    assert len(own.looks()) == 1
    assert JournalLedger(tmp_path / "study.db").looks() == ()


def test_only_looks_that_share_rows_are_found(data: tuple[Any, Any], tmp_path: Path):
    journal = tmp_path / "study.db"
    look(data, journal, 1)
    ledger = JournalLedger(journal)
    (one,) = ledger.looks()
    assert ledger.looks_at(one.rows) != ()
    rng = np.random.default_rng(2)
    other = look((rng.normal(size=(80, 3)), rng.integers(0, 2, 80)), journal, 1)
    assert other.findings == ()
    assert len(ledger.looks()) == 2


def test_rows_are_known_from_the_journal_after_their_table_was_changed(data: tuple[Any, Any], tmp_path: Path):
    journal = tmp_path / "study.db"
    look(data, journal, 1)
    X, y = data
    order = np.random.default_rng(3).permutation(80)
    changed = look((np.c_[X, X[:, 0] ** 2][order] * 5 + 1, np.where(y == 1, "no", "yes")[order]), journal, 3)
    assert [finding.code for finding in changed.findings] == ["H402"]


def test_a_ledger_of_an_older_version_is_refused_and_the_answers_are_not(data: tuple[Any, Any], tmp_path: Path):
    journal = tmp_path / "study.db"
    old = {"table": "ab", "numbers": np.arange(3), "content": np.arange(3, dtype=np.uint64)}  # as version 1 kept rows
    with open_journal(journal) as store:
        store.put([("look_rows", b"ab", encode(old))])
    with pytest.raises(JournalError, match=r"'study.db' has version 1, this heldout reads 2, .* Name another journal"):
        look(data, journal, 1)
    assert look(data, journal, 1, ledger=MemoryLedger()).findings == ()
    learner = KNeighborsClassifier(1)
    assert ho.evaluate(learner, *data, test=ho.KFold(3), journal=journal, jobs=1, progress=False).risk.n == 80
