"""The kernel `neighbours`: KNeighborsClassifier and KNeighborsRegressor, for every n_neighbors and weighting at once.

Law: without the rows that do not train, a row's neighbour list in the whole task is its list in that training set. So
one search serves every k, and every training set of a task whose columns are not preprocessed. Where two neighbours are
equally far within rounding, scikit-learn's own search decides. Tier: identical.

It must refuse training sets that lack a class, and metrics and weights that are functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import Claims
from heldout.kernels.driver.claim import lacking, methods_asked, training_problem
from heldout.kernels.driver.prepared import Candidate, PreparedKernel
from heldout.kernels.neighbours.answers import Answers, Target, target_of
from heldout.kernels.neighbours.arithmetic import Setting, setting_of
from heldout.kernels.neighbours.lists import Lists
from heldout.kernels.neighbours.members import MODELS, WORDS, Member, read_member
from heldout.kernels.neighbours.runs import Run, make_runs
from heldout.kernels.neighbours.shared import Route, answer_part, answer_shared, prepare_lists, routes
from heldout.kernels.scoring import catch_all_warnings, score_block
from heldout.kernels.step import Step, Training, Work, remember
from heldout.kernels.sums.dataset import smallest_class
from heldout.kernels.threads import Spread, spreading
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

FIT = 2_000_000  # operations of a fit and a predict call besides distances
SORTING = 20  # operations of a distance besides its columns


class Neighbours(PreparedKernel[Member]):
    """KNeighborsClassifier and KNeighborsRegressor: one search answers many cells. Tier: identical."""

    name = "neighbours"
    tier = "identical"
    models = MODELS
    words = WORDS

    def read(self, candidate: Candidate) -> Member:
        return read_member(candidate)

    def claim(self, search: Search, task: Task) -> Claims:
        def problem(member: Member) -> str | None:
            return _about_task(task) or lacking(member.methods(task), search.losses)

        return self.claim_where(search, problem)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        reason = training_problem(task, training, splits)
        if reason is not None:
            return reason
        ref = training.trains[0]
        held = sum(int(splits[held.splits].held_sizes[held.part]) for held in training.answers)
        n = int(splits[ref.splits].train_sizes[ref.part])
        return self._size_refusal(search, task, parts=len(splits[ref.splits]), trained_on=n, held=held)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        sizes = np.unique(splits.train_sizes[parts.start : parts.stop])
        if len(sizes) > 1 or splits.train is not None:
            return False
        n = int(sizes[0])
        whole = task.classes is None or smallest_class(task) > len(task) - n
        alike = {"parts": len(splits), "trained_on": n, "held": len(splits.rows) - n}
        return n >= 2 and whole and self._size_refusal(search, task, **alike) is None

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 0

    def _size_refusal(self, search: Search, task: Task, *, parts: int, trained_on: int, held: int) -> str | None:
        """Return why a training of this size is left to brute force, or None: too few rows, or by operation counts."""
        largest, most = remember(search.memo, "extent of neighbours", lambda: self._extent(search))
        if largest > trained_on:
            return f"a candidate asks for {largest} neighbours of {trained_on} training rows"
        each = (task.n_columns or 1) + SORTING
        brute = most * parts * (FIT + held * trained_on * each)
        shared = 2 * FIT + min(parts * held, len(task)) * len(task) * each
        if brute > shared:
            return None
        return f"with {most} candidate(s) and {parts} part(s), a search of each is cheaper than one of the whole"

    def _extent(self, search: Search) -> tuple[int, int]:
        """Return the largest number of neighbours, and how many candidates the largest group has."""
        members = self.read_all(search)[0].values()
        groups = Counter(member.group for member in members)
        return max(member.k for member in members), max(groups.values())

    def answer_prepared(self, members: list[Member], step: Step, work: Work) -> Iterator[Answer]:
        methods = members[0].methods(work.task)
        levels = {held.level for training in step.trainings for held in training.answers}
        target = target_of(work.task, classifier=members[0].classifies)
        probabilities = {level: "predict_proba" in methods_asked(methods, work.losses[level]) for level in levels}
        row_bytes = Answers.row_bytes(target, len(members), proba=any(probabilities.values()))
        runs = list(make_runs(step.trainings, work, max(1, work.budget // 4 // row_bytes)))
        spread = spreading(work.jobs)
        group = _prepare(members, target, runs, work, spread)
        if group is None:
            yield from answer_by_brute_force(step, work)
            return
        for number, run in enumerate(runs):
            yield from group.answer(step, number, run, proba=probabilities[run.helds[0].level])


KERNEL = Neighbours()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """Members that are answered together, and the lists that they share."""

    members: Sequence[Member]
    target: Target
    setting: Setting | None  # None: each training set has distances of its own
    routes: Sequence[Mapping[Route | None, list[int]]]  # of each run
    lists: Mapping[str, Lists]
    spread: Spread

    def answer(self, step: Step, number: int, run: Run, *, proba: bool) -> Iterator[Answer]:
        """Answer all members on one run. Where scikit-learn fails or warns, brute force answers and reports it."""
        started = perf_counter()
        answers = Answers(self.members, self.target, len(run.rows), proba=proba)
        failed = False
        with catch_all_warnings() as caught:
            try:
                self._fill(answers, run, self.routes[number])
            except Exception:
                failed = True
        if failed or caught:  # brute force finds out which cell fails or warns, and how
            yield from answer_by_brute_force(replace(step, trainings=run.trainings), run.work)
            return
        responses = [answers.responses(member) for member in range(len(self.members))]
        seconds = perf_counter() - started
        yield from score_block(run.work, run.helds, step.candidates, responses, seconds=seconds)

    def _fill(self, answers: Answers, run: Run, by_route: Mapping[Route | None, list[int]]) -> None:
        alone: dict[int, list[int]] = {}  # members that need a search of one part's own training set
        for route, members in by_route.items():
            if route is None or self.setting is None:
                cells = [(part, member) for part in range(len(run.helds)) for member in members]
            else:
                lists = self.lists[route.search]
                cells = answer_shared(
                    answers, members, run, route, setting=self.setting, lists=lists, spread=self.spread
                )
            for part, member in cells:
                alone.setdefault(part, []).append(member)
        self.spread(lambda part: answer_part(answers, alone[part], run, part), sorted(alone))


def _prepare(
    members: Sequence[Member], target: Target, runs: Sequence[Run], work: Work, spread: Spread
) -> Group | None:
    """Return the group, with the lists that the runs read; None where scikit-learn fails or warns."""
    with catch_all_warnings() as caught:
        try:
            setting = setting_of(members[0].model, work.task) if members[0].before is None else None
            by_run = [routes(members, target, run, setting) for run in runs]
            lists = {}
            if setting is not None:
                lists = prepare_lists(members, list(zip(runs, by_run, strict=True)), setting, work, spread)
        except Exception:
            return None
    if caught:
        return None
    return Group(members=members, target=target, setting=setting, routes=by_run, lists=lists, spread=spread)


def _about_task(task: Task) -> str | None:
    if task.weight is not None:
        return "the rows have weights, which nearest neighbours do not take"
    if len(task.X.shape) != 2:
        return "X is no table of columns"
    if not task.classification and task.y.dtype not in (np.float64, np.float32) and task.y.dtype.kind not in "iub":
        return f"y is of type {task.y.dtype}"
    return None
