"""Answers members from one search of the whole task for every training set, or from a search of each training set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.extmath import row_norms

from heldout.base.rowkeys import Rows
from heldout.kernels.driver.prepared import PreparedRows, as_asked, fit_steps
from heldout.kernels.neighbours.answers import Answers, Target, fill
from heldout.kernels.neighbours.arithmetic import (
    Arithmetic,
    Near,
    Setting,
    expansion_error,
    fitted_arithmetic,
    shared_arithmetic,
)
from heldout.kernels.neighbours.lists import EuclideanSearcher, LibrarySearcher, Lists, list_length, make_lists, slices
from heldout.kernels.neighbours.members import Member
from heldout.kernels.neighbours.runs import Run, nearest
from heldout.kernels.step import Work
from heldout.kernels.sums.rounding import Bools
from heldout.kernels.threads import Spread
from heldout.kernels.within.signature import signature

BLOCK_ROWS = 512
OWN = "own"  # our own search by matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Describes how some members are answered on a run: which search, and how distances are compared."""

    search: str  # OWN, or the method of scikit-learn's search
    arithmetic: Arithmetic
    weights: str | None


def routes(
    members: Sequence[Member], target: Target, run: Run, setting: Setting | None
) -> dict[Route | None, list[int]]:
    """Return the members by route. Those under None need a search of each training set."""
    by_route: dict[Route | None, list[int]] = {}
    sizes = {int(run.trained_on.min()), int(run.trained_on.max())}
    shares = setting is not None and not run.repeats_rows()
    for number, member in enumerate(members):
        route = _route(setting, member, sizes, target.one_class_output) if shares and setting is not None else None
        by_route.setdefault(route, []).append(number)
    return by_route


def _route(setting: Setting, member: Member, sizes: set[int], one_class_output: bool) -> Route | None:
    methods = {setting.method(member.k, n) for n in sizes}
    if len(methods) > 1:
        return None
    method = methods.pop()
    arithmetic = shared_arithmetic(setting, method, member.weights, one_class_output=one_class_output)
    if arithmetic is None:
        return None
    by_products = setting.euclidean and member.weights != "distance"  # weights need distances to the last bit
    return Route(search=OWN if by_products else method, arithmetic=arithmetic, weights=member.weights)


