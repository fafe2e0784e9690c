"""Faults 6, 8 to 13 and 15: what can happen to a program and its journal.

Each case returns what the user saw, and raises where that is not what the list of faults promises.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from ground import TEST, Tricky, X, cells_in, evaluate, expect, finding, small_disk, wait_for, y
from sigkill import held_and_killed, sigkill_resume

import heldout as ho
from heldout.base.errors import HeldoutError, JournalChanged, JournalError, JournalInUse

HERE = Path(__file__).parent


def nested(folder: Path | None = None, *, seconds: float = 0.0, count: int = 12) -> ho.Tuned:
    """A learner of some fits; `folder` counts them."""
    learner = Tricky(seconds=seconds, folder="" if folder is None else str(folder))
    return ho.Tuned(learner, {"scale": [0.5 + 0.05 * i for i in range(count)]}, validation=ho.KFold(3))


def refusal(act: Callable[[], Any], kind: type[HeldoutError]) -> str:
    """What the user is told when this is refused."""
    try:
        act()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def counting(folder: Path) -> Path:
    place = folder / "fits"
    place.mkdir()
    return place


def fits_in(place: Path) -> int:
    return len(list(place.iterdir()))


def program_killed(folder: Path) -> str:
    """The whole program is killed at random moments and started again."""
    found = sigkill_resume(50, folder=folder)
    expect(found["same"] and not found["acknowledged_twice"], str(found))
    return (
        f"{found['kills']} kills, {found['unfinished']} of them before the end: the same saved result, byte for byte "
        f"apart from times; {found['cells']} cells, {found['lost']} fits lost, under way or not yet committed, "
        "no kept cell computed twice"
    )


def killed_at_random(folder: Path) -> str:
    """The same with fewer kills of a smaller study."""
    found = sigkill_resume(3, candidates=6, folder=folder)
    expect(found["same"] and not found["acknowledged_twice"], str(found))
    expect(found["cells"] == 6 * 4 * 5 + 5 and found["fits"] >= found["cells"], str(found))
    return f"the same saved result, byte for byte apart from times; {found['lost']} fits lost, none kept computed twice"


def killed_and_resumed(folder: Path) -> str:
    """The program is killed twice in the middle of a fit, and started again."""
    found = held_and_killed(folder, times=2)
    expect(found["same"] and not found["acknowledged_twice"], str(found))
    first, last = found["kept"]
    expect(0 < first < last < found["cells"], str(found))
    expect(found["fits"] == found["cells"] - last, f"not what the journal lacks: {found}")
    return (
        f"the same saved result, byte for byte apart from times; of {found['cells']} cells {last} were in the journal "
        f"after the second kill, and the last run computed the other {found['fits']}"
    )


def disk_full(folder: Path) -> str:
    """The disk of the journal fills up while the study runs."""
    alone = evaluate(nested(), backend="inline")
    with small_disk(folder / "disk", "1m") as disk:
        journal, ballast = disk / "study.db", disk / "ballast"

        def fill() -> None:
            while cells_in(journal) < 20:
                time.sleep(0.005)
            try:
                with ballast.open("wb", buffering=0) as file:
                    while True:
                        file.write(bytes(4096))
            except OSError:
                return

        threading.Thread(target=fill, daemon=True).start()
        learner = nested(seconds=0.02)
        told = refusal(lambda: evaluate(learner, backend="inline", journal=journal), JournalError)
        shutil.copy(journal, folder / "copy.db")
        with closing(sqlite3.connect(folder / "copy.db")) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
            rows = connection.execute("SELECT count(*) FROM cells").fetchone()[0]
        expect(sound == "ok" and rows > 0, f"{sound}, {rows} rows")
        ballast.unlink()
        result = evaluate(learner, backend="inline", journal=journal)
    expect(result.risk == alone.risk, "the numbers changed")
    return f"{told} | {rows} rows readable; with room again the same call went on to the same risk"


def readonly_folder(folder: Path) -> str:
    """The folder of the journal cannot be written."""
    place = counting(folder)
    with small_disk(folder / "disk", "1m", readonly=True) as disk:
        learner = nested(place)
        told = refusal(lambda: evaluate(learner, backend="inline", journal=disk / "study.db"), JournalError)
    expect(fits_in(place) == 0, "something was fitted first")
    return f"before the first fit: {told}"


def two_programs(folder: Path) -> str:
    """A second program asks for a journal that is in use; then its owner is killed."""
    journal = folder / "study.db"
    (folder / "fits").write_text("")
    owner = subprocess.Popen(
        [sys.executable, str(HERE / "nested_program.py"), str(journal), str(folder / "saved")],
        env={**os.environ, "HELDOUT_FITS": str(folder / "fits"), "HELDOUT_HOLD_AFTER": "3"},
    )
    try:
        wait_for(lambda: (folder / "fits").stat().st_size, "a first fit")
        told = refusal(lambda: evaluate(nested(), backend="inline", journal=journal), JournalInUse)
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    expect(f"process {owner.pid}" in told, told)
    started = time.monotonic()
    evaluate(nested(), backend="inline", journal=journal)
    return f"{told} | once its owner was killed it was taken over within {time.monotonic() - started:.1f} s"


def flipped_byte(folder: Path) -> str:
    """A byte of a row changes on the disk, which SQLite does not notice."""
    place, journal = counting(folder), folder / "study.db"
    learner = nested(place)
    whole = evaluate(learner, backend="inline", journal=journal)
    before = fits_in(place)
    with closing(sqlite3.connect(journal)) as connection:
        content = connection.execute("SELECT content FROM cells WHERE id = 5").fetchone()[0]
    raw = bytearray(journal.read_bytes())
    at = raw.index(content) + len(content) - 3
    raw[at] ^= 0x10
    journal.write_bytes(raw)
    with closing(sqlite3.connect(journal)) as connection:
        expect(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "SQLite noticed")
    result = evaluate(learner, backend="inline", journal=journal)
    expect(result.risk == whole.risk, "the numbers changed")
    return f"{finding(result, 'H502')} | {fits_in(place) - before} fits of {before} computed again, the same risk"


def torn_tail(folder: Path) -> str:
    """The end of the file is missing."""
    place, journal = counting(folder), folder / "study.db"
    learner = nested(place)
    whole = evaluate(learner, backend="inline", journal=journal)
    before = fits_in(place)
    raw = journal.read_bytes()
    journal.write_bytes(raw[: len(raw) * 2 // 3 + random.Random(0).randrange(4096)])
    result = evaluate(learner, backend="inline", journal=journal)
    expect(result.risk == whole.risk, "the numbers changed")
    expect(list(folder.glob("study.db.*-1")), "no backup")
    return f"{finding(result, 'H502')} | {fits_in(place) - before} fits of {before} computed again, the same risk"


def other_version(folder: Path) -> str:
    """A journal of a later format and of an earlier one, and the kept journal of this one."""
    journal = folder / "study.db"
    evaluate(nested(), backend="inline", journal=journal)
    for version in (2, 99):
        with closing(sqlite3.connect(journal)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        told = refusal(lambda: evaluate(nested(), backend="inline", journal=journal), JournalError)
        expect(f"has format {version}, this heldout reads format" in told, told)
    return f"{told} | {_kept_fixture(folder)}"


def _kept_fixture(folder: Path) -> str:
    from heldout.journal import list_studies

    fixtures = sorted((HERE.parent / "fixtures").glob("journal-*.db"))
    expect(fixtures, "no journal is kept")
    read = []
    for fixture in fixtures:
        copy = folder / fixture.name
        shutil.copy(fixture, copy)
        read.append(f"{fixture.name}: {len(list_studies(copy))} studies read")
    return ", ".join(read)


def changed_since(folder: Path) -> str:
    """The data, then the learner's code, change before a study is finished."""
    journal = folder / "study.db"
    cut = evaluate(nested(seconds=0.01), backend="inline", journal=journal, options=ho.Options(timeout=0.3))
    expect(cut.risk.value is None, "the study was too short to be cut")
    other = np.array(y)
    other[7] += 1.0
    told = refusal(
        lambda: ho.evaluate(
            nested(seconds=0.01), X, other, test=TEST, progress=False, backend="inline", journal=journal
        ),
        JournalChanged,
    )
    return f"data: {told} | code: {_changed_code(folder)}"


