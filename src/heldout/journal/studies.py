"""The studies of a journal: what each asked, its splits, its state, and the summary of its result."""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from os import PathLike
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict as fields_of

from heldout.base.errors import Argument, JournalChanged, JournalError, Sentence
from heldout.base.words import clipped
from heldout.journal.identity import digest
from heldout.journal.keys import SearchKeys, Setting, differences, loss_identity, setting_of
from heldout.journal.records import decode, encode
from heldout.journal.schema import checksum, is_whole
from heldout.journal.store import Store, open_journal
from heldout.splits.drawn import Recipe, Splits
from heldout.study.in_words import learner_words
from heldout.study.study import EVERYWHERE, OUTER, TEST, Study
from heldout.task.task import Task

COMPARISON = "comparison"
NAMES = ("name", "target", "source")  # of a study, for people
MOST_BYTES = 1 << 26  # of an unpacked summary: a longer one is not ours, and may be an attack
_LENGTH = struct.Struct("<I")
_LONGEST = 500  # characters of a text in the head
_NONSENSE = (struct.error, zlib.error, ValueError, TypeError, RecursionError)
MOST_NUMBERS = 1 << 22  # row numbers of a study's splits: past this only the outer ones are stored and compared
UNFINISHED, FINISHED, LEFT = "unfinished", "finished", "left"


class StudyWords(Struct):
    """Description of a study in a journal: learner, losses, splits, seed and data."""

    learner: list[str]
    families: list[str]
    candidates: int
    tuned: bool
    losses: list[str]
    test: str | None
    validation: str | None
    seed: int
    rows: int
    columns: int | None
    fingerprint: str
    beside: bool = False  # an extra study, for the interval or the learning curve of another
    race: str | None = None
    learner_words: str | None = None
    name: str | None = None
    target: str | None = None
    source: str | None = None


class RiskHead(Struct):
    """The risk in the head of a summary. Infinite numbers are stored as text."""

    loss: str | None
    value: float | str | None
    low: float | str | None
    high: float | str | None
    level: float | None
    method: str | None
    guarantee: str | None
    greater_is_better: bool | None
    answer: str | None


class SummaryHead(Struct):
    """The head of a summary: the few values that a list of studies shows."""

    kept: str
    studies: list[str]
    kind: str
    version: int
    learner: str | None
    test: str | None
    rows: int | None
    columns: int | None
    fingerprint: str | None
    best: str | None
    risk: RiskHead | None
    findings: dict[str, int]
    seconds: float | None
    sentence: str | None
    name: str | None = None
    target: str | None = None
    source: str | None = None


def keep_summary(
    journal: str | PathLike[str], key: bytes, summary: Mapping[str, Any], *, studies: Iterable[bytes] = ()
) -> None:
    """Keep the summary of a study under its key; the newest replaces the older.

    `studies` are the keys of the studies in a comparison. `summary` holds plain values, figures included.
    """
    with open_journal(journal) as store:
        store.replace([("summaries", key, packed(summary, studies=studies))])


def comparison_key(studies: Iterable[bytes]) -> bytes:
    """Return the key of a comparison of these studies, whatever their order."""
    return digest(COMPARISON, *sorted(studies))


