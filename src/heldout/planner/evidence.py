"""Evidence for intervals: the predictors of some test parts answer a fixed set of rows too, and give probabilities.

Law: it changes no cell of a panel and takes no fit; predictors that are made anyway are asked more. It is left out
where a kernel cannot answer that, and where predicting would cost more than a twentieth of the study.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from heldout.base.losses import Loss, needed_methods
from heldout.kernels.perform import ACROSS
from heldout.kernels.step import Step
from heldout.kernels.trainings import Held, Plain, Training, join, pieces_of
from heldout.planner.predicting import costly_predictions, has_probabilities
from heldout.study.everywhere import aside_of, losses_everywhere, with_probabilities
from heldout.study.panels import EVERYWHERE, SPREAD, TEST, VALIDATION, Study
from heldout.task.task import Task

EVIDENCE = "evidence"  # the name that switches it off: Options(rules={"evidence": False})
_KERNELS = {kernel.name: kernel for kernel in ACROSS}


def why_no_evidence(study: Study, task: Task, *, rules: Mapping[str, bool] | None, limited: bool) -> str | None:
    """Why predictors are asked nothing more in this study, or None where they are. No answer has a say in it."""
    if not study.everywhere:
        return "there is one test part"
    if rules is not None and not rules.get(EVIDENCE, True):
        return "switched off"
    if limited:
        return "fit_timeout and fit_memory end fits with all that is asked of them"
    return costly_predictions(study, task)


def evidence_words(study: Study, why_not: str | None) -> tuple[str, ...]:
    """What predictors are asked for the interval, in one line; nothing where a study has no such predictors."""
    if not study.everywhere:
        return ()
    if why_not is not None:
        return (f"interval: by held-out losses alone, as {why_not}.",)
    rows, parts = len(study.splits[EVERYWHERE].rows), len(study.everywhere)
    return (f"interval: the predictors of {parts} test parts also answer {rows:,} rows, at no further fits.",)


def losses_by_level(study: Study, task: Task, why_not: str | None) -> dict[str, tuple[Loss, ...]]:
    """The losses of each level, which say what predictors are asked for there."""
    losses = {level: study.losses_at(level) for level in (TEST, VALIDATION, SPREAD)}
    if why_not is not None:
        return losses
    two = task.classes is not None and len(task.classes) == 2
    if two and set(needed_methods(study.reported)) <= {("predict",)} and has_probabilities(study.search):
        losses[TEST] = with_probabilities(losses[TEST])
    return {**losses, EVERYWHERE: losses_everywhere(losses[TEST])}


def ask_everywhere(steps: Sequence[Step], study: Study, task: Task) -> tuple[Step, ...]:
    """The same steps, in which the predictors of some test parts answer the rows of EVERYWHERE too."""
    return tuple(more for step in steps for more in _asked_more(step, study, task))


def _asked_more(step: Step, study: Study, task: Task) -> Iterator[Step]:
    """The step, and another of its kernel for what would stand in the way of a decomposition that it shares."""
    kernel = _KERNELS.get(step.kernel)
    together: list[Sequence[Training]] = []
    apart: list[Training] = []
    for piece in _pieces(step.trainings, study):
        if isinstance(piece, Plain):
            together.append(piece)
            continue
        for training in piece:
            held = _everywhere(training, study)
            more = None if held is None else training._replace(answers=(*training.answers, held))
            if held is None or more is None or (kernel and kernel.refuses(study.search, task, more, study.splits)):
                together.append((training,))
            elif getattr(kernel, "leaves_rows_out", False) and _single(training, study):
                together.append((training,))
                apart.append(training._replace(answers=(held,)))
            else:
                together.append((more,))
    yield replace(step, trainings=_whole(step.trainings, together, apart))
    if apart:
        yield replace(step, trainings=tuple(apart), fits=0)


def _pieces(trainings: Sequence[Training], study: Study) -> Iterator[Sequence[Training]]:
    """The trainings, plain stretches cut where a part is asked more."""
    for piece in pieces_of(trainings):
        if not isinstance(piece, Plain) or piece.sides.level != TEST:
            yield piece if isinstance(piece, Plain) else tuple(piece)
            continue
        for asked, parts in groupby(piece.parts, key=set(study.everywhere).__contains__):
            own = list(parts)
            some = piece[own[0] - piece.parts.start : own[-1] + 1 - piece.parts.start]
            yield tuple(some) if asked else some


def _whole(
    before: Sequence[Training], pieces: Sequence[Sequence[Training]], apart: Sequence[Training]
) -> Sequence[Training]:
    return before if apart else join(pieces)


def _everywhere(training: Training, study: Study) -> Held | None:
    """What the predictor of this training is asked, where it is that of a test part which is asked more."""
    tested = next((held for held in training.answers if held.level == TEST), None)
    if tested is None or tested.part not in study.everywhere:
        return None
    return Held(aside_of(tested.part), EVERYWHERE, EVERYWHERE, 0)


def _single(training: Training, study: Study) -> bool:
    held = training.answers[0]
    return int(study.splits[held.splits].held_sizes[held.part]) == 1
