"""What studies found, kept in the journal: a report is made from it with no data, no fit and no computing."""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from typing import Any

from heldout.base.errors import JournalError
from heldout.base.words import clipped
from heldout.journal.code import digest
from heldout.journal.schema import checksum
from heldout.journal.store import open_journal

COMPARISON = "comparison"
MOST_BYTES = 1 << 26  # of a summary unpacked: past this it is no summary of ours, whatever a stranger packed
_LENGTH = struct.Struct("<I")
_LONGEST = 500  # characters of a text in the head
_OF_AN_ESTIMATE = ("loss", "value", "low", "high", "level", "method", "guarantee", "greater_is_better", "answer")
_NONSENSE = (struct.error, zlib.error, ValueError, TypeError, RecursionError)


def keep_summary(
    journal: str | PathLike[str], key: bytes, summary: Mapping[str, Any], *, studies: Iterable[bytes] = ()
) -> None:
    """Keep the summary of a study under its key; the newest replaces the older.

    `studies` are the keys of those that a comparison compares. `summary` is plain values, figures included.
    """
    with open_journal(journal) as store:
        content = packed(summary, studies=studies)
        statement = "INSERT OR REPLACE INTO summaries (key, content, sum) VALUES (?, ?, ?)"
        store.write([(statement, (key, content, checksum("summaries", key, content)))])


def comparison_key(studies: Iterable[bytes]) -> bytes:
    """The key of a comparison of these studies, whatever their order."""
    return digest(COMPARISON, *sorted(studies))


def packed(summary: Mapping[str, Any], *, studies: Iterable[bytes] = ()) -> bytes:
    """A summary as bytes: first the little that a list of studies shows, so that the rest stays packed."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    head = _json({"kept": now, "studies": [one.hex() for one in studies], **head_of(summary)})
    return b"".join([_LENGTH.pack(len(head)), head, zlib.compress(_json(summary), 6)])


def head_in(content: bytes) -> dict[str, Any]:
    """What a list of studies shows of a summary; a JournalError where the bytes hold none."""
    try:
        head, _ = _parts(content)
        return _dict_of(head)
    except _NONSENSE as error:
        raise JournalError(f"These bytes are no summary of a study: {error}") from error


def summary_in(content: bytes) -> dict[str, Any]:
    """The summary itself."""
    try:
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(_parts(content)[1], MOST_BYTES)
        if not unpacking.eof:
            raise ValueError(f"it is cut off, or longer than {MOST_BYTES:,} bytes")
        return _dict_of(whole)
    except _NONSENSE as error:
        raise JournalError(f"These bytes are no summary of a study: {error}") from error


def head_of(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The little of a summary that a list of studies shows."""
    about, kind = summary["about"], summary["kind"]
    ranking: Sequence[Mapping[str, Any]] = summary["ranking"] if kind == COMPARISON else ()
    learner = ", ".join(str(one["name"]) for one in ranking) if ranking else about.get("learner")
    best = summary.get("risk") if kind != COMPARISON else next(iter(ranking), None)
    return {
        "kind": kind,
        "version": summary["version"],
        "learner": _short(learner),
        "test": _short(about.get("test")),
        "rows": about.get("rows"),
        "columns": about.get("columns"),
        "fingerprint": _short(about.get("fingerprint")),
        "best": _short(best["name"]) if ranking and best is not None else None,
        "risk": None if best is None else {name: _short(best.get(name)) for name in _OF_AN_ESTIMATE},
        "findings": dict(Counter(_short(one["severity"]) for one in summary["findings"])),
        "seconds": summary["seconds"]["total"] if "seconds" in summary else None,
        "sentence": _short(summary["verdict"]["sentence"]) if "verdict" in summary else None,
    }


def _parts(content: bytes) -> tuple[bytes, bytes]:
    (length,) = _LENGTH.unpack_from(content)
    if length > len(content) - _LENGTH.size:
        raise ValueError("it is cut off")
    return content[_LENGTH.size : _LENGTH.size + length], content[_LENGTH.size + length :]


def _short(value: Any) -> Any:
    return clipped(value, _LONGEST) if isinstance(value, str) else value


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def _dict_of(raw: bytes) -> dict[str, Any]:
    found = json.loads(raw)
    if not isinstance(found, dict):
        raise ValueError("not a table of names and values")
    return found
