"""The kernel `approximate_loo`: one Newton step from the fit on all rows to each fit that leaves one out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.approximate.answer import answer
from heldout.kernels.claims import Claims
from heldout.kernels.glm.recognise import claim, read_candidates, refuse_training, takes_all
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

FEWEST = 20  # rows: with fewer, fits are as cheap as the check of an approximation
NOT_SINGLE = "only leave-one-out is approximated"
TOO_FEW = f"leave-one-out of fewer than {FEWEST} rows is not approximated"
SEVERAL = "leave-one-out of several classes is not approximated"
BALANCED = "class_weight='balanced' weighs every training set anew"


class ApproximateKernel:
    """LogisticRegression of two classes, Poisson-, Gamma- and TweedieRegressor under leave-one-out. Tier: approximate.

    A scaler keeps the means and spreads of all rows.
    """

    name = "approximate_loo"
    tier = "approximate"

    def claim(self, search: Search, task: Task) -> Claims:
        found = claim(search, task)
        if found.groups and task.classes is not None and len(task.classes) > 2:
            return Claims(refusals=(*found.refusals, SEVERAL))
        firsts = dict.fromkeys(group[0] for group in found.groups)
        forms = {form for form in read_candidates(search, task, tuple(firsts)) if form.class_weight == "balanced"}
        if not forms:
            return found
        kept = [group for group in found.groups if not read_candidates(search, task, group[:1]).keys() & forms]
        return Claims(groups=tuple(kept), refusals=(*found.refusals, BALANCED))

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        own = training.trains[0]
        held = [(one.splits, one.part) for one in training.answers]
        if _leaves_one_out(splits[own.splits], fewest=2) and len(splits[own.splits].rows) < FEWEST:
            return TOO_FEW
        if not _leaves_one_out(splits[own.splits]) or held != [(own.splits, own.part)]:
            return NOT_SINGLE
        return refuse_training(task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return _leaves_one_out(splits) and takes_all(task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 1

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)


def _leaves_one_out(splits: Splits, fewest: int = FEWEST) -> bool:
    """Whether the parts each leave a single row of one set out, and are many."""
    return splits.train is None and len(splits.rows) >= fewest and bool((splits.held_sizes == 1).all())


KERNEL = ApproximateKernel()
