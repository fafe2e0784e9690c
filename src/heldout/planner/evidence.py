"""Evidence for intervals: the predictors of some test parts also answer a fixed set of rows, and give probabilities.

Law: it changes no cell of a panel and takes no fit; predictors that are fitted anyway make further predictions. It is
left out where a kernel cannot make them, and where predicting would not be far cheaper than the study itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from heldout.kernels.perform import ACROSS
from heldout.kernels.step import Held, Plain, Step, Training, join
from heldout.losses import needed_methods
from heldout.planner.cost import Prices, costly, prices_of
from heldout.study.study import EVERYWHERE, OUTER, TEST, Everywhere, Study, aside_of, asked_parts, with_everywhere
from heldout.task.task import Task

EVIDENCE = "evidence"  # the name that switches it off: Options(rules={"evidence": False})
SHARE = 3  # extra predictions may cost a third of the study; for small studies this overstates their cost
SIZES = ((10, 1_000), (10, 500), (5, 500), (3, 300), (2, 500), (1, 500))  # predictors, rows: dearest first
FEW = 100  # up to so many trainings are listed one by one instead of in stretches
_KERNELS = {kernel.name: kernel for kernel in ACROSS}


def with_evidence(study: Study, task: Task, *, rules: Mapping[str, bool], limited: bool) -> Study:
    """Return the study with extra predictions for intervals, as many as are cheap, or the reason why there are none.

    This depends on the question alone and is decided before any fit. `limited` means that single fits have a time or
    memory limit, which extra predictions would count towards.
    """
    if len(study.splits[OUTER]) < 2 or not rules.get(EVIDENCE, True):
        return study
    reason = "fits have limits of time or memory" if limited else costly(study.search)
    if reason is None:
        prices, wanted = prices_of(study, task), _wants_probabilities(study, task)
        # Every interval rule uses probabilities of the test rows, so sizes that afford these too are tried first.
        for tests_too in (wanted, False):
            for parts, rows in SIZES:
                asked = Everywhere(probabilities=wanted, tests_too=tests_too)
                asked_study = _asked(study, task, (parts, rows), prices, asked)
                if asked_study is not None:
                    return asked_study
            if tests_too and prices.begin + _price_of_tests(study, prices) <= prices.study / SHARE:
                words = "interval: predictors are asked for probabilities too, at no further fits"
                return replace(study, everywhere=Everywhere(probabilities=True, tests_too=True, words=words))
        reason = "further predictions would cost too much beside the study itself"
    return replace(study, everywhere=Everywhere(words=f"interval: by losses of held-out rows alone, since {reason}"))


def _asked(study: Study, task: Task, size: tuple[int, int], prices: Prices, everywhere: Everywhere) -> Study | None:
    """Return the study with `size` (predictors, rows) of extra predictions, or None if they cost too much."""
    outer, asked = study.splits[OUTER], asked_parts(study, size[0])
    rows = min(size[1], len(outer.rows))
    if rows == len(outer.rows) and len(asked) == len(outer):  # the extra predictions cover all test rows already
        everywhere = replace(everywhere, tests_too=False)
    price = prices.begin + len(asked) * (prices.call + rows * prices.row)
    if price + everywhere.tests_too * _price_of_tests(study, prices) > prices.study / SHARE:
        return None
    words = f"interval: the predictors of {len(asked)} test parts also answer {rows:,} rows, at no further fits"
    return with_everywhere(study, task, replace(everywhere, parts=asked, words=words), rows=rows)


def _price_of_tests(study: Study, prices: Prices) -> float:
    outer = study.splits[OUTER]
    return len(outer) * prices.test_call + len(outer.held) * prices.row


def _wants_probabilities(study: Study, task: Task) -> bool:
    """Return whether y has two classes, losses need only labels, and every estimator has predict_proba."""
    two = task.classes is not None and len(task.classes) == 2
    able = all(hasattr(family.estimator, "predict_proba") for family in study.search.families)
    return two and able and set(needed_methods(study.reported)) <= {("predict",)}


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
    kernel, everywhere = _KERNELS.get(step.kernel), study.everywhere.parts
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
    if not isinstance(piece, Plain) or len(piece) <= FEW:
        yield tuple([more.get(_part_of(training), training) for training in tuple(piece)])
        return
    for replaced, parts in groupby(piece.parts, key=more.__contains__):
        run = list(parts)
        if replaced:
            yield tuple(more[part] for part in run)
        else:
            yield piece[run[0] - piece.parts.start : run[-1] + 1 - piece.parts.start]