def prepare_lists(
    members: Sequence[Member],
    runs: Sequence[tuple[Run, Mapping[Route | None, list[int]]]],
    setting: Setting,
    work: Work,
    spread: Spread,
) -> dict[str, Lists]:
    """Return the neighbour lists that these runs read, by search. Lists of an earlier step are used again."""
    wanted: dict[str, tuple[int, list[Rows]]] = {}
    for run, by_route in runs:
        for route, numbers in by_route.items():
            if route is not None:
                need = max(members[number].k for number in numbers) + 1
                length, several = wanted.get(route.search, (0, []))
                length = max(length, list_length(need, int(run.trained_on.min()) / len(work.task)))
                wanted[route.search] = length, [*several, run.rows]
    lists: dict[str, Lists] = {}
    for search, (length, several) in wanted.items():
        rows = np.unique(np.concatenate(several))
        key = ("neighbours", search, signature(setting.model, without=("n_neighbors", "weights", "n_jobs")))
        kept: Lists | None = work.products.get(key)
        if kept is None or not kept.serves(rows, length):
            searcher = EuclideanSearcher(setting.X) if search == OWN else LibrarySearcher(setting, search, work)
            kept = work.products[key] = make_lists(searcher, rows, length, spread=spread, room=work.room // 3)
        lists[search] = kept
    return lists


def answer_shared(
    answers: Answers, which: Sequence[int], run: Run, route: Route, *, setting: Setting, lists: Lists, spread: Spread
) -> list[tuple[int, int]]:
    """Answer these members on all rows of a run. scikit-learn decides the rows that ties leave open.

    Returns the (part, member) pairs that need a search of their own, since there a row's answer depends on other rows.
    """
    width = max(answers.members[number].k for number in which) + 1
    doubtful = np.zeros((len(which), len(run.rows)), dtype=bool)

    def answer(cut: slice) -> None:
        near = nearest(lists, run, cut, width=width, tie=route.arithmetic.tie)
        if route.arithmetic.expanded:  # add scikit-learn's own error, from norms that are not centred
            X = setting.X[run.rows[cut]].astype(np.float64, copy=False)
            norms = np.einsum("ij,ij->i", X, X)
            near = replace(near, slack=near.slack + expansion_error(norms, X.shape[1]))
        doubtful[:, cut] = fill(answers, which, near, cut, route.arithmetic)

    spread(answer, slices(len(run.rows), BLOCK_ROWS))
    if not doubtful.any():
        return []
    if route.arithmetic.rowwise:
        parts = np.unique(run.part_of(np.flatnonzero(doubtful.any(axis=0))))
        spread(lambda part: _settle(answers, which, run, part, doubtful), parts.tolist())
        return []
    cells = np.logical_or.reduceat(doubtful, run.cuts[:-1], axis=1)
    return [(int(part), which[place]) for place, part in zip(*np.nonzero(cells), strict=True)]


def _settle(answers: Answers, which: Sequence[int], run: Run, part: int, doubtful: Bools) -> None:
    cut = run.rows_of(part)
    settle_part(answers, [(number, lines[cut]) for number, lines in zip(which, doubtful, strict=True)], run, part)


# ---------------------------------------------------------------------- one search for each training set


def answer_part(answers: Answers, which: Sequence[int], run: Run, part: int) -> None:
    """Answer these members on one part of a run, from a search of its training set."""
    n = int(run.trained_on[part])
    with as_asked(run.work):
        rows = _prepared(answers, run, part)
        # algorithm="auto" changes from a tree to brute force at half the training rows.
        for many in (False, True):
            alike = [number for number in which if (answers.members[number].k >= n // 2) is many]
            if alike:
                _answer_alike(answers, alike, rows, run, part)


def settle_part(answers: Answers, doubtful: Sequence[tuple[int, Bools]], run: Run, part: int) -> None:
    """Let fitted learners answer the rows of a part that are in doubt for each member."""
    with as_asked(run.work):
        rows = _prepared(answers, run, part)
        knn = _fit(answers, doubtful[0][0], rows)
        for number, lines in doubtful:
            if lines.any():
                _settle_rows(answers, number, knn, rows.held[0], lines, start=int(run.cuts[part]))


def _prepared(answers: Answers, run: Run, part: int) -> PreparedRows:
    train = run.work.train_rows(run.ref(part))
    return fit_steps(answers.members[0].before, run.work, train, [run.rows[run.rows_of(part)]])


def _fit(answers: Answers, number: int, rows: PreparedRows) -> Any:
    member = answers.members[number]
    return clone(member.model).set_params(n_jobs=None).fit(rows.train, rows.y)


def _answer_alike(answers: Answers, which: Sequence[int], rows: PreparedRows, run: Run, part: int) -> None:
    largest = max(which, key=lambda number: answers.members[number].k)
    k, X, cut = answers.members[largest].k, rows.held[0], run.rows_of(part)
    train = run.work.train_rows(run.ref(part))
    knn = _fit(answers, largest, rows)
    far, near = knn.kneighbors(X, n_neighbors=min(k + 1, len(train)))
    if far.shape[1] <= k:
        far = np.concatenate([far, np.full((len(far), 1), np.inf)], axis=1)
        near = np.concatenate([near, np.zeros((len(near), 1), dtype=near.dtype)], axis=1)
    for weights in ("uniform", "distance", None):
        alike = [number for number in which if answers.members[number].weights == weights]
        if alike:
            arithmetic = fitted_arithmetic(knn, X, weights)
            found = _near(train[near].astype(np.int32), far, knn, X, arithmetic)
            for number, lines in zip(alike, fill(answers, alike, found, cut, arithmetic), strict=True):
                if lines.any():
                    _settle_rows(
                        answers, number, knn, X, lines if arithmetic.rowwise else np.ones_like(lines), start=cut.start
                    )


def _near(rows: Any, far: Any, knn: Any, X: Any, arithmetic: Arithmetic) -> Near:
    """Return the library's distances, squared and with an error bound where the compiled vote computes its own."""
    if not arithmetic.expanded:
        return Near(rows=rows, far=far, slack=np.zeros(len(far)))
    squares = far if knn.effective_metric_ == "sqeuclidean" else far * far
    norms = row_norms(check_array(X, dtype=np.float64), squared=True)
    return Near(rows=rows, far=squares, slack=expansion_error(norms, knn._fit_X.shape[1]))


def _settle_rows(answers: Answers, number: int, knn: Any, X: Any, lines: Bools, *, start: int) -> None:
    """Let the fitted learner itself answer the rows that `lines` marks."""
    member = answers.members[number]
    knn.n_neighbors, knn.weights = member.k, member.weights
    asked = np.flatnonzero(lines)
    answers.put(number, start + asked, knn, X if lines.all() else _safe_indexing(X, asked))
