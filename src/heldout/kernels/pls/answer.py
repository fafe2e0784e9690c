"""Answering a step: training sets from sums, all numbers of components from one run, brute force where unsure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import MOST_KEPT, candidates_of
from heldout.kernels.fitting import make_candidate
from heldout.kernels.pls.forms import Form, read_form
from heldout.kernels.pls.jobs import answer_jobs, is_block, make_jobs
from heldout.kernels.ridge.blocks import by_brute_force, end_to_end, score_found
from heldout.kernels.ridge.group import Group, make_group
from heldout.kernels.ridge.respond import lacking
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.threads import spreading
from heldout.study.answers import Answer

BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:
        yield from answer_by_brute_force(step, work)
        return
    with spreading(work.jobs) as spread:
        for form, members in forms_of(step, work).items():
            counts = {candidate: float(count) for candidate, count in members.items()}
            yield from _answer_form(form, make_group(form.linear, counts, work, spread), step)


def forms_of(step: Step, work: Work) -> dict[Form, dict[int, int]]:
    """The candidates of a step by form, each with its number of components."""
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
        found = end_to_end(answer_jobs(group, make_jobs(form, group, batch)))
        yield from score_found(group, found, step, perf_counter() - started)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[list[Training]]:
    """Trainings whose responses and sums are held at once."""
    batch: list[Training] = []
    numbers = sums = 0
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))
    for training in trainings:
        sizes = (group.work.splits[held.splits].held_sizes[held.part] for held in training.answers)
        more = 2 * len(group.candidates) * int(sum(sizes))
        if batch and (numbers + more > BATCH_NUMBERS or sums >= most):
            yield batch
            batch, numbers, sums = [], 0, 0
        batch.append(training)
        numbers += more
        sums += not is_block(group, training)
    if batch:
        yield batch
