"""Runs on several training sets at a time: which go together, from what they are made, and what they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from heldout.kernels.driver.contract import Group, HeldOutNumbers
from heldout.kernels.pls.components import Products, Shake, run_components
from heldout.kernels.pls.problem import Problems, from_rows, from_vectors
from heldout.kernels.pls.products import (
    Block,
    Material,
    centred,
    from_grams,
    from_sums,
    from_total,
    on_rows,
    read_block,
)
from heldout.kernels.pls.respond import Lines, make_lines, respond
from heldout.kernels.step import Held, Training
from heldout.kernels.sums.dataset import ChunkReader
from heldout.kernels.sums.rounding import Bools, Floats, LostDigits

TOGETHER = 1 << 21  # numbers that one run works on: sixteen megabytes, which stay in a shared cache
SIDES = 4  # answered by a thread at a time
ROW_COPIES = 6  # memory that a run on rows takes, in copies of its rows


class Job(NamedTuple):
    """Training sets of one kind."""

    group: Group
    kind: str  # from "sums" of their own, from a total less the rows of a "block", or from "rows"
    trainings: list[Training]


class Side(NamedTuple):
    """A held-out side, and what answers it; None where only scikit-learn's own fit will do."""

    job: Job
    training: Training
    held: Held
    lines: Lines | None


def make_jobs(group: Group, batch: Sequence[Training]) -> list[Job]:
    """The runs of a batch, and the sums that they need read ahead. They depend on sizes alone, not on threads."""
    sums: list[Training] = []
    blocks: dict[str, list[Training]] = {}
    rows: list[Training] = []
    for training in batch:
        if not _is_narrow(group, training):
            rows.append(training)
        elif is_block(group, training):
            blocks.setdefault(training.trains[0].splits, []).append(training)
        else:
            sums.append(training)
    group.sums.prepare([training.trains[0] for training in sums], list(blocks))
    jobs = [Job(group, "sums", some) for some in _cut(group, sums, group.data.width**2)]
    for several in blocks.values():
        several.sort(key=lambda training: _held_size(group, training))  # those of a run have about as many rows
        numbers = _held_size(group, several[-1]) * group.data.width + 4 * int(group.values.max()) * _width(group)
        jobs += [Job(group, "block", some) for some in _cut(group, several, numbers)]
    return jobs + [Job(group, "rows", [training]) for training in rows]


def _width(group: Group) -> int:
    return int(group.data.X.shape[1])


def _held_size(group: Group, training: Training) -> int:
    ref = training.trains[0]
    return int(group.work.splits[ref.splits].held_sizes[ref.part])


def _is_narrow(group: Group, training: Training) -> bool:
    """Whether products of columns are smaller than the rows, and fit."""
    ref = training.trains[0]
    fits = 8 * group.sums.nbytes <= group.work.budget
    return fits and int(group.work.splits[ref.splits].train_sizes[ref.part]) > _width(group)


def is_block(group: Group, training: Training) -> bool:
    """Whether products with the few rows held out, at every component, cost less than to sum them up once."""
    if not group.sums.has_small_blocks(training.trains[0]):
        return False
    held, width, most = _held_size(group, training), _width(group), int(group.values.max())
    return 8 * most * held < width * (held + 4 * most)


