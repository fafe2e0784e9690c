"""Performs a step of a plan: finds its kernel by name and runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby

import sklearn

from heldout.base.errors import HeldoutError
from heldout.base.options import RULES_VARIABLE
from heldout.kernels.approximate import KERNEL as APPROXIMATE
from heldout.kernels.bayes.kernel import KERNEL as BAYES
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import AcrossKernel
from heldout.kernels.discriminants.kernel import KERNEL as DISCRIMINANTS
from heldout.kernels.glm.kernel import KERNEL as GLM
from heldout.kernels.lasso.kernel import KERNEL as LASSO
from heldout.kernels.neighbours.kernel import KERNEL as NEIGHBOURS
from heldout.kernels.pls.kernel import KERNEL as PLS
from heldout.kernels.ridge.kernel import KERNEL as RIDGE
from heldout.kernels.smoothers.kernel import KERNEL as SMOOTHERS
from heldout.kernels.step import Held, Plain, Step, Training, Work, join
from heldout.kernels.vectors.kernel import KERNEL as VECTORS
from heldout.kernels.within import answer_within
from heldout.search.search import Search
from heldout.study.answers import Answer
from heldout.study.study import EVERYWHERE, TEST, Study, aside_of
from heldout.task.task import Task

Kernel = Callable[[Step, Work], Iterator[Answer]]

# Kernels that answer many training sets at once, in the order in which they may claim.
ACROSS: tuple[AcrossKernel, ...] = (
    RIDGE,
    NEIGHBOURS,
    APPROXIMATE,
    GLM,
    VECTORS,
    LASSO,
    PLS,
    BAYES,
    DISCRIMINANTS,
    SMOOTHERS,
)

# By kernel: whether a candidate's responses stay the same if a constant is added to a column.
IGNORES_ORIGIN: Mapping[str, Callable[[Search, Task, int], bool]] = {
    kernel.name: kernel.ignores_origin for kernel in ACROSS
}

# Kernels that fit every candidate, so that their work is counted in fits and they may take part in races.
FITS_EACH = frozenset(kernel.name for kernel in ACROSS if kernel.fits_each)

# Kernels named like the rule that uses them; users switch off the rule by this name.
SWITCHED = frozenset({"within", *(kernel.name for kernel in ACROSS)})

KERNELS: Mapping[str, Kernel] = {
    "brute": answer_by_brute_force,
    "within": answer_within,
    **{kernel.name: kernel.answer for kernel in ACROSS},
}


def perform(step: Step, work: Work) -> list[Answer]:
    """Return all answers of one step, computed under the scikit-learn configuration with which the study was asked."""
    with sklearn.config_context(**work.config), naming_the_way_out(step.kernel):
        return list(KERNELS[step.kernel](step, work))


@contextmanager
def naming_the_way_out(kernel: str) -> Iterator[None]:
    """Add a note to an unexpected error of a kernel that says how to switch this kernel off."""
    try:
        yield
    except HeldoutError:
        raise
    except Exception as error:
        if kernel in SWITCHED:
            error.add_note(
                f"This came out of heldout's rule {kernel!r}. To go without it: Options(rules={{{kernel!r}: False}}), "
                f"or {RULES_VARIABLE}={kernel}=off in the environment."
            )
        raise


FEW = 100  # up to so many trainings are listed one by one instead of in stretches
_BY_NAME = {kernel.name: kernel for kernel in ACROSS}


def ask_everywhere(steps: Sequence[Step], study: Study, task: Task) -> tuple[Step, ...]:
    """Return the steps, where the predictors of some test parts also answer the rows of EVERYWHERE."""
    if not study.everywhere.parts:
        return tuple(steps)
    return tuple(more for step in steps for more in _asked_more(step, study, task))


def _asked_more(step: Step, study: Study, task: Task) -> Iterator[Step]:
    """Yield the step with the extra predictions.

    Where these would keep its kernel from answering all single rows together (leave-one-out), a second step makes them.
    """
    if TEST not in step.levels:
        yield step
        return
    kernel, everywhere = _BY_NAME.get(step.kernel), study.everywhere.parts
    leaves_rows_out = getattr(kernel, "leaves_rows_out", False)
    aside = aside_of(step.candidates[0])
    together: list[Sequence[Training]] = []
    apart: list[Training] = []
    for piece in step.pieces:
        tested = _tested(piece, everywhere)
        single = leaves_rows_out and any(
            study.splits[t.trains[0].splits].held_sizes.max() == 1 for t in tested.values()
        )
        more = {}
        for part, training in tested.items():
            side = Held(aside, EVERYWHERE, EVERYWHERE, everywhere.index(part))
            more[part] = training._replace(answers=(side,) if single else (*training.answers, side))
        if kernel is not None and any(kernel.refuses(study.search, task, t, study.splits) for t in more.values()):
            more = {}
        if single:
            apart += more.values()
        together += [piece] if single or not more else _replaced(piece, more)
    yield replace(step, trainings=join(together))
    if apart:
        yield replace(step, trainings=tuple(apart), fits=0)


def _tested(piece: Sequence[Training], parts: tuple[int, ...]) -> dict[int, Training]:
    """Return the trainings of test parts that make extra predictions, by part."""
    if isinstance(piece, Plain):
        tested = [part for part in parts if part in piece.parts] if piece.level == TEST else []
        return {part: piece[part - piece.parts.start] for part in tested}
    return {part: training for training in tuple(piece) if (part := _part_of(training)) in parts}


def _part_of(training: Training) -> int:
    """Return the test part that a training answers, or −1 where it answers none."""
    return next((held.part for held in training.answers if held.level == TEST), -1)


def _replaced(piece: Sequence[Training], more: Mapping[int, Training]) -> Iterator[Sequence[Training]]:
    """Yield the piece with some trainings replaced. Unchanged stretches keep their compact form (`Plain`)."""
    if not isinstance(piece, Plain) or len(piece.parts) <= FEW:
        yield tuple([more.get(_part_of(training), training) for training in tuple(piece)])
        return
    for replaced, parts in groupby(piece.parts, key=more.__contains__):
        run = list(parts)
        if replaced:
            yield tuple(more[part] for part in run)
        else:
            yield piece[run[0] - piece.parts.start : run[-1] + 1 - piece.parts.start]
