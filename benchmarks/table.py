"""A table of studies beside scikit-learn: the same rows, the same deliverables, both sides measured in one run.

scikit-learn gets both cores, at the best of n_jobs on the outer level, on the inner level, or none (none is left out
for forests, which take minutes). heldout's seconds are the median of several warm runs, one after the other. A peer
that takes less than a second is measured likewise, in turns with heldout: a rest, some runs that are not timed, since
a machine at rest wakes slowly, and then as many timed ones for either side. scikit-learn's leave-one-out is timed on
some of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold, cross_val_score

import heldout as ho

JOBS = 2
QUICK = 1.0  # seconds below which a peer is timed several times
ROUNDS = 11
REST = 0.1  # seconds after another side: threads of its BLAS still spin, and would slow the next
BOOTED = 10.0  # seconds from which the boot of workers is a small part of a run
WAKE = 0.2  # seconds of runs that are not timed, after a rest
TURNS, IN_A_ROW = 7, 3  # runs of quick sides
LONG = 10.0  # seconds of heldout's own, after which three rounds are enough
ALPHAS = ho.log_grid(-6, 2, 17).tolist()


class Row(NamedTuple):
    """One study of the table: how each side answers it, and the ratio that is asked."""

    words: str
    floor: float
    ours: Callable[[], tuple[Any, int]]  # fold scores, and fits done
    theirs: dict[str, Callable[[], Any]]  # fold scores, by way
    plan: Callable[[], Any]  # what explain says of it
    share: float = 1.0  # of scikit-learn's work that is timed


def print_table(rows: Mapping[str, Callable[[], Row]], asked: list[str]) -> None:
    """Print the table, a row as soon as it is measured."""
    unknown = [name for name in asked if name not in rows]
    if unknown:
        raise SystemExit(f"No row is called {unknown[0]!r}. There are: {', '.join(rows)}.")
    print(f"{'study':66}{'heldout':>10}{'peer':>10}{'ratio':>9}{'asked':>7}{'difference':>12}{'fits':>7}")
    below = 0
    for name, build in rows.items():
        if not asked or name in asked:
            below += _print_row(build())
    print(f"{below} below what is asked")


def _print_row(row: Row) -> bool:
    scores, fits = row.ours()  # workers boot and libraries load outside the clock
    firsts = {name: _first(way) for name, way in row.theirs.items()}
    quick = [name for name, (spent, _) in firsts.items() if spent < QUICK]
    seconds: dict[str, list[float]] = {name: [] if name in quick else [spent] for name, (spent, _) in firsts.items()}
    own: list[float] = []
    for _ in range(TURNS if quick else 0):  # side by side: what else the machine does hits both
        own += _spell(row.ours)
        for name in quick:
            seconds[name] += _spell(row.theirs[name])
        if sum(own) > LONG:
            break
    sleep(REST)
    for _ in range(0 if quick else ROUNDS):
        own.append(_timed(row.ours)[0])
        if sum(own) > LONG and len(own) >= 3:
            break
    best = min(seconds, key=lambda name: median(seconds[name]))
    mine, peer = median(own), median(seconds[best]) / row.share
    answer = firsts[best][1]
    gap = np.nan if scores is None or answer is None else float(np.abs(np.asarray(scores) - np.asarray(answer)).max())
    ratio = peer / mine
    mark = "" if ratio >= row.floor else "  BELOW"
    print(
        f"{row.words:66}{mine:>8.4f} s{peer:>8.3f} s{ratio:>9.2f}{row.floor:>7g}{gap:>12.2g}{fits:>7}{mark}", flush=True
    )
    return ratio < row.floor


def _spell(call: Callable[[], Any]) -> list[float]:
    """Seconds of some runs in a row, after others that wake the machine."""
    sleep(REST)
    awake = perf_counter() + WAKE
    call()
    while perf_counter() < awake:
        call()
    return [_timed(call)[0] for _ in range(IN_A_ROW)]


def _first(call: Callable[[], Any]) -> tuple[float, Any]:
    """The first run of a peer; one that is not long is made again, since its workers boot and its libraries load."""
    sleep(REST)
    spent, answer = _timed(call)
    return (min(spent, _timed(call)[0]) if spent < BOOTED else spent), answer


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = perf_counter()
    answer = call()
    return perf_counter() - started, answer


def nested(
    words: str,
    floor: float,
    learner: tuple[Any, dict[str, Any]],
    data: tuple[Any, Any],
    *,
    folds: tuple[int, int],
    score: str,
    options: ho.Options | None = None,
) -> Row:
    """A study of a grid chosen by K-fold inside K-fold."""
    estimator, space = learner
    X, y = data
    kind = StratifiedKFold if score == "accuracy" else KFold
    pairs = list(kind(folds[0], shuffle=True, random_state=0).split(X, y))
    inner = kind(folds[1], shuffle=True, random_state=1)

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=inner, loss=score)
        result = ho.evaluate(tuned, X, y, test=pairs, jobs=JOBS, progress=False, options=options)
        return result.folds[score].to_numpy(), result.plan.fits

    def theirs(outer: int | None, inside: int | None) -> Any:
        search = GridSearchCV(estimator, space, cv=inner, scoring=score, n_jobs=inside)
        return cross_val_score(search, X, y, cv=pairs, scoring=score, n_jobs=outer)

    ways = {
        "outer": partial(theirs, JOBS, None),
        "inner": partial(theirs, None, JOBS),
        "none": partial(theirs, None, None),
    }
    if isinstance(estimator, RandomForestClassifier):
        del ways["none"]
    tuned = ho.Tuned(estimator, space, validation=inner, loss=score)
    plan = partial(ho.explain, tuned, X, y, test=pairs, options=options)
    return Row(words, floor, ours, ways, plan)


def leave_one_out(
    words: str, floor: float, learner: tuple[Any, dict[str, Any]], data: tuple[Any, Any], *, parts: int = 100
) -> Row:
    """A grid chosen by leave-one-out; scikit-learn does so many of its parts."""
    estimator, space = learner
    X, y = data

    def ours() -> tuple[Any, int]:
        tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="neg_mean_squared_error", jobs=JOBS).fit(
            X, y
        )
        scores = [tuned.cv_results_[f"split{part}_test_score"] for part in range(parts)]
        return np.stack(scores), tuned.plan_.fits

    def theirs(jobs: int | None) -> Any:
        some = list(LeaveOneOut().split(X))[:parts]
        search = GridSearchCV(estimator, space, cv=some, scoring="neg_mean_squared_error", n_jobs=jobs, refit=False)
        results = search.fit(X, y).cv_results_
        return np.stack([results[f"split{part}_test_score"] for part in range(parts)])

    ways = {"two": partial(theirs, JOBS), "none": partial(theirs, None)}
    tuned = ho.Tuned(estimator, space, validation=ho.LeaveOneOut(), loss="neg_mean_squared_error", jobs=JOBS)
    return Row(words, floor, ours, ways, lambda: tuned.fit(X, y).plan_, share=parts / len(X))


def numbers(n: int, p: int) -> tuple[Any, Any]:
    """Data of a regression."""
    return make_regression(n, p, n_informative=p // 2, noise=20.0, random_state=0)


def classes(n: int, p: int) -> tuple[Any, Any]:
    """Data of two classes."""
    return make_classification(n, p, n_informative=min(p // 2, 10), flip_y=0.1, random_state=0)
