"""Races on 30 seeds: how many fits each skips, and whether a choice changed.

For each seed new data and new splits, a grid of 50 candidates, and one choice, beside the whole table. A changed choice
costs its regret: the mean of the candidate that was chosen in the whole table, less the smallest. The exact race must
change none and skip a fifth of the fits; the others may change a choice with the probability that they promise. Time is
that of the whole study without a race to that with it. The neighbours' table comes from their kernel, which takes no
race, so the race is replayed on it: that has a part a row, as Maron and Moore had it.

Run ``python -m benchmarks races``, or ``python -m benchmarks.races 5`` for 5 seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_classification, make_friedman1, make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.study.race import Entrant, Race, begin, blocks, next_round
from heldout.study.race_rule import RaceRule

SEEDS = 30
LEVEL = 0.05
LEAST_SKIPPED = 0.2  # of the exact race's fits


class Seed(NamedTuple):
    """One race beside the whole table."""

    changed: bool
    regret: float
    skipped: float  # share of fits
    ratio: float = np.nan  # of seconds, without a race to with it


def _vectors(seed: int) -> tuple[Any, Any, Any]:
    X, y = make_classification(400, 12, n_informative=6, flip_y=0.05, random_state=seed)
    space = {"C": ho.log_grid(-2, 3, 10), "gamma": ho.log_grid(-4, 1, 5)}
    return ho.Tuned(SVC(), space, validation=ho.KFold(10), random_state=seed), X, y


def _trees(seed: int) -> tuple[Any, Any, Any]:
    X, y = make_moons(500, noise=0.25, random_state=seed)
    depths, leaves = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20], [1, 5, 20, 80, 160]
    tree = DecisionTreeClassifier(random_state=0)
    space = {"max_depth": depths, "min_samples_leaf": leaves}
    return ho.Tuned(tree, space, validation=ho.KFold(10), random_state=seed), X, y


def _squared(seed: int) -> tuple[Any, Any, Any]:
    X, y = make_friedman1(300, 8, noise=1.0, random_state=seed)
    space = {"C": ho.log_grid(-2, 3, 10), "gamma": ho.log_grid(-3, 2, 5)}
    return ho.Tuned(SVR(), space, validation=ho.KFold(10), random_state=seed), X, y


def _neighbours(seed: int) -> tuple[Any, Any, Any]:
    X, y = make_blobs(600, n_features=4, centers=8, cluster_std=6.0, random_state=seed)
    space = {"n_neighbors": range(1, 591, 12)}
    return ho.Tuned(KNeighborsClassifier(), space, validation=ho.LeaveOneOut(), random_state=seed), X, y


def run(make: Callable[[int], tuple[Any, Any, Any]], kinds: tuple[str, ...], seeds: int) -> dict[str, list[Seed]]:
    """Each race of a study, run, with what it did on each seed."""
    found: dict[str, list[Seed]] = {kind: [] for kind in kinds}
    for seed in range(seeds):
        learner, X, y = make(seed)
        whole, seconds, _ = _tuned(learner, X, y, seed, None)
        means = whole.candidates[f"validation_{whole.risk.loss}"].to_numpy()
        chosen = int(whole.choices["candidate"].iloc[0])
        for kind in kinds:
            raced, own, saved = _tuned(learner, X, y, seed, kind)
            other = int(raced.choices["candidate"].iloc[0])
            found[kind].append(Seed(other != chosen, float(means[other] - means[chosen]), saved, seconds / own))
    return found


def replay(make: Callable[[int], tuple[Any, Any, Any]], kinds: tuple[str, ...], seeds: int) -> dict[str, list[Seed]]:
    """Each race of a study on its whole table, which is made once."""
    found: dict[str, list[Seed]] = {kind: [] for kind in kinds}
    for seed in range(seeds):
        learner, X, y = make(seed)
        results = learner.fit(X, y).cv_results_
        parts = range(sum(name.endswith("_test_score") and name.startswith("split") for name in results))
        table = np.stack([-results[f"split{part}_test_score"] for part in parts], axis=1)
        for kind in kinds:
            found[kind].append(replayed(table, kind, seed))
    return found


def replayed(table: Any, kind: str, seed: int) -> Seed:
    """One race of zero-one losses on a whole table of candidates × parts."""
    count, parts = table.shape
    order = tuple(np.random.default_rng(seed).permutation(parts).tolist())
    entrants = tuple(Entrant(candidates=(candidate,)) for candidate in range(count))
    rule = RaceRule(kind=kind, level=LEVEL)
    race = begin(Race(rule=rule, entrants=entrants, order=order, low=0.0, high=1.0, ratio=1.0 / (parts - 1)))
    known = np.full(table.shape, np.nan)
    before = None
    while not race.over:
        for block in blocks(before, race):
            places = np.ix_(block.candidates, block.parts)
            known[places] = table[places]
        before, race = race, next_round(race, known)
    means, seen = table.mean(axis=1), known.mean(axis=1)
    chosen, whole = int(np.nanargmin(seen)), int(np.argmin(means))
    return Seed(chosen != whole, float(means[chosen] - means[whole]), float(np.isnan(known).mean()))


def _tuned(learner: Any, X: Any, y: Any, seed: int, kind: str | None) -> tuple[Any, float, float]:
    """The study, its seconds, and the share of validation fits that were skipped."""
    options = ho.Options(race=kind, race_level=LEVEL)
    started = perf_counter()
    result = ho.evaluate(learner, X, y, test=ho.Holdout(0.2), seed=seed, jobs=1, progress=False, options=options)
    seconds = perf_counter() - started
    record = next((one for one in result.plan.passes if one.name == "race"), None)
    return result, seconds, 0.0 if record is None else 1.0 - record.fits_after / record.fits_before


ALL = ("exact", "hoeffding", "bernstein", "paired")
Measure = Callable[[int], dict[str, list[Seed]]]
STUDIES: tuple[tuple[str, Measure, float], ...] = (  # in words, and the share of fits that its exact race must skip
    ("SVC, 10 C × 5 γ, 400 rows, 10-fold", lambda seeds: run(_vectors, ("exact",), seeds), LEAST_SKIPPED),
    ("trees, 10 depths × 5 leaf sizes, 500 rows, 10-fold", lambda seeds: run(_trees, ("exact",), seeds), LEAST_SKIPPED),
    ("SVR, squared loss, 10 C × 5 γ, 300 rows, 10-fold", lambda seeds: run(_squared, ("paired",), seeds), 0.0),
    ("neighbours, 50 k, leave-one-out of 600 rows", lambda seeds: replay(_neighbours, ALL, seeds), 0.0),
)


def main() -> None:
    """Print a line a study and race."""
    print(__doc__)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    print(f"{'study':52}{'race':>11}{'changed':>9}{'allowed':>9}{'regret':>9}{'skipped':>9}{'least':>8}{'time':>7}")
    broken = 0
    for words, measure, least in STUDIES:
        for kind, found in measure(seeds).items():
            allowed = 0 if kind == "exact" else int(LEVEL * seeds)
            changed = sum(one.changed for one in found)
            skipped = float(np.mean([one.skipped for one in found]))
            ratio = float(np.median([one.ratio for one in found]))
            broken += changed > allowed or (kind == "exact" and skipped < least)
            print(
                f"{words:52}{kind:>11}{changed:>9}{allowed:>9}{np.mean([one.regret for one in found]):>9.5f}"
                f"{skipped:>9.0%}{min(one.skipped for one in found):>8.0%}"
                f"{'' if np.isnan(ratio) else f'{ratio:.1f}×':>7}",
                flush=True,
            )
    print(f"{broken} below what is promised")


if __name__ == "__main__":
    main()
