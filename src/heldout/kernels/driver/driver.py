"""The driver: runs a kernel for the planner and the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import AcrossKernel, Claims
from heldout.kernels.designs.columns import Columns
from heldout.kernels.driver.claim import Reader, claim, lacking, methods_asked, read_groups, refuse_training, takes_all
from heldout.kernels.driver.contract import Group, HeldOutNumbers, Kernel, Numbers
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Plain, Step, Training, Work, pieces_of, remember, sides_of
from heldout.kernels.sums.dataset import Dataset, Layout, make_dataset, matrix_of
from heldout.kernels.sums.rounding import Bools, LostDigits, Undecided
from heldout.kernels.sums.training_sums import TrainingSums
from heldout.kernels.threads import Spread, spreading
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Holds the numbers of several held-out parts, concatenated, and which candidates are reliable on each part."""

    trainings: Sequence[Training]  # each with the one held-out part it answers
    cuts: NDArray[np.intp]  # where the rows of each part begin, and the last end
    numbers: Numbers
    reliable: Bools  # parts × candidates


def end_to_end(answered: Sequence[HeldOutNumbers]) -> Batch:
    """Concatenate the numbers of held-out parts in the order of panels and parts."""
    answered = sorted(answered, key=lambda part: (part.held.panel, part.held.part))
    arrays = zip(*(part.numbers for part in answered), strict=True)
    return Batch(
        [part.training._replace(answers=(part.held,)) for part in answered],
        np.concatenate([[0], np.cumsum([len(part.numbers[0]) for part in answered])]),
        tuple(np.concatenate(several) for several in arrays),
        np.stack([part.reliable for part in answered]),
    )


def score(kernel: Kernel, group: Group, batch: Batch, step: Step, seconds: float) -> Iterator[Answer]:
    """Yield the answers of a batch: reliable ones in blocks of neighbouring parts, the others by brute force."""
    each = seconds / len(batch.trainings)
    whole = batch.reliable.all(axis=1)
    block = BLOCK_NUMBERS // max(1, sum(array[0].size for array in batch.numbers))
    runs = runs_of(batch.trainings, batch.cuts, np.flatnonzero(whole), block)
    jobs = [(kernel, group, batch, run, each * len(run)) for run in runs]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for place in np.flatnonzero(~whole).tolist():
        reliable = np.flatnonzero(batch.reliable[place])
        if len(reliable):
            some = replace(
                group, candidates=tuple(group.candidates[i] for i in reliable), values=group.values[reliable]
            )
            rows = slice(batch.cuts[place], batch.cuts[place + 1])
            kept = Batch(
                batch.trainings[place : place + 1],
                np.array([0, rows.stop - rows.start]),
                tuple(array[rows][:, reliable] for array in batch.numbers),
                batch.reliable[place : place + 1, reliable],
            )
            yield from _score_run((kernel, some, kept, range(1), each))
        others = tuple(group.candidates[i] for i in np.flatnonzero(~batch.reliable[place]))
        yield from by_brute_force(group, step, batch.trainings[place], others)


def by_brute_force(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """Yield the answers of scikit-learn's own fits, where the kernel's digits are not reliable."""
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)


def runs_of(
    trainings: Sequence[Training], cuts: NDArray[np.intp], places: NDArray[np.intp], block: int
) -> Iterator[range]:
    """Yield runs of neighbouring parts of one panel, each of at most `block` rows but of at least one part.

    `places` are positions of trainings, each of which answers one part. `cuts` holds where each part's rows begin, and
    where the last part ends.
    """
    if not len(places):
        return
    apart = np.diff(places) != 1
    if not isinstance(trainings, Plain):
        parts = [trainings[place].answers[0] for place in places.tolist()]
        moved = [(held.panel, held.part + 1) != (after.panel, after.part) for held, after in pairwise(parts)]
        apart |= np.array(moved, dtype=bool)
    for run in np.split(places, np.flatnonzero(apart) + 1):
        start, stop = int(run[0]), int(run[-1]) + 1
        while start < stop:
            end = int(np.searchsorted(cuts, cuts[start] + block, side="right")) - 1
            end = min(max(end, start + 1), stop)
            yield range(start, end)
            start = end


def _score_run(job: tuple[Kernel, Group, Batch, range, float]) -> list[Answer]:
    kernel, group, batch, run, seconds = job
    rows = slice(batch.cuts[run.start], batch.cuts[run.stop])
    some = batch.trainings[run.start : run.stop]
    helds = sides_of(some)
    numbers = tuple(array[rows] for array in batch.numbers)
    responses = kernel.responses(group, numbers, group.methods[helds[0].level])
    return score_block(group.work, helds, group.candidates, responses, seconds=seconds)


BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
FEW_PARTS = 8  # leave-one-out of fewer rows than this is not worth its own decomposition
SHARE = 8  # of the budget: what the candidates of one training set may take, since several sets are at work


def make_group(kernel: Kernel, form: tuple[Any, Columns], members: dict[int, Any], work: Work, spread: Spread) -> Group:
    """Return the group of these candidates, with the data and sums that earlier steps kept."""
    own, columns = form
    data = dataset_of(work, replace(kernel.layout(own), places=columns.places))
    return Group(
        form=own,
        columns=columns,
        candidates=tuple(members),
        values=np.array(list(members.values())),
        data=data,
        sums=TrainingSums(work, data, spread),
        work=work,
        spread=spread,
        methods={level: methods_asked(kernel.methods(own), losses) for level, losses in work.losses.items()},
        dtype=kernel.dtype(own, columns, work.task),
    )


def dataset_of(work: Work, layout: Layout) -> Dataset:
    """Return the data in this layout. The data and their matrix are made once for each study."""
    kept, source = work.products, layout.matrix

    def make() -> Dataset:
        read = matrix_of if source is None else source.make
        X = remember(kept, ("matrix", source), lambda: read(work.task))
        if (places := layout.places) is not None:
            X = remember(kept, ("matrix", source, places), lambda: np.ascontiguousarray(X[:, list(places)]))
        return make_dataset(work.task, layout, X)

    return remember(kept, ("dataset", layout), make)


def _answer_group(kernel: Kernel, group: Group, step: Step) -> Iterator[Answer]:
    methods = kernel.methods(group.form)
    lacks = {level for level, losses in group.work.losses.items() if lacking(methods, losses)}
    able: Sequence[Training] = step.trainings
    if lacks:
        unable = [t for t in step.trainings if any(held.level in lacks for held in t.answers)]
        able = [t for t in step.trainings if not any(held.level in lacks for held in t.answers)]
        for training in unable:
            yield from by_brute_force(group, step, training, group.candidates)
    for trainings, leaves_one_out in _batches(kernel, group, able):
        started = perf_counter()
        batch = _leave_one_out(kernel, group, trainings) if leaves_one_out else None
        if batch is not None:
            yield from score(kernel, group, batch, step, perf_counter() - started)
            continue
        for some in _cut(kernel, group, trainings) if leaves_one_out else (trainings,):
            started = perf_counter()
            batch = end_to_end(_solve(kernel, group, some))
            yield from score(kernel, group, batch, step, perf_counter() - started)


# ---------------------------------------------------------------------- which trainings go together


def _batches(kernel: Kernel, group: Group, trainings: Sequence[Training]) -> Iterator[tuple[Sequence[Training], bool]]:
    """Yield batches of trainings to answer together, and whether each leaves single rows out of one set."""
    others: list[Training] = []
    for piece in pieces_of(trainings):
        by_splits: Any = (
            (piece,) if isinstance(piece, Plain) else (list(some) for _, some in groupby(piece, _splits_of))
        )
        for together in by_splits:
            if _is_leave_one_out(kernel, group, together):
                yield together, True
            else:
                others += together
    yield from ((batch, False) for batch in _cut(kernel, group, others))


def _splits_of(training: Training) -> str:
    return training.trains[0].splits


