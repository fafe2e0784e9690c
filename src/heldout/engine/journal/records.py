"""Answers as records of plain data, and records as answers to a question that may ask a little more or less."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.losses import Loss, needed_methods
from heldout.base.responses import METHODS, Responses
from heldout.base.warned import catch_warnings
from heldout.engine.journal.keys import Places
from heldout.kernels.scoring import failed_cell, plain_warnings, score_block, score_cell
from heldout.kernels.step import Held, Work
from heldout.study.tables import Answer, BlockAnswer, CellAnswer, Failure, FitWarning

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asking:
    """What the study at hand asks of an answer: its losses, by level, and what it must keep for the result."""

    work: Work
    losses: Mapping[str, Sequence[str]]  # keys of losses, by level


def extras_of(answer: CellAnswer, *, alone: bool = True) -> Record:
    """What a cell says besides its losses and seconds; not `alone`, what all cells of its record say is left out."""
    extras: Record = {}
    if alone and answer.rows is not None:
        extras["rows"] = list(answer.rows)
    if alone and answer.responses is not None:
        extras["responses"] = _written(answer.responses)
    if answer.failure is not None:
        extras["failure"] = asdict(answer.failure)
    if answer.warnings:
        extras["warnings"] = [[one.category, one.message] for one in answer.warnings]
    return extras


def cells_record(answers: Sequence[CellAnswer], candidates: NDArray[np.uint8], losses: Sequence[str]) -> Record:
    """The record of a step's answers on one held-out side. `candidates` are their keys, `losses` the losses' keys."""
    stacked = _stacked(answers)
    extras = [[place, extras_of(answer, alone=stacked is None)] for place, answer in enumerate(answers)]
    return {
        "asked": list(losses),
        "candidates": candidates,
        "losses": np.array([answer.losses for answer in answers], dtype=np.float64).reshape(len(answers), -1),
        "fit": np.array([answer.fit_seconds for answer in answers]),
        "score": np.array([answer.score_seconds for answer in answers]),
        "stacked": stacked,
        "extras": [[place, some] for place, some in extras if some],
    }


def _stacked(answers: Sequence[CellAnswer]) -> Record | None:
    """Row losses and responses of cells that are all alike, one below the other; None where they are not.

    A record of many short cells would be mostly headings otherwise.
    """
    first = answers[0]
    if len(answers) == 1 or any(_form(answer) != _form(first) for answer in answers):
        return None
    rows = None if first.rows is None else [answer.rows for answer in answers]
    responses = [answer.responses for answer in answers]
    return {
        "rows": None
        if rows is None
        else [_pile([cell[number] for cell in rows if cell]) for number in range(len(rows[0] or ()))],
        "responses": None
        if first.responses is None
        else {name: _pile([getattr(one, name) for one in responses]) for name in (*METHODS, "classes")},
    }


def _form(answer: CellAnswer) -> Any:
    """What must be the same for answers to be stacked."""
    rows = None if answer.rows is None else [_array_form(one) for one in answer.rows]
    if answer.responses is None:
        return rows, None
    arrays = [_array_form(getattr(answer.responses, name)) for name in (*METHODS, "classes")]
    return rows, arrays, bool(answer.responses.asked) and id(answer)  # what was asked goes by name, cell by cell


def _array_form(array: Any) -> Any:
    if array is None:
        return None
    plain = isinstance(array, np.ndarray) and array.flags.c_contiguous and array.dtype.kind != "O"
    return (array.dtype.str, array.shape) if plain else id(array)


def _pile(arrays: Sequence[Any]) -> Any:
    return None if arrays[0] is None else np.stack(arrays)


def _unstacked(record: Record, place: int, extras: Record) -> Record:
    """The extras of one cell, with what it shares a stack with the others of."""
    stacked = record["stacked"]
    if stacked is None:
        return extras
    found = dict(extras)
    if stacked["rows"] is not None:
        found["rows"] = [None if one is None else one[place] for one in stacked["rows"]]
    if stacked["responses"] is not None:
        arrays = {name: one[place] for name, one in stacked["responses"].items() if one is not None}
        found["responses"] = arrays
    return found


def cell_answer(
    record: Record, place: int, extras: Record, cell: tuple[Held, int], asking: Asking
) -> CellAnswer | None:
    """The answer of one cell of a record, scored anew where other losses are asked; None where it does not suffice."""
    seconds: dict[str, Any] = {
        "fit_seconds": float(record["fit"][place]),
        "score_seconds": float(record["score"][place]),
    }
    whole = _unstacked(record, place, extras)
    return _cell((record["asked"], record["losses"][place], whole), cell, asking, seconds)


def _cell(
    told_before: tuple[Sequence[str], NDArray[np.float64], Record],
    cell: tuple[Held, int],
    asking: Asking,
    seconds: dict[str, Any],
) -> CellAnswer | None:
    (asked, losses, extras), (held, candidate) = told_before, cell
    work = asking.work
    same = list(asked) == list(asking.losses[held.level])
    told = tuple(FitWarning(category=kind, message=text) for kind, text in extras.get("warnings", ()))
    if "failure" in extras:
        failure = Failure(**extras["failure"])
        if not same and failure.stage != "fit":
            return None
        return failed_cell(work, held, candidate, failure, warnings=told, **seconds)
    responses = None if "responses" not in extras else read_responses(extras["responses"])
    missing = bool(np.isnan(losses).any())  # a loss that could not be taken: then no rows are kept either
    suffices = held.panel not in work.keep_rows or "rows" in extras or missing
    if same and suffices and (responses is not None or held.panel not in work.keep_responses):
        return CellAnswer(
            panel=held.panel,
            candidate=candidate,
            part=held.part,
            losses=tuple(losses.tolist()),
            rows=tuple(extras["rows"]) if held.panel in work.keep_rows and "rows" in extras else None,
            responses=responses if held.panel in work.keep_responses else None,
            warnings=told,
            **seconds,
        )
    if responses is None or (told and not set(asked) <= set(asking.losses[held.level])):
        return None  # of the warnings some may belong to a loss that is no longer asked
    fitting = _fitting(responses, work.losses[held.level])
    return None if fitting is None else _scored(fitting, told, cell, work, seconds)


def _scored(
    responses: Responses, told: tuple[FitWarning, ...], cell: tuple[Held, int], work: Work, seconds: dict[str, Any]
) -> CellAnswer:
    with catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = score_cell(work, cell[0], cell[1], responses, **seconds)
    every = dict.fromkeys((*told, *plain_warnings(caught), *answer.warnings))
    values = {field.name: getattr(answer, field.name) for field in fields(answer)}
    return CellAnswer(**{**values, "warnings": tuple(every)})


def _fitting(responses: Responses, losses: Sequence[Loss]) -> Responses | None:
    """The responses as a predictor would have been asked for these losses, or None where it was asked for less."""
    wanted = {"predict"}
    for alternatives in needed_methods(losses):
        if getattr(responses, alternatives[0]) is None:
            return None
        wanted.add(alternatives[0])
    asking = {loss.name for loss in losses if loss.asks_predictor}
    if not asking <= responses.asked.keys():
        return None
    kept = {name: getattr(responses, name) if name in wanted else None for name in METHODS}
    return Responses(**kept, classes=responses.classes, asked={name: responses.asked[name] for name in asking})


def step_record(answers: Sequence[Answer], candidates: Sequence[int], places: Places, losses: Any) -> Record:
    """The record of all answers of a step, whose candidates, panels and parts are told by their place in it."""
    at = {candidate: place for place, candidate in enumerate(candidates)}
    written = []
    for answer in answers:
        panel = places.panels.index(answer.panel)
        asked = losses[places.helds[answer.panel].level]
        start = places.starts[answer.panel]
        if isinstance(answer, CellAnswer):
            written.append(
                {
                    "cell": [panel, at[answer.candidate], answer.part - start],
                    "asked": asked,
                    "losses": np.array(answer.losses, dtype=np.float64),
                    "seconds": [answer.fit_seconds, answer.score_seconds],
                    "extras": extras_of(answer),
                }
            )
            continue
        rows = None if answer.rows is None else list(answer.rows)
        responses = None if answer.responses is None else [_written(one) for one in answer.responses]
        written.append(
            {
                "block": [panel, answer.parts.start - start, len(answer.parts)],
                "candidates": [at[candidate] for candidate in answer.candidates],
                "asked": asked,
                "losses": answer.losses,
                "cuts": answer.cuts,
                "rows": rows,
                "responses": responses,
                "seconds": answer.seconds,
            }
        )
    return {"answers": written}


def step_answers(record: Record, candidates: Sequence[int], places: Places, asking: Asking) -> list[Answer] | None:
    """The answers of a step from its record; None where it does not suffice for what is asked now."""
    answers: list[Answer] = []
    for one in record["answers"]:
        if "cell" in one:
            panel, at, part = one["cell"]
            name = places.panels[panel]
            held = places.held(name, places.starts[name] + part)
            seconds = dict(zip(("fit_seconds", "score_seconds"), one["seconds"], strict=True))
            found = _cell((one["asked"], one["losses"], one["extras"]), (held, candidates[at]), asking, seconds)
            several: list[Answer] | None = None if found is None else [found]
        else:
            several = _block(one, [candidates[at] for at in one["candidates"]], places, asking)
        if several is None:
            return None
        answers += several
    return answers


def _block(record: Record, candidates: Sequence[int], places: Places, asking: Asking) -> list[Answer] | None:
    number, first, count = record["block"]
    panel = places.panels[number]
    start = places.starts[panel] + first
    work, level = asking.work, places.helds[panel].level
    responses = None if record["responses"] is None else [read_responses(one) for one in record["responses"]]
    keeps_rows, keeps_responses = panel in work.keep_rows, panel in work.keep_responses
    same = list(record["asked"]) == list(asking.losses[level])
    if same and (record["rows"] is not None or not keeps_rows) and (responses is not None or not keeps_responses):
        return [
            BlockAnswer(
                panel=panel,
                candidates=tuple(candidates),
                parts=range(start, start + count),
                losses=record["losses"],
                cuts=record["cuts"].astype(np.intp),
                rows=tuple(record["rows"]) if keeps_rows else None,
                responses=tuple(responses) if keeps_responses and responses is not None else None,
                seconds=record["seconds"],
            )
        ]
    fitting = [] if responses is None else [_fitting(one, work.losses[level]) for one in responses]
    whole = [one for one in fitting if one is not None]
    if not whole or len(whole) < len(fitting):
        return None
    helds = [places.held(panel, part) for part in range(start, start + count)]
    return score_block(work, helds, tuple(candidates), whole, seconds=record["seconds"])


def _written(responses: Responses) -> Record:
    found = {field.name: getattr(responses, field.name) for field in fields(responses)}
    return {name: value for name, value in found.items() if value is not None and (name != "asked" or value)}


def read_responses(written: Record) -> Responses:
    """Responses as they were written."""
    return Responses(**written)
