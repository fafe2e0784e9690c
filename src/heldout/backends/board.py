"""The board of a worker: what it is at, in a few bytes of a file that its parent maps too.

A pipe would tell it late, or not at all from a worker that is killed.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass
from math import inf
from time import monotonic

_ENTRY = struct.Struct("@QQQdd")  # sequence (odd while it is written), message, call of that message, since, fits
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a worker is at: a call of a message, begun at `since`, worth so many fits.

    `since` is infinite for a call that has ended, while its result is on its way.
    """

    message: int
    call: int
    since: float  # on the monotonic clock, which processes of one machine share
    fits: float


class Board:
    """One entry, written by the worker and read by its parent."""

    def __init__(self, path: str | os.PathLike[str], *, new: bool) -> None:
        flags = os.O_RDWR | (os.O_CREAT | os.O_EXCL if new else 0)
        handle = os.open(path, flags, 0o600)
        try:
            if new:
                os.write(handle, bytes(_ENTRY.size))
            self._page: mmap.mmap | bytearray = mmap.mmap(handle, _ENTRY.size)
        finally:
            os.close(handle)
        self._sequence = 0
        self._at = (0, 0)

    def begin(self, message: int, call: int) -> None:
        """A call begins."""
        self._at = (message, call)
        self.begin_fits(1)

    def begin_fits(self, fits: float) -> None:
        """Within the call: work worth so many fits begins now."""
        self._write(monotonic(), fits)

    def end(self) -> None:
        """The call has ended, and what came of it is on its way."""
        self._write(inf, 1.0)

    def rest(self) -> None:
        """No call is under way."""
        self._write(0.0, 0.0)

    def let_go(self) -> None:
        """In a forked child: write on a page of its own from now on."""
        self._page = bytearray(_ENTRY.size)

    def _write(self, since: float, fits: float) -> None:
        self._sequence += 1
        _ENTRY.pack_into(self._page, 0, self._sequence, *self._at, since, fits)
        self._sequence += 1
        _ENTRY.pack_into(self._page, 0, self._sequence, *self._at, since, fits)

    def read(self) -> Mark | None:
        """What is under way, or None."""
        for _ in range(_TRIES):
            before = _ENTRY.unpack_from(self._page, 0)
            if before[0] % 2 == 0 and before == _ENTRY.unpack_from(self._page, 0):
                break
        sequence, message, call, since, fits = before
        # An odd sequence that stays is that of a worker which died while it wrote: the call is known, the time is not.
        if not since and sequence % 2 == 0:
            return None
        return Mark(message=message, call=call, since=since or monotonic(), fits=fits or 1.0)

    def close(self) -> None:
        if isinstance(self._page, mmap.mmap):
            self._page.close()


_mine: Board | None = None


def take_board(board: Board) -> None:
    """This process is a worker, and this is its board."""
    global _mine
    _mine = board


def begin_fits(fits: float) -> None:
    """Tell the parent that work worth so many fits begins now; outside a worker it does nothing."""
    if _mine is not None:
        _mine.begin_fits(fits)
