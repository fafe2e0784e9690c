"""What programs, machines and clocks do to a journal: kills at bad moments, forks, threads, odd files, full disks."""

from __future__ import annotations

import datetime
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from heldout.base.errors import JournalError
from heldout.journal import lock
from heldout.journal.lock import JournalLock
from heldout.journal.store import Store, open_journal

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
FIXTURES = Path(__file__).parents[1] / "fixtures"
FIXTURE = FIXTURES / "journal-4.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def in_a_child(act: Callable[[], object]) -> int:
    """How a forked child ends that does this: 0 well, 1 with an error, 2 refused, else by a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        act()
        os._exit(0)
    except JournalError:
        os._exit(2)
    finally:
        os._exit(1)


def killed_after(statements: int, path: Path) -> None:
    """Open and use the journal, and be killed in place of the next of its statements."""
    left = iter(range(statements))

    class Killed(sqlite3.Connection):
        def execute(self, *asked: Any) -> Any:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().execute(*asked)

    connect = sqlite3.connect
    sqlite3.connect = lambda *given, **named: connect(*given, **{"factory": Killed, **named})  # type: ignore[assignment]
    with open_journal(path) as store:
        store.put([("cells", key(0), b"kept")])


def test_a_program_that_is_killed_while_it_makes_the_journal_leaves_nothing_in_the_way(path: Path):
    ends = []
    while 0 not in ends:
        ends.append(in_a_child(partial(killed_after, len(ends), path)))
        with open_journal(path) as store:
            assert store.notes == []
            store.put([("cells", key(1), b"goes on")])
            assert list(store.rows("cells", [key(1)])) == [(key(1), b"goes on")]
        path.unlink()
    assert ends.count(-signal.SIGKILL) == len(ends) - 1 > 20


def test_half_a_commit_is_undone(path: Path, tmp_path: Path):
    with open_journal(path) as store:
        store.put([("cells", key(1), b"kept")])

    def die() -> None:
        one = sqlite3.connect(path, isolation_level=None)
        one.execute("PRAGMA cache_size = 1")
        one.execute("BEGIN IMMEDIATE")
        for _ in range(300):
            one.execute("INSERT INTO cells (key, content, sum) VALUES (?, ?, ?)", (bytes(16), bytes(900), bytes(8)))
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(die) == -signal.SIGKILL
    assert (tmp_path / "study.db-journal").exists()
    with open_journal(path) as store:
        assert store.notes == []
        assert store.query("SELECT count(*) FROM cells") == [(1,)]


def test_a_file_that_is_not_ours_is_left_alone_though_a_rollback_file_lies_beside_it(path: Path, tmp_path: Path):
    path.write_text("age,price\n" * 1000)
    (tmp_path / "study.db-journal").write_bytes(b"something")
    with pytest.raises(JournalError, match="is no journal of heldout"), open_journal(path):
        pass
    assert path.read_text() == "age,price\n" * 1000


def test_a_pipe_and_a_device_are_no_files(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.db")
    for name in (tmp_path / "pipe.db", Path("/dev/null")):
        with pytest.raises(JournalError, match=r"is not a file|cannot be written"), open_journal(name):
            pass


def test_a_file_that_may_not_be_written_is_refused_before_anything(path: Path, tmp_path: Path):
    with open_journal(path) as store:
        store.put([("cells", key(1), b"kept")])
    path.chmod(0o444)
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:  # the folders of tests are closed to others
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)

    def open_as_somebody_else() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        with pytest.raises(JournalError, match="cannot be written: attempt to write a readonly database"):
            Store(path)

    assert in_a_child(open_as_somebody_else) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["study.db"]


def fill_the_last_page(path: Path) -> None:
    with open_journal(path) as store:
        store.put([("cells", key(1), b"kept")])
        store.flush()
        pages = store.query("PRAGMA page_count")[0][0]
        store.query(f"PRAGMA max_page_count = {pages}")
        store.put([("cells", key(2), bytes(range(256)) * 100)])


def test_a_full_disk_at_the_commit_ends_the_study_and_keeps_what_was_committed(path: Path):
    with pytest.raises(JournalError, match=r"cannot grow: .*full.* stays readable"):
        fill_the_last_page(path)
    with open_journal(path) as store:
        assert [one for one, _ in store.all_rows("cells")] == [key(1)]


def test_a_lock_that_cannot_be_written_for_lack_of_room_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_room(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lock.os, "write", no_room)
    with pytest.raises(JournalError, match=r"No space left on device .* Make room there"):
        JournalLock(tmp_path / "study.db").take()
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_dead_program_says_nothing_whoever_has_its_number_now(tmp_path: Path):
    dead = {"pid": os.getppid(), "host": "here", "started": "2000-01-01T00:00:00+00:00", "program": "dead"}
    (tmp_path / "study.db.lock").write_text(str(dead).replace("'", '"'))
    with open_journal(tmp_path / "study.db") as store:
        store.put([("cells", key(1), b"taken over")])
        assert str(dead["pid"]) not in (tmp_path / "study.db.lock").read_text()
    with open_journal(tmp_path / "study.db") as store:
        assert list(store.rows("cells", [key(1)])) == [(key(1), b"taken over")]


def test_threads_of_one_program_share_a_journal(path: Path):
    errors: list[BaseException] = []

    def write(start: int) -> None:
        try:
            with open_journal(path) as store:
                for number in range(start, start + 200):
                    store.put([("cells", key(number), b"x" * 50)])
                    if number % 20 == 0:
                        list(store.rows("cells", map(key, range(start, number))))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(1_000 * number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with open_journal(path) as store:
        assert store.query("SELECT count(*) FROM cells") == [(1_200,)]


def test_a_forked_child_is_refused_and_takes_nothing_with_it(path: Path):
    def ask() -> None:
        with open_journal(path):
            pass

    with open_journal(path) as store:
        for number in range(300):
            store.put([("cells", key(number), b"x" * 500)])
            if number % 30 == 0:
                assert in_a_child(ask) == 2
                assert in_a_child(store.connection.close) == 0  # as a child that ends tidies up what it inherited
        assert in_a_child(ask) == 2  # the parent still has its lock
    assert in_a_child(ask) == 0
    with open_journal(path) as store:
        assert store.notes == []
        assert store.query("SELECT count(*) FROM cells") == [(300,)]


def test_a_clock_that_goes_back_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch):
    class Back(datetime.datetime):
        year_now = 2030

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            cls.year_now -= 1
            return datetime.datetime(cls.year_now, 1, 1, tzinfo=tz)

    monkeypatch.setattr(lock, "datetime", Back)
    for number in range(3):
        with open_journal(path) as store:
            store.put([("steps", key(1), b"%d" % number)])
            assert list(store.rows("steps", [key(1)])) == [(key(1), b"0")]


def test_damaged_looks_are_named_though_they_cannot_be_made_again(path: Path):
    with open_journal(path) as store:
        store.put([("looks", key(1), b"a look"), ("looks", key(2), b"another")])
        store.flush()
        store.write([("UPDATE looks SET content = 'text' WHERE id = 1", ())])
        assert store.all_rows("looks") == [(key(2), b"another")]
        (note,) = store.notes
    assert "1 damaged rows" in note
    assert "looks/1" in note


def test_a_damaged_journal_of_a_later_format_is_refused_and_not_rescued(path: Path):
    raw = bytearray(FIXTURE.read_bytes())
    raw[60:64] = (7).to_bytes(4, "big")
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(JournalError, match="has format 7"), open_journal(path):
        pass
    assert path.read_bytes() == raw[: len(raw) // 2]


def test_a_journal_is_opened_and_closed_without_a_byte_of_it_changing(path: Path):
    path.write_bytes(FIXTURE.read_bytes())
    with open_journal(path) as store:
        assert isinstance(store, Store)
    assert path.read_bytes() == FIXTURE.read_bytes()
