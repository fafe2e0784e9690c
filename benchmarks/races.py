"""Races on 30 seeds: how many fits each skips, whether a choice changed, and what that cost.

For each seed new data and new splits, a grid of 50 candidates, and one choice, beside the whole table. Races without a
star are run, and their time is that of the study without a race to that with it; those with a star are replayed on the
whole table, because a kernel answers it at once or to fit it once for all. A changed choice costs its regret: the mean
of what was chosen in the whole table, less the smallest.

- changed, of: choices that changed, and how many may. None, in an exact race; in the others the level of them.
- regret, promise: means over seeds. A race that loses its best with probability p loses on average at most p times the
  worst mean less the best.
- skipped, least: the share of fits, as a mean over seeds and of the worst seed.
- at best: what an exact race would skip that knew the whole table before it began. No exact race skips more.

Run ``python -m benchmarks races``, or ``python -m benchmarks.races 5`` for 5 seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_classification, make_friedman1, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.study.race import CandidateGroup, Race, RaceRule, begin, blocks, next_round

SEEDS = 30
LEVEL = 0.05
CORES = 2  # seeds side by side
LEAST_SKIPPED = 0.2  # of the exact race's fits, where it must
EXACT, STATISTICAL = ("exact",), ("hoeffding", "bernstein", "paired")
ALL = (*EXACT, *STATISTICAL)
MACHINES = {"C": ho.log_grid(-2, 3, 10), "gamma": ho.log_grid(-4, 1, 5)}

Made = tuple[Any, Any, Any]  # the learner and its data


class Seed(NamedTuple):
    """One race beside the whole table."""

    changed: bool
    regret: float
    promise: float  # of the regret
    skipped: float  # share of fits
    ratio: float = np.nan  # of seconds, without a race to with it


class Study(NamedTuple):
    """A grid of 50 candidates, and what is raced on it."""

    words: str
    make: Callable[[int], Made]
    run: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    least: float = 0.0  # share of fits that its exact race must skip
    precision: str = "rounding"


class Whole(NamedTuple):
    """The table of a study without a race, and its splits as a paired test sees them."""

    table: Any  # candidates × parts
    seconds: float
    span: tuple[float, float]
    held_to_train: float


def _noisy_vectors(seed: int) -> Made:
    X, y = make_classification(200, 8, n_informative=4, flip_y=0.2, random_state=seed)
    return _tuned(SVC(), MACHINES, seed), X, y


def _scaled_vectors(seed: int) -> Made:
    X, y = make_classification(400, 20, random_state=seed)
    space = {f"svc__{name}": values for name, values in MACHINES.items()}
    return _tuned(make_pipeline(StandardScaler(), SVC()), space, seed), X, y


def _trees(seed: int) -> Made:
    X, y = make_moons(500, noise=0.25, random_state=seed)
    space = {"max_depth": [1, 2, 3, 4, 6, 8, 10, 12, 16, 20], "min_samples_leaf": [1, 5, 20, 80, 160]}
    return _tuned(DecisionTreeClassifier(random_state=0), space, seed), X, y


def _wide_trees(seed: int) -> Made:
    X, y = make_classification(400, 10, n_informative=6, flip_y=0.05, random_state=seed)
    space = {"max_depth": [1, 2, 3, 4, 6, 8, 10, 12, 16, 20], "min_samples_leaf": [1, 2, 5, 10, 20]}
    return _tuned(DecisionTreeClassifier(random_state=0), space, seed), X, y


def _logistic(seed: int) -> Made:
    X, y = make_classification(500, 20, random_state=seed)
    return _tuned(LogisticRegression(), {"C": ho.log_grid(-4, 4, 50)}, seed), X, y


def _squared(seed: int) -> Made:
    X, y = make_friedman1(200, 8, noise=1.0, random_state=seed)
    return _tuned(SVR(), {**MACHINES, "gamma": ho.log_grid(-3, 2, 5)}, seed), X, y


def _neighbours(validation: Any) -> Callable[[int], Made]:
    def make(seed: int) -> Made:
        X, y = make_classification(500, 20, n_informative=6, flip_y=0.05, random_state=seed)
        return _tuned(KNeighborsClassifier(), {"n_neighbors": range(1, 51)}, seed, validation), X, y

    return make


def _far_neighbours(seed: int) -> Made:
    X, y = make_blobs(750, n_features=4, centers=8, cluster_std=6.0, random_state=seed)
    return _tuned(KNeighborsClassifier(), {"n_neighbors": range(1, 590, 12)}, seed, ho.LeaveOneOut()), X, y


def _tuned(estimator: Any, space: Any, seed: int, validation: Any = None) -> ho.Tuned:
    return ho.Tuned(estimator, space, validation=validation or ho.KFold(10), random_state=seed)


STUDIES: tuple[Study, ...] = (
    Study("SVC, 10 C × 5 γ, 200 noisy rows", _noisy_vectors, EXACT, STATISTICAL, LEAST_SKIPPED),
    Study("scaler + SVC, 10 C × 5 γ, 400 rows", _scaled_vectors, EXACT, STATISTICAL, LEAST_SKIPPED),
    Study("trees, 10 depths × 5 leaf sizes, moons", _trees, ALL, (), LEAST_SKIPPED),
    Study("trees, 10 depths × 5 leaf sizes, 10 columns", _wide_trees, (), ALL),
    Study("logistic, 50 C", _logistic, (), ALL),
    Study("neighbours, k of 1 to 50", _neighbours(ho.KFold(10)), (), ALL),
    Study("the same, leave-one-out", _neighbours(ho.LeaveOneOut()), (), ALL),
    Study("neighbours, k of 1 to 589, leave-one-out", _far_neighbours, (), ALL),
    Study("SVR, squared loss, 10 C × 5 γ", _squared, (), ("exact", "paired")),
)


def measured(number: int, seed: int) -> tuple[dict[str, Seed], float]:
    """What each race of a study did on one seed, and what an exact one would skip at best."""
    study = STUDIES[number]
    made = study.make(seed)
    whole = whole_table(made, seed, study.precision)
    found = {kind: _run(made, whole, kind, seed) for kind in study.run}
    found |= {f"{kind}*": replayed(whole, kind, seed) for kind in study.replay}
    return found, _at_best(whole.table)


def whole_table(made: Made, seed: int, precision: str) -> Whole:
    """The study without a race."""
    result, seconds = _evaluated(made, seed, ho.Options(precision=precision))
    study, tables = result._live.outcome.study, result._live.outcome.tables
    (choice,) = study.choices
    (panel,) = (panel for panel in study.panels if panel.key == choice.panel)
    splits, loss = study.splits[panel.splits], study.search.losses[0]
    ratio = float(np.mean(splits.held_sizes) / np.mean(splits.train_sizes))
    return Whole(tables[choice.panel].losses[:, :, 0], seconds, (loss.low, loss.high), ratio)


def _run(made: Made, whole: Whole, kind: str, seed: int) -> Seed:
    result, seconds = _evaluated(made, seed, ho.Options(race=kind, race_level=LEVEL))
    (record,) = (one for one in result.plan.passes if one.name == "race")
    skipped = 1.0 - record.fits_after / record.fits_before
    return _beside(whole.table, int(result.choices["candidate"].iloc[0]), skipped, whole.seconds / seconds)


def replayed(whole: Whole, kind: str, seed: int) -> Seed:
    """One race on a whole table, every candidate a fit of its own."""
    table = whole.table
    count, parts = table.shape
    order = range(parts) if kind == "exact" else np.random.default_rng(seed).permutation(parts).tolist()
    race = begin(
        Race(
            rule=RaceRule(kind=kind, level=LEVEL),
            entrants=tuple(CandidateGroup(candidates=(candidate,)) for candidate in range(count)),
            order=tuple(order),
            low=whole.span[0],
            high=whole.span[1],
            ratio=whole.held_to_train,
        )
    )
    known = np.full(table.shape, np.nan)
    before = None
    while not race.over:
        for block in blocks(before, race):
            places = np.ix_(block.candidates, block.parts)
            known[places] = table[places]
        before, race = race, next_round(race, known)
    return _beside(table, int(np.nanargmin(known.mean(axis=1))), float(np.isnan(known).mean()))


def _beside(table: Any, chosen: int, skipped: float, ratio: float = np.nan) -> Seed:
    means = table.mean(axis=1)
    best = int(np.argmin(means))
    promise = LEVEL * float(means.max() - means[best])
    return Seed(chosen != best, float(means[chosen] - means[best]), promise, skipped, ratio)


def _at_best(table: Any) -> float:
    """The share that is left where the smallest sum is known and each other's largest losses come first."""
    sums = np.cumsum(-np.sort(-table, axis=1), axis=1)
    least = sums[:, -1].min() + 1e-9
    return 1.0 - float(np.mean(np.minimum((sums <= least).sum(axis=1) + 1, table.shape[1]))) / table.shape[1]


