"""Answering a step: training sets from sums, all numbers of components from one run, brute force where unsure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import MOST_KEPT, candidates_of
from heldout.kernels.fitting import make_candidate
from heldout.kernels.pls.components import Products, Run, run_components
from heldout.kernels.pls.forms import Form, read_form
from heldout.kernels.pls.problem import Problem, from_rows, from_sums
from heldout.kernels.pls.respond import respond
from heldout.kernels.ridge.blocks import by_brute_force, end_to_end, score_found
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.group import Group, make_group
from heldout.kernels.ridge.normal import LostDigits
from heldout.kernels.ridge.respond import lacking
from heldout.kernels.step import Held, Step, Training, Work
from heldout.study.tables import Answer

BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
TOGETHER = 1 << 19  # numbers of the products that one run works on: four megabytes, which stay in a cache
RUNS = 4  # at least, of a batch, so that threads have something to divide
NARROW = 48  # columns: products of fewer are laid side by side, those of more are used where they are
ROW_COPIES = 6  # memory that a run on rows takes, in copies of its rows

Found = tuple[Training, Held, Floats, NDArray[np.bool_]]


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:
        yield from answer_by_brute_force(step, work)
        return
    with ThreadPoolExecutor(max(1, work.jobs)) as pool:

        def spread(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
            return list(pool.map(do, jobs)) if work.jobs > 1 and len(jobs) > 1 else [do(job) for job in jobs]

        for form, members in _forms(step, work).items():
            counts = {candidate: float(count) for candidate, count in members.items()}
            yield from _answer_form(form, make_group(form.linear, counts, work, spread), step)


def _forms(step: Step, work: Work) -> dict[Form, dict[int, int]]:
    search, chosen = work.search, set(step.candidates)
    if len(search) <= MOST_KEPT:
        estimators = {c: one for c, one in candidates_of(search) if c in chosen}
    else:
        estimators = {c: make_candidate(search, c) for c in step.candidates}
    forms: dict[Form, dict[int, int]] = {}
    for candidate in step.candidates:
        form, count = read_form(estimators[candidate], work.task)
        forms.setdefault(form, {})[candidate] = count
    return forms


def _answer_form(form: Form, group: Group, step: Step) -> Iterator[Answer]:
    lacks = {level for level, losses in group.work.losses.items() if lacking(form.linear, losses)}
    able: list[Training] = []
    for training in step.trainings:
        if any(held.level in lacks for held in training.answers):
            yield from by_brute_force(group, step, training, group.candidates)
        else:
            able.append(training)
    for batch in _batches(group, able):
        started = perf_counter()
        narrow = [training for training in batch if _is_narrow(group, training)]
        group.bank.read_ahead([training.trains[0] for training in narrow])
        jobs = [(form, group, some) for some in _runs(group, batch, {id(training) for training in narrow})]
        found = end_to_end([one for many in group.spread(_answer_run, jobs) for one in many])
        yield from score_found(group, found, step, perf_counter() - started)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[list[Training]]:
    """Trainings whose responses and sums are held at once."""
    batch: list[Training] = []
    numbers = 0
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))
    for training in trainings:
        sizes = (group.work.splits[held.splits].held_sizes[held.part] for held in training.answers)
        more = 2 * len(group.candidates) * int(sum(sizes))
        if batch and (numbers + more > BATCH_NUMBERS or len(batch) >= most):
            yield batch
            batch, numbers = [], 0
        batch.append(training)
        numbers += more
    if batch:
        yield batch


def _width(group: Group) -> int:
    places = group.form.columns.places
    return int(group.design.X.shape[1]) if places is None else len(places)


def _size(group: Group, training: Training) -> int:
    ref = training.trains[0]
    return int(group.work.splits[ref.splits].train_sizes[ref.part])


def _is_narrow(group: Group, training: Training) -> bool:
    """Whether products of columns are smaller than the rows, and fit."""
    fits = 8 * group.bank.bytes_of_sums <= group.work.budget
    return fits and _size(group, training) > _width(group)


def _runs(group: Group, batch: Sequence[Training], narrow: set[int]) -> list[list[Training]]:
    """Trainings that one run works on: several with few columns, one by one from rows."""
    sums = [training for training in batch if id(training) in narrow]
    together = max(1, min(TOGETHER // _width(group) ** 2, -(-len(sums) // RUNS)))
    runs = [sums[start : start + together] for start in range(0, len(sums), together)]
    return runs + [[training] for training in batch if id(training) not in narrow]


def _answer_run(job: tuple[Form, Group, list[Training]]) -> list[Found]:
    form, group, trainings = job
    problems = [_problem(form, group, training) for training in trainings]
    sure = [problem for problem in problems if problem is not None]
    solved = iter(_solve(sure, int(group.alphas.max())) if sure else ())
    found: list[Found] = []
    for training, problem in zip(trainings, problems, strict=True):
        run = None if problem is None else next(solved)
        for held in training.answers:
            rows = group.work.held_rows(held)
            if problem is None or run is None:
                values = np.zeros((len(rows), len(group.alphas), 1))
                good = np.zeros(len(group.alphas), dtype=bool)
            else:
                values, good = respond(problem, run, group, rows)
            found.append((training, held, values, good))
    return found


def _problem(form: Form, group: Group, training: Training) -> Problem | None:
    """The training set's problem, or None where only scikit-learn's own fit will do."""
    ref = training.trains[0]
    rows = group.work.train_rows(ref)
    try:
        if _is_narrow(group, training):
            return from_sums(form, group.bank.sums_of(ref), group.design, rows)
        if ROW_COPIES * 8 * len(rows) * group.design.X.shape[1] > group.work.budget:
            return None
        return from_rows(form, group.design, rows)
    except LostDigits:
        return None


def _solve(problems: list[Problem], most: int) -> list[Run]:
    """A run for each problem, as far as there are components."""
    first = problems[0]
    count = min(most, len(first.d), max(problem.count for problem in problems))
    products = _on_rows(first.rows) if first.rows is not None else _on_sums(problems)
    d, size = np.stack([problem.d for problem in problems]), np.stack([problem.size for problem in problems])
    return run_components(products, d, size, np.array([one.length for one in problems]), count=count)


def _on_rows(rows: Floats) -> Products:
    return lambda r: np.asarray(((r[0] @ rows.T) @ rows)[None])


def _on_sums(problems: list[Problem]) -> Products:
    """Products with sums that are centred by a term of rank one."""
    grams = [problem.C for problem in problems if problem.C is not None]
    stacked = np.stack(grams) if len(problems[0].d) < NARROW else None
    inside = np.stack([problem.inside for problem in problems])[:, None, :]
    centre = np.stack([problem.centre for problem in problems])[:, None, :]
    weighed = centre * np.array([problem.count for problem in problems])[:, None, None]

    def products(r: Floats) -> Floats:
        r = r / inside
        if stacked is not None:
            found = np.matmul(r, stacked)
        else:
            found = np.empty_like(r)
            for place, gram in enumerate(grams):
                np.matmul(r[place], gram, out=found[place])
        found -= np.vecdot(r, centre)[:, :, None] * weighed
        found /= inside
        return np.asarray(found)

    return products