def packed(summary: Mapping[str, Any], *, studies: Iterable[bytes] = ()) -> bytes:
    """Pack a summary: first the head for lists of studies, then the whole, compressed."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    head = _json({"kept": now, "studies": [key.hex() for key in studies], **head_of(summary)})
    return b"".join([_LENGTH.pack(len(head)), head, zlib.compress(_json(summary), 6)])


def head_in(content: bytes) -> dict[str, Any]:
    """Read the head of a packed summary. Raise a JournalError if the bytes are no summary."""
    try:
        head: dict[str, Any] = json.loads(_parts(content)[0])
        msgspec.convert(head, SummaryHead)
    except _NONSENSE as error:
        raise JournalError(f"These bytes are no summary of a study: {error}") from error
    return head


def summary_in(content: bytes) -> dict[str, Any]:
    """Read a packed summary. Raise a JournalError if the bytes are no summary."""
    try:
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(_parts(content)[1], MOST_BYTES)
        if not unpacking.eof:
            raise ValueError(f"it is cut off, or longer than {MOST_BYTES:,} bytes")
        return msgspec.convert(json.loads(whole), dict[str, Any])
    except _NONSENSE as error:
        raise JournalError(f"These bytes are no summary of a study: {error}") from error


def words_in(content: bytes) -> dict[str, Any] | None:
    """Read the description of a study from its row; None if it does not fit `StudyWords`."""
    try:
        words: dict[str, Any] = decode(content)["words"]
        msgspec.convert(words, StudyWords)
    except (JournalError, *_NONSENSE, KeyError):
        return None
    return words


def head_of(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the head of a summary: the few values that a list of studies shows."""
    about, kind = summary["about"], summary["kind"]
    ranking: Sequence[Mapping[str, Any]] = summary["ranking"] if kind == COMPARISON else ()
    learner = (
        ", ".join(str(rank["name"]) for rank in ranking)
        if ranking
        else about.get("learner_words") or about.get("learner")
    )
    best = summary.get("risk") if kind != COMPARISON else next(iter(ranking), None)
    return {
        "kind": kind,
        "version": summary["version"],
        "learner": _short(learner),
        **{name: _short(about.get(name)) for name in ("test", "rows", "columns", "fingerprint", *NAMES)},
        "best": _short(best["name"]) if ranking and best is not None else None,
        "risk": None if best is None else {name: _short(best.get(name)) for name in RiskHead.__struct_fields__},
        "findings": dict(Counter(_short(finding["severity"]) for finding in summary["findings"])),
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


class StudyEntry:
    """Writes the entry of a study in a journal: its key, its state, and what its numbers depend on."""

    def __init__(self, study: Study, task: Task, search: SearchKeys) -> None:
        self._splits = _stored_splits(study)
        losses = [loss_identity(loss) for loss in (*study.reported, *study.search.losses)]
        self.words = words_of(study, task)
        recipes = sorted(f"{name}: {splits.recipe.words}" for name, splits in self._splits.items())
        names = [loss.name for loss in study.reported]
        panels = sorted({panel.level for panel in study.panels})
        raced = [] if study.race is None else [repr(study.race)]
        self.likeness = digest(
            "study", search.likeness, *(loss.structure for loss in losses), *map(str, (names, recipes, panels, *raced))
        )
        self.setting: Setting = setting_of(task, self._splits, [*search.parts, *losses])
        self.key = digest(self.likeness, json.dumps(self.setting, sort_keys=True))
        self.number = 0

    def begin(self, store: Store, *, anew: bool) -> None:
        """Find the study in the journal or add it. Raise if its data, code or libraries have changed, unless `anew`."""
        known = store.query("SELECT id, state FROM studies WHERE key = ?", (self.key,))
        if known:
            self.number = int(known[0][0])
            self._keep_splits(store)
            return
        alike = store.query(
            "SELECT id, key, content, sum FROM studies WHERE likeness = ? AND state = ? ORDER BY id DESC",
            (self.likeness, UNFINISHED),
        )
        alike = [row[:3] for row in alike if is_whole("studies", *row[1:])]
        if alike and not anew:
            self._refuse(store, decode(alike[0][2]))
        content = encode({"words": self.words, "setting": self.setting})
        now = datetime.now(UTC).isoformat(timespec="seconds")
        statement = "INSERT INTO studies (key, content, sum, likeness, state, started) VALUES (?, ?, ?, ?, ?, ?)"
        values = (self.key, content, checksum("studies", self.key, content), self.likeness, UNFINISHED, now)
        left = [("UPDATE studies SET state = ? WHERE id = ?", (LEFT, number)) for number, *_ in alike]
        store.write([*left, (statement, values)])
        self.number = int(store.query("SELECT id FROM studies WHERE key = ?", (self.key,))[0][0])
        self._keep_splits(store)

    def _keep_splits(self, store: Store) -> None:
        """Store missing splits: a kill, or damage, may have left a study without its splits."""
        known = store.query("SELECT key FROM splits WHERE key BETWEEN ? AND ?", keys_of_splits(self.number))
        there = {key for (key,) in known}
        drawn = {_splits_key(self.number, name): splits for name, splits in self._splits.items()}
        missing = [("splits", key, encode(splits_record(splits))) for key, splits in drawn.items() if key not in there]
        if missing:
            store.replace(missing)

    def end(self, store: Store, *, seconds: float) -> None:
        """Record that the study is answered, and how long it took the first time.

        It becomes finished when all users of the journal are done, since extra studies, such as for an interval, belong
        to it.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        statement = "UPDATE studies SET state = ?, ended = ?, seconds = ? WHERE id = ? AND state != ?"
        store.when_done.append((statement, (FINISHED, now, seconds, self.number, FINISHED)))

    def _refuse(self, store: Store, before: Mapping[str, Any]) -> None:
        lines = "\n".join(f"  {line}" for line in differences(before["setting"], self.setting))
        raise JournalChanged(
            f"The journal {str(store.path)!r} holds this study unfinished, and since then has changed:\n{lines}\n"
            "Its answers would not fit those that are missing.",
            Sentence(
                "Put back what has changed and run it again, or begin anew: with another journal, or {}.",
                Argument("journal_anew", True, of="Options"),
            ),
        )


def words_of(study: Study, task: Task) -> dict[str, Any]:
    """Describe a study in plain values."""
    search = study.search
    outer = study.splits.get(OUTER) if study.of_level(TEST) else None
    words = StudyWords(
        learner=[" ".join(repr(family.estimator).split())[:_LONGEST] for family in search.families],
        families=[family.name for family in search.families],
        candidates=len(search),
        tuned=search.tuned,
        losses=[loss.name for loss in study.reported],
        test=None if outer is None else outer.recipe.words,
        validation=repr(search.validation)[:_LONGEST] if search.tuned else None,
        seed=search.seed,
        rows=task.size,
        columns=task.n_columns,
        fingerprint=task.fingerprint,
        beside=outer is None or outer.recipe.smaller,
        race=None if study.race is None else study.race.kind,
        learner_words=learner_words(search),
        name=study.name,
        target=task.target,
        source=task.source,
    )
    return fields_of(words)


def splits_record(splits: Splits) -> dict[str, Any]:
    """Turn drawn splits into plain data: the row numbers themselves."""
    arrays = {name: getattr(splits, name) for name in ("rows", "held", "held_cuts", "train", "train_cuts")}
    return {"recipe": asdict(splits.recipe), **arrays}


def splits_in(content: bytes) -> Splits:
    """Read drawn splits from the content of their row."""
    record = decode(content)
    recipe = Recipe(**record.pop("recipe"))
    arrays: dict[str, Any] = {side: rows if rows is None else rows.astype(np.intp) for side, rows in record.items()}
    return Splits(recipe=recipe, **arrays)


def _splits_key(study: int, name: str) -> bytes:
    return f"{study}/{name}".encode()


def keys_of_splits(study: int) -> tuple[bytes, bytes]:
    """Return the range of keys of the splits of a study: a key is its number, a slash, and the name of the splits."""
    return f"{study}/".encode(), f"{study}0".encode()  # "0" follows "/"


def _stored_splits(study: Study) -> Mapping[str, Splits]:
    every = {name: drawn for name, drawn in study.splits.items() if name != EVERYWHERE}
    numbers = sum(len(drawn.held) + (0 if drawn.train is None else len(drawn.train)) for drawn in every.values())
    return every if numbers <= MOST_NUMBERS else {name: study.splits[name] for name in {OUTER} & every.keys()}
