"""The lock of a journal names its owner and dies with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.base.errors import JournalError, JournalInUse
from heldout.journal.lock import JournalLock, is_held
from heldout.journal.store import open_journal

OWNER = """
import sys, time
from pathlib import Path
from heldout.journal.lock import JournalLock
JournalLock(Path(sys.argv[1])).take()
print("taken", flush=True)
time.sleep(600)
"""


def test_the_second_program_is_refused_with_the_owner_and_a_dead_owner_holds_nothing(tmp_path: Path):
    journal = tmp_path / "study.db"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(journal)], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "taken\n"
        with pytest.raises(JournalInUse, match=rf"in use by process {owner.pid} \(.* on .*, since \d"):
            JournalLock(journal).take()
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    lock = JournalLock(journal)
    lock.take()
    assert f'"pid": {os.getpid()}' in lock.path.read_text()
    lock.release()


def test_others_can_tell_whether_a_program_has_the_journal(tmp_path: Path):
    journal = tmp_path / "study.db"
    assert not is_held(journal)
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(journal)], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        owner.stdout.readline()
        assert is_held(journal)
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    assert (tmp_path / "study.db.lock").exists()
    assert not is_held(journal)
    (tmp_path / "study.db.lock").write_text('{"pid": 1, "host": "another.host"}')
    assert is_held(journal)
    for unsaid in ("", "{", "[]", '{"pid": "one"}'):
        (tmp_path / "study.db.lock").write_text(unsaid)
        assert is_held(journal)


def test_to_ask_does_not_let_go_what_this_program_holds(tmp_path: Path):
    journal = tmp_path / "study.db"
    lock = JournalLock(journal)
    lock.take()
    assert is_held(journal)
    taking = OWNER.replace("time.sleep(600)", "")
    done = subprocess.run([sys.executable, "-c", taking, journal], capture_output=True, text=True, check=False)
    assert "JournalInUse" in done.stderr
    lock.release()
    assert not is_held(journal)


def test_a_lock_that_is_let_go_leaves_no_file(tmp_path: Path):
    lock = JournalLock(tmp_path / "study.db")
    lock.take()
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_parts_of_one_program_share_a_journal(tmp_path: Path):
    with open_journal(tmp_path / "study.db") as one:
        with open_journal(f"{tmp_path}/../{tmp_path.name}/study.db") as other:
            assert one is other
        assert one.query("SELECT count(*) FROM cells") == [(0,)]
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_lock_that_cannot_be_made_is_an_error_with_the_way_out(tmp_path: Path):
    (tmp_path / "study.db.lock").mkdir()
    with pytest.raises(JournalError, match=r"cannot be written: .*Name a file in a folder where you may write"):
        JournalLock(tmp_path / "study.db").take()
