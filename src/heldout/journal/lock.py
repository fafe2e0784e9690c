"""Locks a journal for one program; the lock names its owner, and ends when the owner ends."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from heldout.base.errors import JournalError, JournalInUse

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # a byte past the owner's words, which others must be able to read

    def _try_lock(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        # A record lock belongs to this process alone: a child that it forks neither has it nor keeps it alive.
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_held: set[Path] = set()  # by this process: opening and closing such a file again would release its lock


class JournalLock:
    """A lock held from `take` until `release`, or until this process ends in any way.

    It is a lock of the operating system on a small file next to the journal, so it ends with its owner.
    """

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_name(journal.name + ".lock")
        self._journal = journal
        self._handle: int | None = None

    def take(self) -> None:
        """Take the lock, or raise JournalInUse with the owner's name."""
        while True:
            handle = self._open()
            try:
                _try_lock(handle)
            except OSError:
                owner = _read_owner(handle)
                os.close(handle)
                raise JournalInUse(
                    f"The journal {str(self._journal)!r} is in use by {owner}. Wait until that program ends, or name "
                    "another journal."
                ) from None
            if self._still_there(handle):
                break
            os.close(handle)  # its owner removed it after we opened it and before we locked it
        self._handle = handle
        _held.add(self.path)
        try:
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, json.dumps(this_program()).encode())
        except OSError as error:
            self.release()
            raise self._refusal(error) from error

    def release(self) -> None:
        """Release the lock. The file is removed first, so that nobody locks a file that is about to be removed."""
        if self._handle is None:
            return
        with suppress(OSError):
            self.path.unlink()
        os.close(self._handle)
        self._handle = None
        _held.discard(self.path)

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> JournalError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        way_out = "Make room there" if full else "Name a file in a folder where you may write"
        return JournalError(
            f"The journal {str(self._journal)!r} cannot be written: {error.strerror} ({str(self.path)!r}). {way_out}."
        )

    def _still_there(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.path))
        except FileNotFoundError:
            return False


def is_held(journal: Path) -> bool:
    """Return whether a program that may still run has the journal open. The lock itself is not touched."""
    path = JournalLock(journal).path
    if path in _held:
        return True
    try:
        owner = json.loads(path.read_bytes()[:4096])
        return owner["host"] != socket.gethostname() or may_live(owner["pid"])
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        return True  # the file exists, but does not (yet) name its owner


def may_live(pid: int) -> bool:
    """Return whether a process with this number may be running on this machine."""
    return 0 < pid < 1 << 31 and bool(psutil.pid_exists(pid))


def this_program() -> dict[str, Any]:
    """Describe this process to other programs."""
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "program": Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python",
    }


def _read_owner(handle: int) -> str:
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        owner = json.loads(os.read(handle, 4096))
        return f"process {owner['pid']} ({owner['program']} on {owner['host']}, since {owner['started']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "a program that has not given its name yet"
