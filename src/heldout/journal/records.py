"""Encodes answers as bytes of plain data and decodes them, also for a study that asks for other losses."""

from __future__ import annotations

import json
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import JournalError
from heldout.base.responses import METHODS, Responses
from heldout.base.warnings import catch_warnings
from heldout.journal.keys import StepPanels
from heldout.kernels.scoring import failed_cell, failed_loss, plain_warnings, score_block, score_cell
from heldout.kernels.step import Held, Work
from heldout.losses import Loss, needed_methods
from heldout.study.answers import Answer, Cell, Failure, FitWarning

_LENGTH = struct.Struct("<I")
_RAW_KINDS = "biufcmMUS"  # dtypes whose bytes are their content
_ARRAY = "@"  # the one key of a JSON object that stands for an array
_WORTH_PACKING = 512  # bytes
_PLAIN = (bool, int, float, str, type(None))
_DAMAGED = (struct.error, zlib.error, ValueError, KeyError, IndexError, TypeError, OverflowError)
Record = dict[str, Any]
_ARRAYS = (*METHODS, "classes")  # of responses


class NotPlain(TypeError):
    """Raised for a value that cannot be written as plain data."""


def encode(tree: Any) -> bytes:
    """Encode a tree of dicts, lists, texts, numbers and arrays as bytes.

    >>> import numpy as np
    >>> decode(encode({"losses": np.array([0.5, np.nan]), "words": ["a", None]}))
    {'losses': array([0.5, nan]), 'words': ['a', None]}
    """
    specs: list[list[Any]] = []
    bodies: list[bytes] = []
    shape = _without_arrays(tree, specs, bodies)
    head = json.dumps([shape, specs], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"".join([_LENGTH.pack(len(head)), head, *bodies])


def decode(content: bytes) -> Any:
    """Decode what `encode` wrote. Raise a JournalError if the bytes are damaged."""
    try:
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        shape, specs = json.loads(content[_LENGTH.size : start].decode("utf-8", "surrogatepass"))
        arrays = []
        for dtype, dims, order, size, packed in specs:
            body = content[start : start + size]
            start += size
            arrays.append(_array_of(zlib.decompress(body) if packed else body, dtype, dims, order))
        return _with_arrays(shape, arrays)
    except _DAMAGED as error:
        raise JournalError(f"These bytes are no record of a journal: {error}") from error


def _without_arrays(tree: Any, specs: list[list[Any]], bodies: list[bytes]) -> Any:
    if isinstance(tree, np.ndarray):
        spec, body = _array_spec(tree)
        specs.append(spec)
        bodies.append(body)
        return {_ARRAY: len(specs) - 1}
    if isinstance(tree, dict):
        if _ARRAY in tree or not all(isinstance(name, str) for name in tree):
            raise NotPlain(f"a dict with keys such as {next(iter(tree))!r}")
        return {name: _without_arrays(value, specs, bodies) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_without_arrays(value, specs, bodies) for value in tree]
    if isinstance(tree, np.bool_ | np.integer | np.floating):
        return tree.item()
    if isinstance(tree, _PLAIN):
        return tree
    raise NotPlain(f"a value of type {type(tree).__name__}")


def _with_arrays(shape: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(shape, dict):
        if shape.keys() == {_ARRAY}:
            return arrays[shape[_ARRAY]]
        return {name: _with_arrays(value, arrays) for name, value in shape.items()}
    if isinstance(shape, list):
        return [_with_arrays(value, arrays) for value in shape]
    return shape


def _array_spec(array: NDArray[Any]) -> tuple[list[Any], bytes]:
    """Describe an array by type, shape, order, size in bytes and whether it is compressed; and return its bytes.

    The order in memory is kept: sums along an axis may depend on it in their last bit.
    """
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    if array.dtype.kind == "O":
        dtype, body = "O", _objects_as_text(array)
    elif array.dtype.kind in _RAW_KINDS:
        dtype, body = array.dtype.str, array.tobytes(order)  # type: ignore[arg-type]
    else:
        raise NotPlain(f"an array of type {array.dtype}")
    packed = False
    if len(body) >= _WORTH_PACKING:
        smaller = zlib.compress(body, 1)
        if len(smaller) < 0.9 * len(body):
            body, packed = smaller, True
    return [dtype, list(array.shape), order, len(body), packed], body


def _array_of(body: bytes, dtype: str, dims: list[int], order: str) -> NDArray[Any]:
    if dtype == "O":
        values = np.empty(int(np.prod(dims, dtype=int)), dtype=object)
        texts = json.loads(body.decode("utf-8", "surrogatepass"))
        if len(texts) != len(values):
            raise ValueError("an array of another length")
        values[:] = texts
        return values.reshape(dims)
    array: NDArray[Any] = np.frombuffer(bytearray(body), dtype=np.dtype(dtype))
    if array.dtype.itemsize == 0:  # texts without a character: no byte says how many there are
        array = np.zeros(int(np.prod(dims, dtype=int)), dtype=np.dtype(dtype))
    return array.reshape(dims, order="F" if order == "F" else "C")


def _objects_as_text(array: NDArray[Any]) -> bytes:
    values = array.ravel().tolist()
    for value in values:
        if type(value) not in _PLAIN:
            raise NotPlain(f"an array that holds {type(value).__name__}")
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Needed:
    """The losses that the current study needs of an answer, by level, and its work, which says what to keep."""

    work: Work
    losses: Mapping[str, Sequence[str]]  # keys of losses, by level


# From answers to records.


def record_of(answer: Answer, candidates: Any, asked: Sequence[str]) -> Record:
    """Turn an answer into a record. `candidates` are their keys or numbers, `asked` the keys of the losses."""
    at = {candidate: place for place, candidate in enumerate(answer.candidates)}
    start = answer.parts.start
    return {
        "asked": list(asked),
        "candidates": candidates,
        "losses": answer.losses,
        "fit": answer.fit_seconds,
        "score": answer.score_seconds,
        "rows": None if answer.rows is None else list(answer.rows),
        "responses": None if answer.responses is None else _written(answer.responses),
        "failures": [[at[c], part - start, asdict(failure)] for (c, part), failure in answer.failures.items()],
        "warnings": [
            [at[c], part - start, [[warning.category, warning.message] for warning in caught]]
            for (c, part), caught in answer.warnings.items()
        ],
    }


def step_record(answers: Sequence[Answer], candidates: Sequence[int], places: StepPanels, losses: Any) -> Record:
    """Turn all answers of a step into one record. Candidates, panels and parts are numbered within the step."""
    at = {candidate: place for place, candidate in enumerate(candidates)}
    written = [
        {
            "panel": places.panels.index(answer.panel),
            "part": answer.parts.start - places.starts[answer.panel],
            **record_of(answer, [at[c] for c in answer.candidates], losses[places.helds[answer.panel].level]),
        }
        for answer in answers
    ]
    return {"answers": written}


def joined(cells: Sequence[Answer]) -> Iterator[Answer]:
    """Join the cells of one part into at most four answers, by whether they have row losses and responses."""
    alike: dict[Any, list[Answer]] = {}
    for cell in cells:
        alike.setdefault((cell.rows is None, cell.responses is None), []).append(cell)
    for (no_rows, no_responses), several in alike.items():
        rows = () if no_rows else zip(*(cell.rows or () for cell in several), strict=True)
        yield replace(
            several[0],
            candidates=tuple(candidate for cell in several for candidate in cell.candidates),
            losses=np.concatenate([cell.losses for cell in several]),
            rows=None if no_rows else tuple(None if same[0] is None else np.concatenate(same) for same in rows),
            responses=None if no_responses else tuple(made for cell in several for made in cell.responses or ()),
            fit_seconds=np.array([[cell.fit_seconds] for cell in several]),
            score_seconds=np.array([[cell.score_seconds] for cell in several]),
            failures={cell: failure for answer in several for cell, failure in answer.failures.items()},
            warnings={cell: caught for answer in several for cell, caught in answer.warnings.items()},
        )


def _written(responses: Sequence[Responses]) -> Record | list[Record]:
    """Turn responses into arrays, stacked if types and shapes agree, since many short arrays take far more bytes."""
    written = [_arrays_of(response) for response in responses]
    if len(responses) > 1 and _are_alike(written) and not any(response.asked for response in responses):
        return {name: np.stack([arrays[name] for arrays in written]) for name in written[0]}
    asked = [{"asked": response.asked} if response.asked else {} for response in responses]
    return [{**arrays, **more} for arrays, more in zip(written, asked, strict=True)]


def _arrays_of(responses: Responses) -> Record:
    return {name: array for name in _ARRAYS if (array := getattr(responses, name)) is not None}


def _are_alike(several: Sequence[Record]) -> bool:
    """Return whether these are arrays of the same types and shapes, all in C order, as in a stack."""
    arrays = [array for record in several for array in record.values()]
    if not all(isinstance(array, np.ndarray) and array.flags.c_contiguous for array in arrays):
        return False
    kinds = {tuple((name, array.dtype.str, array.shape) for name, array in record.items()) for record in several}
    return len(kinds) == 1


# From records to answers.


def step_answers(record: Record, candidates: Sequence[int], places: StepPanels, needed: Needed) -> list[Answer] | None:
    """Read the answers of a step from its record; None if the record lacks something that the study needs."""
    answers: list[Answer] = []
    for written in record["answers"]:
        panel = places.panels[written["panel"]]
        start, count = places.starts[panel] + written["part"], written["losses"].shape[1]
        found = RecordedCells(
            record=written,
            candidates=[candidates[at] for at in written["candidates"]],
            places=range(len(written["candidates"])),
            helds=[places.held(panel, part) for part in range(start, start + count)],
        ).answers(needed)
        if found is None:
            return None
        answers += found
    return answers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedCells:
    """Some cells of a record, with their candidates and parts in the current study."""

    record: Record
    candidates: Sequence[int]
    places: Sequence[int] | NDArray[np.intp]  # of these candidates in the record
    helds: Sequence[Held]  # its parts

    def known(self, needed: Needed) -> list[Answer]:
        """Read the answers of every candidate for which the record has enough.

        They are read together if possible, so that a study of many small cells resumes in seconds; otherwise one by
        one.
        """
        whole = self._as_kept(needed)
        if whole is not None:
            return [whole]
        each = zip(self.candidates, self.places, strict=True)
        alone = (replace(self, candidates=(candidate,), places=(place,)) for candidate, place in each)
        return [answer for recorded in alone for answer in recorded.answers(needed) or ()]

    def answers(self, needed: Needed) -> list[Answer] | None:
        """Read the answers, and score again if other losses are needed; None if the record lacks something."""
        kept = self._as_kept(needed)
        return self._scored_again(needed) if kept is None else [kept]

    def _as_kept(self, needed: Needed) -> Answer | None:
        """Read the answer as it was stored; None if the study needs other losses or keeps more than was stored."""
        record, work, held = self.record, needed.work, self.helds[0]
        if record["asked"] != list(needed.losses[held.level]):
            return None
        losses, failures = self._picked(record["losses"]), dict[Cell, Failure]()
        failed = np.zeros(losses.shape[:2], dtype=bool)
        for line, part, facts in self._of_cells("failures"):
            failures[self._cell(line, part)] = failure = Failure(**facts)
            failed[line, part] = True
            losses[line, part] = failed_loss(work, held.level, self.candidates[line], failure)
        keeps_rows, keeps_responses = held.panel in work.keep_rows, held.panel in work.keep_responses
        # No rows are kept if a loss could not be computed, and a failure has nothing to keep.
        if keeps_rows and record["rows"] is None and not (failed | np.isnan(losses).any(axis=2)).all():
            return None
        if keeps_responses and record["responses"] is None and not failed.all():
            return None
        rows = record["rows"] if keeps_rows else None
        return Answer(
            panel=held.panel,
            candidates=tuple(self.candidates),
            parts=range(held.part, held.part + len(self.helds)),
            losses=losses,
            rows=None if rows is None else tuple(None if column is None else self._picked(column) for column in rows),
            responses=self._responses() if keeps_responses else None,
            fit_seconds=self._seconds("fit"),
            score_seconds=self._seconds("score"),
            failures=failures,
            warnings=self._warnings(),
        )

    def _scored_again(self, needed: Needed) -> list[Answer] | None:
        """Compute the losses from recorded responses; None if the record lacks a response."""
        if len(self.candidates) == len(self.helds) == 1:
            found = self._cell_scored_again(needed)
            return None if found is None else [found]
        responses = self._fitting(needed.work.losses[self.helds[0].level])
        if responses is None or self.record["failures"] or self.record["warnings"]:
            return None
        seconds = float(self._seconds("fit").sum())
        return score_block(needed.work, self.helds, tuple(self.candidates), responses, seconds=seconds)

    def _cell_scored_again(self, needed: Needed) -> Answer | None:
        work, held, cell = needed.work, self.helds[0], self._cell(0, 0)
        caught_before = self._warnings().get(cell, ())
        seconds: dict[str, Any] = {f"{name}_seconds": self._seconds(name).item() for name in ("fit", "score")}
        for _, _, why in self._of_cells("failures"):
            failure = Failure(**why)
            known = failure.stage == "fit"  # another loss may not fail
            return failed_cell(work, held, cell[0], failure, warnings=caught_before, **seconds) if known else None
        responses = self._fitting(work.losses[held.level])
        if responses is None or (caught_before and not set(self.record["asked"]) <= set(needed.losses[held.level])):
            return None  # some warnings may come from a loss that is no longer asked for
        with catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = score_cell(work, held, cell[0], responses[0], **seconds)
        every = dict.fromkeys((*caught_before, *plain_warnings(caught), *answer.warnings.get(cell, ())))
        return replace(answer, warnings={cell: tuple(every)} if every else {})

    def _fitting(self, losses: Sequence[Loss]) -> list[Responses] | None:
        """Select the responses that these losses need, of all candidates; None if one of them is not recorded."""
        fitting = [_asked_for(losses, responses) for responses in self._responses() or ()]
        kept = [responses for responses in fitting if responses is not None]
        return kept if kept and len(kept) == len(fitting) else None

    def _cell(self, line: int, part: int) -> Cell:
        return self.candidates[line], self.helds[part].part

    def _of_cells(self, name: str) -> Iterator[tuple[int, int, Any]]:
        """Yield the failures or warnings of a record: index of the candidate here, index of the part, and value."""
        by_place: dict[int, list[tuple[int, Any]]] = {}
        for place, part, value in self.record[name]:
            by_place.setdefault(place, []).append((part, value))
        for line, place in enumerate(self.places if by_place else ()):
            yield from ((line, part, value) for part, value in by_place.get(int(place), ()))

    def _warnings(self) -> dict[Cell, tuple[FitWarning, ...]]:
        return {
            self._cell(line, part): tuple(FitWarning(category=kind, message=text) for kind, text in caught)
            for line, part, caught in self._of_cells("warnings")
        }

    def _picked(self, column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(column[np.asarray(self.places)])

    def _seconds(self, name: str) -> NDArray[np.float64]:
        return self._picked(np.broadcast_to(self.record[name], self.record["losses"].shape[:2]))

    def _responses(self) -> tuple[Responses, ...] | None:
        written = self.record["responses"]
        if isinstance(written, dict):
            return tuple(Responses(**{name: rows[place] for name, rows in written.items()}) for place in self.places)
        return None if written is None else tuple(Responses(**written[place]) for place in self.places)


def _asked_for(losses: Sequence[Loss], responses: Responses) -> Responses | None:
    """Select the responses that these losses need; None if one of them is not recorded."""
    wanted = {"predict"}
    for alternatives in needed_methods(losses):
        if getattr(responses, alternatives[0]) is None:
            return None
        wanted.add(alternatives[0])
    by_predictor = {loss.name for loss in losses if loss.asks_predictor}
    if not by_predictor <= responses.asked.keys():
        return None
    kept = {name: getattr(responses, name) if name in wanted else None for name in METHODS}
    return Responses(**kept, classes=responses.classes, asked={name: responses.asked[name] for name in by_predictor})
