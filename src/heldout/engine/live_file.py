"""Live progress: a small file beside the journal, from which other programs read the progress of a running study."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from heldout.base.words import clipped
from heldout.engine.progress import Progress
from heldout.journal.lock import may_live, this_program
from heldout.journal.studies import NAMES
from heldout.journal.study_journal import JournalUse

FIRST_AFTER = 0.7  # seconds: shorter studies leave no trace
EVERY = 0.5  # seconds between two writings, where something has changed
AT_LEAST_EVERY = 5.0  # seconds, even without change: a program with a long fit must not look dead
SILENT = 60.0  # seconds after which a program that wrote nothing counts as stopped
_MOST_BYTES, _LONGEST = 1 << 16, 500
_writing = threading.Lock()  # studies in two threads of one program may share a journal


class ProgressSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of a study, as its program last wrote it. A file with values of other types is ignored."""

    study: str  # its key, in hexadecimal digits
    words: dict[str, Any]  # learner, test, rows, columns, fingerprint, candidates, name, target, source
    pid: int
    host: str
    started: str
    stage: int
    done: int  # cells
    total: int
    failed: int
    share: float  # of the work, as the cost model sees it
    seconds: float  # so far
    seconds_left: float | None
    failure: str | None  # the last one
    stopped: str | None = None  # why nothing moves any more, None while it runs

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values."""
        return msgspec.structs.asdict(self)


def live_path(journal: str | os.PathLike[str]) -> Path:
    """Return the path of the progress file of this journal."""
    path = Path(journal).expanduser().resolve()
    return path.with_name(path.name + ".live")


@contextmanager
def publish_progress(use: JournalUse, progress: Progress) -> Iterator[None]:
    """Write the progress of the study to its file, from a background thread, until the body ends."""
    path, stop = live_path(use.path), threading.Event()
    facts = {"study": use.study.hex(), "words": _study_in_words(use.words), **this_program()}
    thread = threading.Thread(
        target=write_until_stopped, args=(path, facts, progress, stop), name="heldout-live", daemon=True
    )
    with suppress(RuntimeError):  # no thread can be started: the study runs without live progress
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if thread.ident is not None:
            thread.join()
        with suppress(OSError):
            path.unlink(missing_ok=True)


def read_live(journal: str | os.PathLike[str]) -> ProgressSnapshot | None:
    """Read the progress of the study that runs, or stopped, on this journal; None if there is no readable file."""
    try:
        with live_path(journal).open("rb") as file:
            raw, touched = file.read(_MOST_BYTES), os.fstat(file.fileno()).st_mtime
        snapshot = msgspec.convert(json.loads(raw), ProgressSnapshot)
    except (OSError, ValueError, RecursionError):
        return None  # no file, or not ours: a running program writes it again within seconds
    silent = max(0.0, time.time() - touched)
    stopped = _why_stopped(snapshot, silent)
    if stopped is not None:
        return msgspec.structs.replace(snapshot, stopped=stopped)
    left = None if snapshot.seconds_left is None else max(0.0, snapshot.seconds_left - silent)
    return msgspec.structs.replace(snapshot, seconds=snapshot.seconds + silent, seconds_left=left, stopped=None)


def write_until_stopped(path: Path, facts: Mapping[str, Any], progress: Progress, stop: threading.Event) -> None:
    """Write the progress to its file whenever it has changed, and otherwise every few seconds, until told to stop."""
    last, told = -AT_LEAST_EVERY, dict[str, Any]()
    wait = FIRST_AFTER
    while not stop.wait(wait):
        wait = EVERY
        now = progress.facts()
        counts = {name: now[name] for name in ("stage", "done", "total", "failed")}
        if counts != told or time.monotonic() - last >= AT_LEAST_EVERY:
            last, told = time.monotonic(), counts
            # A full disk or a folder that went away must not end a study that only wanted to be seen; what matters
            # goes into the journal, which does say so.
            with suppress(OSError):
                replace_file(path, {**facts, **now})


def replace_file(path: Path, facts: Mapping[str, Any]) -> None:
    """Replace the file atomically, so that nobody reads half of it."""
    part = path.with_name(path.name + ".part")
    with _writing:
        part.unlink(missing_ok=True)
        # O_EXCL makes a new file: never one, or a link, that somebody else has put there.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(facts, allow_nan=False).encode("ascii"))
        part.replace(path)


def _study_in_words(words: Mapping[str, Any]) -> dict[str, Any]:
    names = ("test", "rows", "columns", "fingerprint", "candidates", *NAMES)
    return {"learner": clipped(words["learner_words"], _LONGEST), **{name: words[name] for name in names}}


def _why_stopped(snapshot: ProgressSnapshot, silent: float) -> str | None:
    if snapshot.host == socket.gethostname() and not may_live(snapshot.pid):
        return f"Its program (process {snapshot.pid}) has ended without a word. The same command goes on from there."
    if silent > SILENT:
        return (
            f"Nothing was heard of its program (process {snapshot.pid} on {snapshot.host}) for {silent / 60:,.0f} "
            "minutes. If it is no longer there, the same command goes on from there."
        )
    return None
