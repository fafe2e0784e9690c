"""Reading a journal beside its writer: nothing changed, nothing locked, nobody disturbed; damage told by name."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from heldout.base.errors import JournalError
from heldout.journal import JournalReader, open_journal, read_summaries, reader
from heldout.journal.records import decode, encode
from heldout.journal.schema import checksum, create
from heldout.journal.studies import keep_summary

FIXTURES = Path(__file__).parents[1] / "fixtures"
FIXTURE, SLOW = FIXTURES / "journal-4.db", FIXTURES / "slow_study.py"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def alone(path: Path) -> bool:
    """Whether nothing lies beside the journal."""
    return list(path.parent.iterdir()) == [path]


def test_a_journal_is_read_without_a_byte_of_it_changing(path: Path):
    shutil.copyfile(FIXTURE, path)
    contents = JournalReader(path).contents()
    assert contents.format == 4
    assert [row.state for row in contents.studies] == ["finished", "finished"]
    assert [row.words["families"] for row in contents.studies] == [["SVR"], ["Ridge"]]
    assert [row.key for row in contents.summaries] == [row.key for row in contents.studies]
    assert [row.head["learner"] for row in contents.summaries] == ["SVR", "Ridge"]
    assert contents.damaged == ()
    assert path.read_bytes() == FIXTURE.read_bytes()
    assert alone(path)


def test_a_journal_of_another_format_is_refused_by_its_number_and_left_as_it_is(path: Path):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="has format 2, this heldout reads format 4 alone"):
        JournalReader(path).contents()
    assert path.read_bytes() == before
    assert alone(path)


def test_a_study_without_a_summary_is_listed_and_named(path: Path):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM summaries")
    reader = JournalReader(path)
    contents = reader.contents()
    assert (len(contents.studies), contents.summaries) == (2, ())
    with pytest.raises(JournalError, match="keeps no summary of study"):
        reader.summary(contents.studies[0].key)


def flip(path: Path, content: bytes) -> None:
    raw = bytearray(path.read_bytes())
    at = raw.index(content)
    raw[at + len(content) // 2] ^= 1
    path.write_bytes(bytes(raw))


def test_a_damaged_row_is_left_out_and_named(path: Path):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as connection:
        ((key, content),) = connection.execute("SELECT key, content FROM summaries WHERE id = 2").fetchall()
        ((other, study),) = connection.execute("SELECT key, content FROM studies WHERE id = 1").fetchall()
    flip(path, content[:200])  # the rest lies on pages of its own
    flip(path, study[:200])
    reader = JournalReader(path)
    contents = reader.contents()
    assert contents.damaged == ("studies/1", "summaries/2")
    assert [row.key for row in contents.studies] == [key]
    assert [row.key for row in contents.summaries] == [other]
    with pytest.raises(JournalError, match=r"The summary 2 in .* is damaged\. Run the same command again"):
        reader.summary(key)
    assert set(read_summaries(path)) == {other}


def test_the_file_is_read_again_only_where_it_has_changed(path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copyfile(FIXTURE, path)
    reads = []
    original = JournalReader.read_content
    monkeypatch.setattr(JournalReader, "read_content", lambda self, key: reads.append(key) or original(self, key))
    os.utime(path, (1e9, 1e9))
    reader = JournalReader(path)
    first = reader.contents()
    assert reader.contents() is first
    assert len(reads) == 2
    summary = reader.summary(first.studies[0].key)
    keep_summary(path, first.studies[0].key, {**summary, "findings": [{"severity": "error"}]})
    second = reader.contents()
    assert len(reads) == 4  # the summary above, and the one that is new
    assert reader.contents() is not second  # it is so fresh that its time may not tell of the next change
    assert len(reads) == 4
    marks = {row.key: row.mark for row in second.summaries}
    assert [marks[row.key] == row.mark for row in first.summaries] == [False, True]
    assert {row.key: row.head["findings"] for row in second.summaries}[first.studies[0].key] == {"error": 1}


def test_files_that_are_no_journal_are_refused_in_the_words_of_the_writer(path: Path, tmp_path: Path):
    def refusal(place: Path) -> str:
        with pytest.raises(JournalError) as caught:
            JournalReader(place).contents()
        return str(caught.value)

    def refusal_of_the_writer(place: Path) -> str:
        with pytest.raises(JournalError) as caught, open_journal(place):
            pass
        return str(caught.value)

    assert "There is no journal" in refusal(path)
    assert "is not a file" in refusal(tmp_path)
    path.write_text("age,price\n1,2\n" * 100)
    assert refusal(path) == refusal_of_the_writer(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE studies (a)")
    assert refusal(path) == refusal_of_the_writer(path)
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as later:
        later.execute("PRAGMA user_version = 99")
    assert refusal(path) == refusal_of_the_writer(path)
    assert "has format 99, this heldout reads format 4 alone" in refusal(path)
    assert alone(path)


def test_a_torn_file_is_told_as_damaged_and_left_to_the_writer(path: Path):
    raw = FIXTURE.read_bytes()
    path.write_bytes(raw[: len(raw) // 3])
    with pytest.raises(JournalError, match=r"is damaged .* Run the command that wrote it again"):
        JournalReader(path).contents()
    assert path.read_bytes() == raw[: len(raw) // 3]
    assert alone(path)


def test_a_row_that_is_not_what_we_would_write_is_left_out_and_named(path: Path):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        key, content = connection.execute("SELECT key, content FROM studies WHERE id = 1").fetchone()
        record = decode(content)
        other = encode({**record, "words": {**record["words"], "rows": "<b>many</b>"}})
        connection.execute(
            "UPDATE studies SET content = ?, sum = ? WHERE id = 1", (other, checksum("studies", key, other))
        )
    assert JournalReader(path).contents().damaged == ("studies/1",)


def test_a_table_that_only_looks_like_ours_is_not_asked(path: Path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        create(other)
        other.execute("DROP TABLE summaries")
        endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x FROM n) SELECT * FROM n"
        other.execute(f"CREATE VIEW summaries AS {endless}")
    with pytest.raises(JournalError, match="a table is missing"):
        JournalReader(path).contents()


def test_a_journal_that_is_about_to_be_made_has_no_studies(path: Path):
    path.touch()
    contents = JournalReader(path).contents()
    assert (contents.studies, contents.summaries) == ((), ())
    assert path.read_bytes() == b""


def test_no_lock_is_left_behind(path: Path):
    shutil.copyfile(FIXTURE, path)
    reader = JournalReader(path)
    key = reader.contents().studies[0].key
    reader.summary(key)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert writer.in_transaction
        writer.execute("ROLLBACK")


def test_a_reader_waits_for_a_commit_to_end_and_not_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as writer:
        monkeypatch.setattr(reader, "PATIENCE", 60.0)
        writer.execute("BEGIN EXCLUSIVE")
        ending = threading.Timer(0.4, writer.execute, ["COMMIT"])
        ending.start()
        assert len(JournalReader(path).contents().studies) == 2
        ending.join()
        writer.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(reader, "PATIENCE", 0.1)
        with pytest.raises(JournalError, match="a program is writing a lot"):
            JournalReader(path).contents()
        writer.execute("ROLLBACK")


def test_half_a_commit_of_a_program_that_was_killed_is_left_to_the_next_writer(path: Path, tmp_path: Path):
    shutil.copyfile(FIXTURE, path)
    program = (
        "import os, signal, sqlite3, sys\n"
        "one = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "one.execute('PRAGMA cache_size = 1')\n"
        "one.execute('BEGIN IMMEDIATE')\n"
        "one.execute(\"UPDATE studies SET state = 'half'\")\n"
        "for n in range(300):\n"
        "    row = (bytes([n // 256, n % 256]), bytes(900), b'')\n"
        "    one.execute('INSERT INTO summaries (key, content, sum) VALUES (?, ?, ?)', row)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    files = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert set(files) == {"study.db", "study.db-journal"}
    with pytest.raises(JournalError, match=r"holds half a commit .* Run that program again.* then try again"):
        JournalReader(path).contents()
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == files
    with open_journal(path) as store:
        assert store.notes == []
    contents = JournalReader(path).contents()
    assert [row.state for row in contents.studies] == ["finished", "finished"]
    assert (len(contents.summaries), contents.damaged) == (2, ())


def test_a_program_that_writes_is_not_disturbed_by_one_that_reads_all_the_time(tmp_path: Path):
    words = ["61", "0.02"]
    alone = subprocess.run(
        [sys.executable, SLOW, tmp_path / "alone.db", "61", "0"], capture_output=True, text=True, check=True
    )
    path = tmp_path / "study.db"
    hold = tmp_path / "hold-10"  # no candidate from the tenth on is fitted before there were fifty reads
    hold.touch()
    environment = {**os.environ, "HELDOUT_HOLDS": str(tmp_path)}
    command = [sys.executable, SLOW, path, *words]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    reads, states = 0, set[str]()
    deadline = time.monotonic() + 300
    while writer.poll() is None:
        assert time.monotonic() < deadline
        if path.exists():
            contents = JournalReader(path).contents()  # one that has read nothing yet
            assert contents.damaged == ()
            states |= {row.state for row in contents.studies}
            reads += 1
            if reads > 50 and "unfinished" in states:
                hold.unlink(missing_ok=True)
        else:
            time.sleep(0.01)
    told, errors = writer.communicate()
    assert (writer.returncode, errors) == (0, "")
    assert told == alone.stdout
    assert reads > 50
    assert "unfinished" in states
    assert [row.state for row in JournalReader(path).contents().studies] == ["finished"]
    assert not (tmp_path / "study.db.lock").exists()


def test_reading_in_the_process_that_writes_leaves_its_locks_alone(path: Path):
    with open_journal(path) as store:
        store.put([("cells", bytes(16), b"one")])
        store.flush()
        assert JournalReader(path).contents().studies == ()
        with store.database:
            store.connection.execute("BEGIN IMMEDIATE")
            assert JournalReader(path).contents().studies == ()
            other = f"import sqlite3\nsqlite3.connect({str(path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
            done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
            assert "database is locked" in done.stderr
            store.connection.execute("ROLLBACK")


def test_a_file_that_may_not_be_read_is_refused(path: Path, tmp_path: Path):
    shutil.copyfile(FIXTURE, path)
    path.chmod(0)
    (tmp_path / "closed").mkdir()
    shutil.copyfile(FIXTURE, tmp_path / "closed" / "study.db")
    (tmp_path / "closed").chmod(0)
    for folder in tmp_path.parents:  # the folders of tests are closed to others
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    tmp_path.chmod(0o755)
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            for place in (path, tmp_path / "closed" / "study.db"):
                with pytest.raises(JournalError, match=r"cannot be read: .* Name a file that you may read"):
                    JournalReader(place).contents()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