def _evaluated(made: Made, seed: int, options: ho.Options) -> tuple[Any, float]:
    learner, X, y = made
    started = perf_counter()
    result = ho.evaluate(learner, X, y, test=ho.Holdout(0.2), seed=seed, jobs=1, progress=False, options=options)
    return result, perf_counter() - started


def _told(study: Study, by_seed: list[tuple[dict[str, Seed], float]]) -> int:
    """Print a line for each race of a study: how many are worse than what is promised."""
    broken, best = 0, float(np.mean([best for _, best in by_seed]))
    for kind in by_seed[0][0]:
        found = [races[kind] for races, _ in by_seed]
        exact = kind.startswith("exact")
        allowed = 0 if exact else int(LEVEL * len(found))
        changed = sum(one.changed for one in found)
        regret, promise, skipped = (float(np.mean([one[place] for one in found])) for place in (1, 2, 3))
        promise, ratio = 0.0 if exact else promise, float(np.median([one.ratio for one in found]))
        broken += changed > allowed or regret > promise or (exact and skipped < study.least)
        print(
            f"{study.words:45}{kind:>11}{changed:>9}{allowed:>9}{regret:>9.5f}{promise:>9.5f}{skipped:>9.1%}"
            f"{min(one.skipped for one in found):>9.1%}{f'{best:.1%}' if exact else '':>9}"
            f"{'' if np.isnan(ratio) else f'{ratio:.1f}×':>9}",
            flush=True,
        )
    return broken


def main() -> None:
    """Print a line a study and race."""
    print(__doc__)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    heads = ("changed", "of", "regret", "promise", "skipped", "least", "at best", "time")
    print(f"{'study':45}{'race':>11}{''.join(f'{head:>9}' for head in heads)}", flush=True)
    started, broken = perf_counter(), 0
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        for number, study in enumerate(STUDIES):
            broken += _told(study, list(pool.map(partial(measured, number), range(seeds))))
    print(f"{broken} worse than what is promised; {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