def _cut(group: Group, trainings: list[Training], numbers: int) -> Iterator[list[Training]]:
    """In runs of about one size, each of no more numbers than stay in a cache.

    Steps of a run are so short that two threads would mostly wait for each other: what fits one run is one run.
    """
    most = max(1, min(TOGETHER, group.work.budget // 64) // numbers)
    count = -(-len(trainings) // most)
    size = max(1, -(-len(trainings) // max(1, count)))
    return (trainings[start : start + size] for start in range(0, len(trainings), size))


def answer_jobs(group: Group, jobs: Sequence[Job]) -> list[HeldOutNumbers]:
    """Numbers on every held-out side of the jobs' trainings, and the candidates for which they are good."""
    found: list[HeldOutNumbers] = []
    sides: list[Side] = []
    for answered, left in group.spread(_solve_job, jobs):
        found += answered
        sides += left
    some = [sides[start : start + SIDES] for start in range(0, len(sides), SIDES)]
    return found + [one for several in group.spread(_answer_sides, some) for one in several]


def _solve_job(job: Job) -> tuple[list[HeldOutNumbers], list[Side]]:
    """What is answered at once, and the sides that are left to answer, with what answers them."""
    if job.kind == "rows":
        return [], _sides(job, job.trainings[0], _from_rows(job))
    with np.errstate(all="ignore"):  # numbers of sets that have lost their digits are not used
        return _solve_sets(job)


def _solve_sets(job: Job) -> tuple[list[HeldOutNumbers], list[Side]]:
    material, block = _material(job)
    problems, sure = from_vectors(job.group.columns, material.vectors, scale=job.group.form.scale)
    lines = _run(job, problems, centred(problems, material.multiply))
    if block is not None and sure.all() and all(_asks_its_block(training) for training in job.trainings):
        places = enumerate(job.trainings)
        return _answer_block(job, lines, block), [
            Side(job, training, held, lines[place : place + 1])
            for place, training in places
            for held in training.answers[1:]
        ]
    sides: list[Side] = []
    for place, training in enumerate(job.trainings):
        own = lines[place : place + 1] if sure[place] else _apart(job, training)
        sides += _sides(job, training, own)
    return [], sides


def _sides(job: Job, training: Training, lines: Lines | None) -> list[Side]:
    return [Side(job, training, held, lines) for held in training.answers]


def _material(job: Job) -> tuple[Material, Block | None]:
    group, refs = job.group, [training.trains[0] for training in job.trainings]
    if job.kind == "sums":
        return from_sums(group.sums, refs, group.data.width), None
    block = read_block(group.data, [group.work.splits[ref.splits].held_rows(ref.part) for ref in refs])
    return from_total(group.sums.prepared_total(refs[0].splits), block), block


def _run(job: Job, problems: Problems, products: Products) -> Lines:
    """As far as there are components."""
    counts = job.group.values.astype(np.intp)
    count = min(int(counts.max()), problems.d.shape[1], int(problems.counts.max()))
    runs = run_components(products, problems.d, Shake(problems.size, problems.length), count=count)
    return make_lines(problems, runs, counts)


def _apart(job: Job, training: Training) -> Lines | None:
    """From sums about a shift of their own, or None where only scikit-learn's own fit will do."""
    sums = job.group.sums.about_own_means(job.group.work.train_rows(training.trains[0]))
    material = from_grams(sums.grams, [sums])
    problems, sure = from_vectors(job.group.columns, material.vectors, scale=job.group.form.scale)
    return _run(job, problems, centred(problems, material.multiply)) if sure.all() else None


def _from_rows(job: Job) -> Lines | None:
    group, (training,) = job.group, job.trainings
    rows = group.work.train_rows(training.trains[0])
    if ROW_COPIES * 8 * len(rows) * _width(group) > group.work.budget:
        return None
    try:
        problems, x = from_rows(group.columns, group.data, rows, scale=group.form.scale)
    except LostDigits:
        return None
    return _run(job, problems, on_rows(x))


def _asks_its_block(training: Training) -> bool:
    """Whether its first side is the block; what else it is asked is answered as other sides are."""
    return training.answers[0][2:] == training.trains[0]


def _answer_block(job: Job, lines: Lines, block: Block) -> list[HeldOutNumbers]:
    """All sides at once, from the rows that are at hand."""
    values, good = respond(lines, block.x, block.sizes)
    sizes = block.sizes.tolist()
    return [
        _numbers(training, training.answers[0], values[place, :, : sizes[place]], good[place])
        for place, training in enumerate(job.trainings)
    ]


def _answer_sides(sides: Sequence[Side]) -> list[HeldOutNumbers]:
    """Side by side, in memory that is used again."""
    group = sides[0].job.group
    each = [group.work.held_rows(side.held) for side in sides]
    reader = ChunkReader(group.data, max(map(len, each)))
    found: list[HeldOutNumbers] = []
    candidates = len(group.values)
    for side, rows in zip(sides, each, strict=True):
        values, good = np.zeros((1, candidates, len(rows))), np.zeros((1, candidates), dtype=bool)
        if side.lines is not None:
            x = reader.read(rows, side.lines.shift)
            values, good = respond(side.lines, x[None], np.array([len(rows)]))
        found.append(_numbers(side.training, side.held, values[0], good[0]))
    return found


def _numbers(training: Training, held: Held, values: Floats, good: Bools) -> HeldOutNumbers:
    return HeldOutNumbers(training, held, (values.T[:, :, None],), good)