def _changed_code(folder: Path) -> str:
    program, journal = folder / "own.py", folder / "code.db"
    source = (HERE / "nested_program.py").read_text().replace("jobs=1,", "jobs=1, options=OPTIONS,")
    cut = source.replace("FIT_SECONDS =", "OPTIONS = ho.Options(timeout=0.5)\nFIT_SECONDS =")
    program.write_text(cut)
    environment = {**os.environ, "HELDOUT_FITS": str(folder / "fits")}
    command = [sys.executable, str(program), str(journal), str(folder / "saved")]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    program.write_text(cut.replace("(1 - self.shrink)", "(2 - self.shrink)"))
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    told = ended.stderr.partition("JournalChanged: ")[2]
    expect(ended.returncode and "code: __main__.Marked has changed" in told, ended.stderr)
    return told


def same_answer_twice(folder: Path) -> str:
    """A learner that is not deterministic answers a cell a second time, and differs."""
    journal = folder / "study.db"
    asked: dict[str, Any] = {"test": TEST, "progress": False, "backend": "inline", "journal": journal}
    first = ho.evaluate(Tricky(), X, y, **asked)
    with closing(sqlite3.connect(journal)) as connection:
        rows = connection.execute("SELECT key, content FROM cells").fetchall()
    _commit_again(journal, rows)
    again = ho.evaluate(Tricky(), X, y, **asked)
    expect(again.risk == first.risk, "the later answer was taken")
    return finding(again, "H501")


def _commit_again(journal: Path, rows: list[tuple[bytes, bytes]]) -> None:
    """Commit each answer once more with another loss, as a second program that raced for the cell would have."""
    from heldout.journal import open_journal
    from heldout.journal.records import decode, encode

    with open_journal(journal) as store:
        for side, content in rows:
            record = decode(content)
            record["losses"] = record["losses"] + 1e-9
            store.put([("cells", side, encode(record))])
        store.flush()
