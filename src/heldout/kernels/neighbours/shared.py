"""One search of the whole task, which answers every training set, k and weighting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.neighbours.answers import Outbox, fill
from heldout.kernels.neighbours.backend import (
    Arithmetic,
    Setting,
    expansion_error,
    fit_method,
    numeric_matrix,
    setting_of,
    shared_arithmetic,
)
from heldout.kernels.neighbours.direct import fit_member, settle
from heldout.kernels.neighbours.doubt import Near, ties
from heldout.kernels.neighbours.family import Group, last_step
from heldout.kernels.neighbours.runs import Run, batches, nearest
from heldout.kernels.neighbours.search import (
    EuclideanSearcher,
    LibrarySearcher,
    Lists,
    Searcher,
    blocks,
    list_length,
    make_lists,
    measures_like_library,
)
from heldout.kernels.neighbours.spread import spread
from heldout.kernels.step import Work

PRODUCT = "neighbours"
BLOCK_ROWS = 512
TIE_SAMPLE = 64  # rows that tell how common ties are
MOST_TIED = 2.0  # rows in doubt a part, past which each training set is searched at once
OWN = "own"  # the search by matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How some members are answered on a run: from which lists, compared how."""

    search: str  # OWN, or scikit-learn's own search by this method
    arithmetic: Arithmetic
    weights: str | None


def setting_for(group: Group, work: Work) -> Setting | None:
    """What a shared search needs to know, or None where each training set has distances of its own."""
    if group.prepared:
        return None
    key = (PRODUCT, "setting", id(group.estimator))  # the search keeps its groups alive
    if key not in work.products:
        X = _matrix(work)
        found = None
        if X is not None:
            found = setting_of(group.knn, work.task.take, X, measured=measures_like_library(X))
        work.products[key] = found
    setting: Setting | None = work.products[key]
    return setting


def _matrix(work: Work) -> NDArray[Any] | None:
    key = (PRODUCT, "matrix")
    if key not in work.products:
        work.products[key] = numeric_matrix(work.task.X)
    matrix: NDArray[Any] | None = work.products[key]
    return matrix


def routes(
    out: Outbox, run: Run, setting: Setting | None, work: Work, *, repeats: bool
) -> dict[Route | None, list[int]]:
    """The members by route; those under None need a search of each training set."""
    found: dict[Route | None, list[int]] = {}
    sizes = {int(run.trained_on.min()), int(run.trained_on.max())}
    for number, member in enumerate(out.members):
        route: Route | None = None
        if setting is not None and not repeats:
            methods = {fit_method(setting, member.k, n) for n in sizes}
            if len(methods) == 1:
                route = _route(setting, methods.pop(), member.weights, out.target.one_class_output)
        found.setdefault(route, []).append(number)
    held = len(run.rows) / len(run.helds)
    for route in [route for route in found if route is not None and not route.arithmetic.rowwise]:
        assert setting is not None
        largest = max(out.members[number].k for number in found[route])
        if held * tied_share(route, setting, largest, work) > MOST_TIED:
            found.setdefault(None, []).extend(found.pop(route))
    return found


