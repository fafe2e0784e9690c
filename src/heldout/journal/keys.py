"""Makes the keys of cells, steps, losses and studies, and describes the setting (data, code, libraries) of a study."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.environment import environment
from heldout.journal.identity import PLAIN_KINDS, Identity, digest, identify
from heldout.kernels.step import Held, Plain, Step, Training, Work, sides_of
from heldout.losses import Loss
from heldout.planner.share_fits import train_keys
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Tables
from heldout.task.task import Task

Setting = dict[str, Any]  # JSON values
_DISPLAY = ("display", "print_changed_only")  # of scikit-learn's configuration: these change no number
_FORMAT = "heldout-answer-1"
CANDIDATE_BYTES = 16


@cache
def cpu_type() -> str:
    """Return the processor type. On another type, numbers may differ in their last bits."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return f"{platform.machine()}, {line.partition(':')[2].strip()}"
    except OSError:
        pass  # not Linux
    return ", ".join(dict.fromkeys(filter(None, (platform.machine(), platform.processor()))))


@cache
def base_libraries() -> dict[str, str]:
    """Return the versions of the libraries that every number depends on."""
    return {name: version for name, version in environment().items() if name != "machine"}


def setting_of(task: Task, splits: Mapping[str, Splits], parts: Iterable[Identity]) -> Setting:
    """Collect what the numbers of a study depend on: data, splits, code, libraries and processor."""
    code: dict[str, str] = {}
    libraries = dict(base_libraries())
    for part in parts:
        code.update(part.code)
        libraries.update(part.libraries)
    return {
        "data": {"fingerprint": task.fingerprint, "rows": task.size, "columns": task.n_columns},
        "splits": {name: drawn.fingerprint for name, drawn in splits.items()},
        "code": dict(sorted(code.items())),
        "libraries": dict(sorted(libraries.items())),
        "cpu": cpu_type(),
    }


def differences(before: Setting, now: Setting) -> list[str]:
    """Describe the differences between two settings, one line each."""
    lines = []
    old, new = before["data"], now["data"]
    if old != new:
        sizes = f"{_size(old)} then, {_size(new)} now"
        lines.append(f"data: {sizes}" if _size(old) != _size(new) else f"data: {_size(new)}, with other contents")
    elif before["splits"] != now["splits"]:
        names = [name for name, drawn in now["splits"].items() if before["splits"].get(name) != drawn]
        lines.append(
            f"splits: other rows were drawn for {', '.join(names[:3]) or 'some parts'}. A splitter of your own needs "
            "a random_state."
        )
    for name in sorted({*before["libraries"], *now["libraries"]}):
        was, is_ = before["libraries"].get(name, "not used"), now["libraries"].get(name, "not used")
        if was != is_:
            lines.append(f"library {name}: {was} then, {is_} now")
    lines += [
        f"code: {name} has changed"
        if name in before["code"] and name in now["code"]
        else f"code: {name} is new or gone"
        for name in sorted({*before["code"], *now["code"]})
        if before["code"].get(name) != now["code"].get(name)
    ]
    if before["cpu"] != now["cpu"]:
        lines.append(f"processor: {before['cpu']} then, {now['cpu']} now")
    return lines


def _size(data: Mapping[str, Any]) -> str:
    return f"{data['rows']:,} rows" + ("" if data["columns"] is None else f" × {data['columns']:,} columns")


def keyed_by_cell(step: Step) -> bool:
    """Return whether the answers of a step depend on each cell alone.

    This holds for steps of the tier `identical`, except for kernels that answer whole blocks, which are kept by step.
    """
    return step.tier == "identical" and not step.spreads


def unanswered(step: Step, tables: Tables, *, asides: bool = True) -> Step | None:
    """Return the step without the candidates whose answers are all known; None if nothing is left.

    With `asides=False`, answers that only intervals need are disregarded.
    """
    candidates = np.array(step.candidates)
    done = np.ones(len(candidates), dtype=bool)
    for held in sides_of(step.trainings):
        if asides or held.panel not in tables.asides:
            table = tables[held.panel]
            done &= table.answered[candidates - table.candidates.start, held.part - table.parts.start]
    if done.all() or not done.any() or not keyed_by_cell(step):
        return None if done.all() else step
    left = tuple(candidates[~done].tolist())
    return replace(step, candidates=left, fits=ceil(step.fits * len(left) / len(step.candidates)))


class SearchKeys:
    """Keys of a learner: of its families, of each candidate, and of the choice among them."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.families = [identify(family.estimator, f"the learner {family.name!r}") for family in search.families]
        self.rest = identify(
            (search.validation, search.choose, search.final, search.simplest, search.error_score), "Tuned(…)"
        )
        self._values: dict[int, Identity] = {}
        self.parts: list[Identity] = [*self.families, self.rest]  # all that the setting of the study must name
        self.candidates, self._structures = self._candidate_keys()

    @property
    def likeness(self) -> bytes:
        """Key of the learner's names and values, whatever its code and libraries."""
        names = [family.structure for family in self.families]
        return digest(*names, self.rest.structure, self._structures, str(self._search.seed))

    def _candidate_keys(self) -> tuple[NDArray[np.uint8], bytes]:
        """Return the key of each candidate, one row of bytes each; and one hash of the names and values of all."""
        keys = bytearray()
        structures = b""
        for family, identity in zip(self._search.families, self.families, strict=True):
            for params in family.candidates:
                values = [(name.encode(), self._identity(name, value)) for name, value in params.items()]
                keys += digest(identity.key, *(part for name, value in values for part in (name, value.key)))
                structures = digest(structures, *(part for name, value in values for part in (name, value.structure)))
        return np.frombuffer(bytes(keys), dtype=np.uint8).reshape(-1, CANDIDATE_BYTES), structures

    def _identity(self, name: str, value: Any) -> Identity:
        """Identity of a value of the space. That of an object is cached by id, since the space keeps it alive."""
        if type(value) in PLAIN_KINDS:
            return identify(value, name)
        found = self._values.get(id(value))
        if found is None:
            found = self._values[id(value)] = identify(value, f"the value of {name!r}")
            self.parts.append(found)
        return found


