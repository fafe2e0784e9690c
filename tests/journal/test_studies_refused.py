"""Studies that a journal refuses, before any fit and with what has changed; and what a finished one leaves free."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journal_runs import Counted, fits, run, tuned
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import heldout as ho
from heldout.base.errors import IdentityError, JournalChanged, JournalError
from heldout.journal import list_studies, open_journal


def leave_unfinished(data: tuple[Any, Any], journal: Path) -> None:
    run(tuned(), data, journal)
    with open_journal(journal) as store:
        store.write([("UPDATE studies SET state = 'unfinished'", ())])


def test_other_data_are_refused_while_the_study_is_unfinished(data: tuple[Any, Any], journal: Path):
    leave_unfinished(data, journal)
    fits.clear()
    X, y = data[0].copy(), data[1]
    X[7, 1] += 1e-9
    with pytest.raises(JournalChanged, match=r"data: 60 rows × 3 columns, with other contents"):
        run(tuned(), (X, y), journal)
    with pytest.raises(JournalChanged, match=r"data: 60 rows × 3 columns then, 59 rows × 3 columns now"):
        run(tuned(), (X[:-1], y[:-1]), journal)
    assert fits == []
    result = run(tuned(), (X, y), journal, options=ho.Options(journal_anew=True))
    assert result.journal is not None
    assert result.journal.recalled == 0
    assert [study["state"] for study in list_studies(journal)] == ["left", "finished"]


def test_another_library_is_refused_and_its_versions_are_shown(data: tuple[Any, Any], journal: Path, monkeypatch):
    leave_unfinished(data, journal)
    from heldout.journal import keys

    other = {**keys.base_libraries(), "scikit-learn": "0.1"}
    monkeypatch.setattr(keys, "base_libraries", lambda: other)
    monkeypatch.setattr("heldout.journal.identity.library_version", lambda module: ("scikit-learn", "0.1"))
    with pytest.raises(JournalChanged, match=r"library scikit-learn: \d.* then, 0\.1 now"):
        run(tuned(), data, journal)


def test_another_code_is_refused_and_named(data: tuple[Any, Any], journal: Path, monkeypatch):
    leave_unfinished(data, journal)
    from heldout.journal import identity

    real = identity.source_of
    monkeypatch.setattr(identity, "source_of", lambda thing: f"{real(thing)}\n# edited")
    with pytest.raises(JournalChanged, match=r"code: .*journal_runs\.Counted has changed"):
        run(tuned(), data, journal)


def test_a_finished_study_leaves_the_file_free_for_other_data(data: tuple[Any, Any], journal: Path):
    run(tuned(), data, journal)
    result = run(tuned(), (data[0] + 1, data[1]), journal)
    assert result.journal is not None
    assert result.journal.recalled == 0


def test_a_lambda_is_refused_before_any_fit(data: tuple[Any, Any], journal: Path):
    learner = make_pipeline(FunctionTransformer(lambda X: X), Counted())
    with pytest.raises(IdentityError, match=r"the learner 'Pipeline'.steps\[0\]\[1\].func is a lambda"):
        run(learner, data, journal)
    assert fits == []


def test_a_journal_that_cannot_be_written_is_refused_before_any_fit(data: tuple[Any, Any], tmp_path: Path):
    with pytest.raises(JournalError, match="needs a folder that exists"):
        run(tuned(), data, tmp_path / "no" / "study.db")
    assert fits == []


def test_too_small_a_disk_is_refused_before_any_fit(data: tuple[Any, Any], journal: Path, monkeypatch):
    from heldout.journal import study_journal

    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(study_journal.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(JournalError, match=r"may take \d+ MB, and .* has 0 MB free"):
        run(tuned(), data, journal)
    assert fits == []