def _cut(kernel: Kernel, group: Group, trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    batch: list[Training] = []
    numbers = 0
    a_row = sum(array.itemsize * array.size for array in kernel.empty(group, 1)) // 8
    most = max(1, group.work.budget // (8 * group.sums.nbytes))  # training sets may each have sums of their own
    for training in trainings:
        sizes = (group.work.splits[held.splits].held_sizes[held.part] for held in training.answers)
        more = a_row * int(sum(sizes))
        if batch and (numbers + more > BATCH_NUMBERS or len(batch) >= most):
            yield batch
            batch, numbers = [], 0
        batch.append(training)
        numbers += more
    if batch:
        yield batch


def _is_leave_one_out(kernel: Kernel, group: Group, trainings: Sequence[Training]) -> bool:
    """Return whether these trainings leave single rows out of one set, and are enough for its decomposition."""
    name = _splits_of(trainings[0])
    splits = group.work.splits[name]
    if splits.train is not None or len(trainings) < FEW_PARTS or int(splits.held_sizes.max()) != 1:
        return False
    if not kernel.can_leave_one_out(group, len(splits.rows)):
        return False
    return isinstance(trainings, Plain) or all(
        len(answers) == 1 and answers[0].splits == name and answers[0].part == trains[0].part
        for trains, _, answers in trainings
    )


# ---------------------------------------------------------------------- what trainings answer


def _leave_one_out(kernel: Kernel, group: Group, trainings: Sequence[Training]) -> Batch | None:
    """Return every row's answer from the full set, or None if that is in doubt; unreliable rows are solved alone."""
    name = _splits_of(trainings[0])
    splits = group.work.splits[name]
    if isinstance(trainings, Plain):
        parts = np.asarray(trainings.parts)
    else:
        trainings = sorted(trainings, key=lambda training: training.trains[0].part)
        parts = np.array([training.trains[0].part for training in trainings])
    held = splits.held[splits.held_cuts[parts]]
    methods = group.methods[trainings[0].answers[0].level]
    try:
        try:
            numbers, reliable = kernel.leave_one_out(group, group.sums.total(name), None, held, methods)
        except LostDigits:
            total = group.sums.about_own_means(splits.rows)
            numbers, reliable = kernel.leave_one_out(group, total, splits.rows, held, methods)
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None
    places = {int(parts[place]): place for place in np.flatnonzero(~reliable.all(axis=1)).tolist()}
    doubtful: list[Training] = [trainings[place] for place in places.values()]
    for some in _cut(kernel, group, doubtful):
        for again in _solve(kernel, group, some):
            place = places[again.training.trains[0].part]
            reliable[place] = again.reliable
            for array, row in zip(numbers, again.numbers, strict=True):
                array[place] = row[0]
    return Batch(trainings, np.arange(len(held) + 1), numbers, reliable)


def _solve(kernel: Kernel, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
    together = kernel.solve(group, batch)
    return solve_each(kernel, group, batch) if together is None else together


def solve_each(kernel: Kernel, group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
    """Return the numbers of all held-out parts of a batch; threads solve one training set each."""
    group.sums.prepare([training.trains[0] for training in batch])
    each = kernel.bytes_of_value(group)
    at_a_time = max(1, group.work.budget // SHARE // each) if each else len(group.values)
    cuts = range(0, len(group.values), at_a_time)
    groups = [group] if len(cuts) == 1 else [replace(group, values=group.values[i : i + at_a_time]) for i in cuts]
    answered = [group.spread(_answer_training, [(kernel, some, training) for training in batch]) for some in groups]
    return [
        _side_by_side(of_groups)
        for of_training in zip(*answered, strict=True)
        for of_groups in zip(*of_training, strict=True)
    ]


def _side_by_side(of_groups: tuple[HeldOutNumbers, ...]) -> HeldOutNumbers:
    """Return the numbers of several groups of candidates on the same rows as those of one group."""
    if len(of_groups) == 1:
        return of_groups[0]
    arrays = zip(*(answered.numbers for answered in of_groups), strict=True)
    return of_groups[0]._replace(
        numbers=tuple(np.concatenate(several, axis=1) for several in arrays),
        reliable=np.concatenate([answered.reliable for answered in of_groups]),
    )


def _answer_training(job: tuple[Kernel, Group, Training]) -> list[HeldOutNumbers]:
    kernel, group, training = job
    learned = _learned(kernel, group, training)
    answered: list[HeldOutNumbers] = []
    for held in training.answers:
        rows = group.work.held_rows(held)
        if learned is None:
            numbers, reliable = kernel.empty(group, len(rows)), np.zeros(len(group.values), dtype=bool)
        else:
            numbers, reliable = kernel.respond(group, learned, rows, group.methods[held.level])
        answered.append(HeldOutNumbers(training, held, numbers, reliable))
    return answered


def _learned(kernel: Kernel, group: Group, training: Training) -> Any | None:
    """Return the predictors of one training set, or None if only brute force can answer."""
    ref = training.trains[0]
    try:
        if kernel.learns_from_rows(group, int(group.work.splits[ref.splits].train_sizes[ref.part])):
            return kernel.learn_from_rows(group, group.work.train_rows(ref))
        try:
            return kernel.learn(group, group.sums.of(ref), None)
        except LostDigits:
            rows = group.work.train_rows(ref)
            return kernel.learn(group, group.sums.about_own_means(rows), rows)
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None


class Driver(AcrossKernel):
    """Implements `AcrossKernel` for a kernel by what the kernel declares."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.name, self.tier, self.leaves_rows_out = kernel.name, kernel.tier, kernel.leaves_rows_out
        self.models, self.words = kernel.models, kernel.words

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(self.kernel, search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(self.kernel, search, task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(self.kernel, search, task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return self.kernel.leave_one_out_fits(task, len(splits.rows))

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        if work.fit_params:  # what is passed to fit may be weights of its own
            yield from answer_by_brute_force(step, work)
            return
        spread = spreading(work.jobs)
        for form, members in read_groups(self.kernel, work.search, work.task, step.candidates).items():
            yield from _answer_group(self.kernel, make_group(self.kernel, form, members, work, spread), step)

    def ignores_origin(self, search: Search, task: Task, candidate: int) -> bool:
        form, _ = Reader(self.kernel, search, task).read_one(candidate)[0]
        return self.kernel.ignores_origin(form)