class StudyKeys:
    """The keys of a study's cells and steps."""

    def __init__(self, work: Work, search: SearchKeys) -> None:
        self._work = work
        self.candidates = search.candidates
        config = {name: value for name, value in work.config.items() if name not in _DISPLAY}
        machine = (sorted(base_libraries().items()), cpu_type(), sys.byteorder)
        words = identify((machine, config), "scikit-learn's configuration").key
        self._base = digest(_FORMAT, work.task.fingerprint, str(work.search.seed), words)
        self._trains: dict[str, list[bytes]] = {}
        self._helds: dict[str, list[bytes]] = {}

    def sides(self, training: Training) -> list[bytes]:
        """Return the keys of a training's held-out sides; each depends on data, training rows and held-out rows."""
        trained = [self._train(ref.splits)[ref.part] for ref in training.trains]
        base = digest(self._base, b"average" if training.averaged else b"single", *trained)
        return [digest(base, self._held(held.splits)[held.part]) for held in training.answers]

    def step(self, step: Step) -> bytes:
        """Return the key of a step: kernel, tier, candidates, and every training with its held-out sides, in order."""
        places = StepPanels(step)
        parts = [self._base, step.kernel.encode(), step.tier.encode(), str(step.threads).encode()]
        parts.append(self.candidates[list(step.candidates)].tobytes())
        for piece in step.pieces:
            if isinstance(piece, Plain):
                trains, helds = self._train(piece.splits), self._held(piece.splits)
                parts_of_piece = slice(piece.parts.start, piece.parts.stop)
                panel = places.panels.index(piece.panel)
                first = piece.parts.start - places.starts[piece.panel]
                parts.append(digest(f"plain {panel} {first}", *trains[parts_of_piece], *helds[parts_of_piece]))
                continue
            for training in piece:
                where = [f"{places.panels.index(h.panel)} {h.part - places.starts[h.panel]}" for h in training.answers]
                parts.append(digest(";".join(where), *self.sides(training)))
        return digest(*parts)

    def _train(self, name: str) -> list[bytes]:
        if name not in self._trains:
            self._trains[name] = [_as_bytes(key) for key in train_keys(self._work.splits[name], self._work.task)]
        return self._trains[name]

    def _held(self, name: str) -> list[bytes]:
        if name not in self._helds:
            splits = self._work.splits[name]
            rows = np.ascontiguousarray(splits.held, dtype="<i8")
            cuts = splits.held_cuts.tolist()
            self._helds[name] = [digest(rows[a:b].tobytes()) for a, b in pairwise(cuts)]
        return self._helds[name]


class StepPanels:
    """Numbers the panels and parts of a step in order, so that its record holds no names of one study."""

    def __init__(self, step: Step) -> None:
        self.helds: dict[str, Held] = {}  # one of each panel
        self.starts: dict[str, int] = {}
        for piece in step.pieces:
            trainings = piece[:1] if isinstance(piece, Plain) else piece  # neighbouring parts of one panel, in order
            for held in sides_of(trainings):
                self.helds.setdefault(held.panel, held)
                self.starts[held.panel] = min(held.part, self.starts.get(held.panel, held.part))
        self.panels = list(self.helds)

    def held(self, panel: str, part: int) -> Held:
        return self.helds[panel]._replace(part=part)


class CandidateLookup:
    """Looks up the numbers of candidates by their keys; equal candidates share a key, and each is found."""

    def __init__(self, keys: NDArray[np.uint8]) -> None:
        self._numbers: dict[bytes, list[int]] = {}
        for number, key in enumerate(keys):
            self._numbers.setdefault(key.tobytes(), []).append(number)

    def find(self, keys: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the candidates with these keys, and the index of each among `keys`.

        >>> study = np.arange(48, dtype=np.uint8).reshape(3, 16)
        >>> CandidateLookup(study).find(study[[2, 0]] | np.array([[0], [128]], dtype=np.uint8))
        (array([2]), array([0]))
        """
        found = [(one, place) for place, key in enumerate(keys) for one in self._numbers.get(key.tobytes(), ())]
        candidates, places = np.array(found, dtype=np.intp).reshape(-1, 2).T
        return candidates, places


def loss_keys(losses: Mapping[str, Sequence[Loss]]) -> dict[str, list[str]]:
    """Return the keys of the losses of each level."""
    return {level: [loss_identity(loss).key[:8].hex() for loss in of_level] for level, of_level in losses.items()}


def loss_identity(loss: Loss) -> Identity:
    """Identity of a loss, without its name, which changes no number."""
    parts = (loss.methods, loss.sign, loss.rows, loss.scorer, loss.asks_predictor)
    return identify(parts, f"the loss {loss.name!r}")


def _as_bytes(key: Any) -> bytes:
    if isinstance(key, tuple):
        number, order = key
        return int(number).to_bytes(16, "little") + bytes(order)
    return int(key).to_bytes(16, "little")
