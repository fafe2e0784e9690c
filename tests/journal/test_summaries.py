"""Summaries in the journal: kept under their study's key, the newest alone, whole or refused."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import JournalError
from heldout.journal import JournalReader, comparison_key, keep_summary, open_journal, read_summaries, studies
from heldout.journal.records import encode
from heldout.journal.studies import head_in, head_of, packed, summary_in, words_in

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e[/red]\x1b[31m\n$\\frac{$\ud800" + "n" * 10_000
KEY = bytes(range(16))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def summary_of(learner: str = "Ridge", value: float | None = 0.25, **changes: Any) -> dict[str, Any]:
    """The least of a summary that a list of studies asks for."""
    estimate = {"name": "risk", "loss": "squared", "value": value, "low": 0.1, "high": "inf", "level": 0.95}
    estimate |= {"method": "corrected t", "guarantee": "heuristic", "greater_is_better": False, "answer": None}
    made = {
        "version": 2,
        "kind": "result",
        "about": {"learner": learner, "test": "5-fold", "rows": 60, "columns": 3, "fingerprint": "ab" * 16},
        "verdict": {"sentence": "It is good."},
        "risk": estimate,
        "findings": [{"code": "H1", "severity": "warning", "message": "one"}] * 2,
        "seconds": {"total": 1.5},
    }
    return {**made, **changes}


def test_a_summary_comes_back_as_it_was_and_the_newest_replaces_the_older(path: Path):
    keep_summary(path, KEY, summary_of(value=0.5))
    keep_summary(path, bytes(16), summary_of("another"))
    keep_summary(path, KEY, summary_of(value=0.25))
    found = read_summaries(path)
    assert found == {KEY: summary_of(value=0.25), bytes(16): summary_of("another")}
    with open_journal(path) as store:
        assert store.query("SELECT count(*) FROM summaries") == [(2,)]


def test_the_summary_of_a_study_is_kept_under_the_key_that_its_journal_knows_it_by(path: Path):
    X, y = (values[:60] for values in load_diabetes(return_X_y=True))
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), journal=path, jobs=1, progress=False)
    assert result.journal is not None
    whole = result.summary(figures=True)
    keep_summary(path, result.journal.study, whole)
    with open_journal(path) as store:
        assert store.query("SELECT key FROM studies") == [(result.journal.study,)]
    assert read_summaries(path) == {result.journal.study: json.loads(json.dumps(whole))}


def test_texts_of_any_kind_come_back_and_a_list_has_no_more_than_their_beginning(path: Path):
    keep_summary(path, KEY, summary_of(HOSTILE))
    (found,) = read_summaries(path).values()
    assert found["about"]["learner"] == HOSTILE
    with open_journal(path) as store:
        ((_, content),) = store.all_rows("summaries")
    head = head_in(content)
    assert head["learner"] == HOSTILE[:499] + "…"
    assert len(content) < 3_000


def test_the_head_holds_what_a_list_shows():
    head = head_of(summary_of())
    assert head["risk"]["value"] == 0.25
    assert head["risk"]["high"] == "inf"
    assert head["findings"] == {"warning": 2}
    assert head["seconds"] == 1.5
    assert (head["kind"], head["best"], head["rows"], head["columns"]) == ("result", None, 60, 3)
    ranking = [{**summary_of()["risk"], "name": name, "value": value} for name, value in (("b", 0.1), ("a", 0.2))]
    about = {"test": "5-fold", "rows": 60, "fingerprint": "ab"}
    compared = {"version": 2, "kind": "comparison", "about": about, "ranking": ranking, "findings": []}
    head = head_of(compared)
    assert (head["learner"], head["best"], head["risk"]["value"]) == ("b, a", "b", 0.1)
    assert (head["columns"], head["seconds"]) == (None, None)


def test_a_comparison_has_a_key_of_its_own_whatever_the_order_of_its_studies(path: Path):
    first, second = bytes(16), KEY
    assert comparison_key([first, second]) == comparison_key([second, first])
    assert len({comparison_key([first]), comparison_key([first, second]), first, second}) == 4
    content = packed(summary_of(), studies=[first, second])
    assert head_in(content)["studies"] == ["00" * 16, KEY.hex()]


def test_what_is_no_number_of_json_is_refused_and_nothing_is_kept(path: Path):
    with pytest.raises(ValueError, match="Out of range"):
        keep_summary(path, KEY, summary_of(value=float("nan")))
    assert read_summaries(path) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xff\xff\xff{}",
        b"\x02\x00\x00\x00[]" + zlib.compress(b"[]"),
        b"\x02\x00\x00\x00[]" + zlib.compress(b'{"a": 1}')[:-3],
        b"\x08\x00\x00\x00" + b"[" * 8 + zlib.compress(b"[" * 100_000),
    ],
)
def test_bytes_that_are_no_summary_are_refused(content: bytes):
    for read in (head_in, summary_in):
        with pytest.raises(JournalError, match="no summary of a study"):
            read(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"kind": None},
        {"about": {"learner": ["Ridge"]}},
        {"about": {"rows": "<b>many</b>"}},
        {"about": {"columns": 2.5}},
        {"risk": {"value": [0.5]}},
        {"risk": {"greater_is_better": "no"}},
        {"seconds": {"total": "1.5"}},
        {"verdict": {"sentence": 1}},
    ],
    ids=str,
)
def test_a_head_with_a_value_of_a_wrong_type_is_refused_and_left_out(path: Path, changes: dict[str, Any]):
    with pytest.raises(JournalError, match="no summary of a study"):
        head_in(packed(summary_of(**changes)))
    keep_summary(path, KEY, summary_of(**changes))
    keep_summary(path, bytes(16), summary_of())
    contents = JournalReader(path).contents()
    assert contents.damaged == ("summaries/1",)
    assert [row.key for row in contents.summaries] == [bytes(16)]


@pytest.mark.parametrize("whole", [[], "text", 1, None])
def test_a_summary_that_is_no_object_is_refused(whole: Any):
    with pytest.raises(JournalError, match="no summary of a study"):
        summary_in(b"\x02\x00\x00\x00{}" + zlib.compress(json.dumps(whole).encode()))


WORDS: dict[str, Any] = {
    "learner": ["Ridge()"], "families": ["Ridge"], "candidates": 3, "tuned": True, "losses": ["squared"], "seed": 0,
    "test": "5-fold", "validation": None, "rows": 60, "columns": 3, "fingerprint": "ab" * 16, "race": None,
}  # fmt: skip


WRONG: dict[str, Any] = {
    "learner": "Ridge", "families": [1], "candidates": "3", "tuned": 1, "losses": None, "seed": None, "test": 5,
    "rows": "<b>many</b>", "columns": 2.5, "fingerprint": ["ab"], "race": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_words_of_a_study_with_a_value_of_a_wrong_type_are_left_out(name: str):
    assert words_in(encode({"words": WORDS})) == WORDS
    assert words_in(encode({"words": {**WORDS, name: WRONG[name]}})) is None


@pytest.mark.parametrize("record", [{}, {"words": None}, {"words": {}}, [], "words", None])
def test_a_record_without_words_is_left_out(record: Any):
    assert words_in(encode(record)) is None


def test_a_summary_that_unpacks_to_more_than_any_has_is_refused(monkeypatch: pytest.MonkeyPatch):
    content = packed(summary_of("x" * 100_000))
    assert len(content) < 2_000
    assert summary_in(content)["about"]["learner"] == "x" * 100_000
    monkeypatch.setattr(studies, "MOST_BYTES", 50_000)
    with pytest.raises(JournalError, match="longer than 50,000 bytes"):
        summary_in(content)


def test_a_journal_that_cannot_be_written_says_so(tmp_path: Path):
    with pytest.raises(JournalError, match="needs a folder that exists"):
        keep_summary(tmp_path / "no" / "study.db", KEY, summary_of())
    (tmp_path / "other.db").write_text("age,price\n" * 50)
    with pytest.raises(JournalError, match="is no journal"):
        keep_summary(tmp_path / "other.db", KEY, summary_of())