def tied_share(route: Route, setting: Setting, largest: int, work: Work) -> float:
    """The share of rows with a tie among their nearest: a row drawn into doubt takes its whole part with it."""
    key = (PRODUCT, "tied", route, _key(route.search, setting))
    if key not in work.products:
        rows = np.arange(0, len(setting.X), max(1, len(setting.X) // TIE_SAMPLE))
        searcher = _searcher(route.search, setting, direct=False)
        found = searcher.find(rows, largest + 2)
        near = Near(rows=found.rows, far=found.far, slack=found.slack, squared=searcher.squared)
        if route.arithmetic.expanded:
            near = _expanded(near, setting.X[rows])
        work.products[key] = float(ties(near, route.arithmetic).any(axis=1).mean())
    share: float = work.products[key]
    return share


def _searcher(search: str, setting: Setting, *, direct: bool) -> Searcher:
    return EuclideanSearcher(setting.X, direct=direct) if search == OWN else LibrarySearcher(setting, search)


def _route(setting: Setting, method: str, weights: str | None, one_class_output: bool) -> Route | None:
    arithmetic = shared_arithmetic(setting, method, weights, one_class_output=one_class_output)
    if arithmetic is None:
        return None
    search = OWN if setting.euclidean else method
    if search == OWN and weights == "distance" and not setting.measured:
        search = method
    return Route(search=search, arithmetic=arithmetic, weights=weights)


def prepare(routes_of_runs: Iterable[tuple[Run, Outbox, Any]], setting: Setting, work: Work) -> None:
    """Make the neighbour lists that these runs read, or leave those that an earlier step made."""
    wanted: dict[str, tuple[int, bool, list[NDArray[np.intp]]]] = {}
    for run, out, by_route in routes_of_runs:
        for route, numbers in by_route.items():
            if route is None:
                continue
            need = max(out.members[number].k for number in numbers) + 1
            length = list_length(need, int(run.trained_on.min()) / len(work.task))
            longest, direct, rows = wanted.get(route.search, (0, False, []))
            wanted[route.search] = (max(longest, length), direct or route.weights == "distance", [*rows, run.rows])
    for search, (length, direct, rows) in wanted.items():
        key = _key(search, setting)
        lists: Lists | None = work.products.get(key)
        asked = np.unique(np.concatenate(rows))
        if lists is not None and lists.serves(asked, length, direct=direct):
            continue
        searcher = _searcher(search, setting, direct=direct)
        work.products[key] = make_lists(searcher, asked, length, jobs=work.jobs, room=work.room // 3)


def _key(search: str, setting: Setting) -> Any:
    if search == OWN:
        return (PRODUCT, OWN)
    params = tuple(sorted((name, repr(np.asarray(value).tolist())) for name, value in setting.params.items()))
    return (PRODUCT, search, setting.metric, params, setting.leaf_size)


def answer_shared(
    out: Outbox, which: Sequence[int], run: Run, route: Route, setting: Setting, *, work: Work
) -> list[tuple[int, int]]:
    """Answer these members on all rows of a run; scikit-learn settles what ties leave open.

    What comes back are parts and members that need a search of their own, since there rows depend on each other.
    """
    lists: Lists = work.products[_key(route.search, setting)]
    width = max(out.members[number].k for number in which) + 1
    open_ = np.zeros((len(which), len(run.rows)), dtype=bool)
    whole = batches(run, work)
    pieces = [
        (batch, slice(batch.cut.start + piece.start, batch.cut.start + piece.stop))
        for batch in whole
        for piece in blocks(batch.cut.stop - batch.cut.start, BLOCK_ROWS)
    ]

    def answer(piece: tuple[Any, slice]) -> None:
        batch, cut = piece
        near = nearest(lists, run, batch, cut, width=width, tie=route.arithmetic.tie)
        if route.arithmetic.expanded:
            near = _expanded(near, setting.X[run.rows[cut]])
        open_[:, cut] = fill(out, which, near, cut, route.arithmetic)

    spread(work.jobs, answer, pieces, library=not lists.searcher.squared)
    if not open_.any():
        return []
    if route.arithmetic.rowwise:
        _settle(out, which, run, open_, work)
        return []
    cells = np.add.reduceat(open_, run.cuts[:-1], axis=1, dtype=np.intp) > 0
    return [(int(part), which[place]) for place, part in zip(*np.nonzero(cells), strict=True)]


def _expanded(near: Near, X: NDArray[Any]) -> Near:
    """scikit-learn's own error, from norms that are not centred, comes on top."""
    values = X.astype(np.float64, copy=False)
    return replace(near, slack=near.slack + expansion_error(np.einsum("ij,ij->i", values, values), X.shape[1]))


def _settle(out: Outbox, which: Sequence[int], run: Run, open_: NDArray[np.bool_], work: Work) -> None:
    """Let the learner itself answer single rows, fitted once for each part that has some."""
    lines = open_.any(axis=0)
    parts = np.unique(np.searchsorted(run.cuts, np.flatnonzero(lines), side="right") - 1)

    def settle_part(part: int) -> None:
        cut = slice(int(run.cuts[part]), int(run.cuts[part + 1]))
        own = [place for place in range(len(which)) if open_[place, cut].any()]
        knn = last_step(fit_member(out, which[own[0]], work.train_rows(run.ref(part)), work))
        X = work.task.take(run.part_rows(part))
        for place in own:
            asked = np.flatnonzero(open_[place, cut])
            settle(out, which[place], (knn, X), asked, cut.start, rowwise=True)

    spread(work.jobs, settle_part, [int(part) for part in parts], library=True)
