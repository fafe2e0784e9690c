"""The truth that an interval is held to: the expected score at the training size of the estimate.

It is the score of the means over many training sets, each measured on fresh rows of its own. For `Forward` the means
are over series, each measured as the recipe does it, since its parts are trained on different sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit

from benchmarks.coverage.measure import Parts, measure, score
from benchmarks.coverage.populations import Sample
from benchmarks.coverage.run import spread
from benchmarks.coverage.settings import RECIPES, Setting, grid
from benchmarks.coverage.simulate import folder, generator, load, slug, store

TRAINING_SETS, BLOCKS = 400, 4  # blocks are what processes share
SERIES = 4000
FRESH = 5000  # rows a training set


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """An expected score, and its Monte-Carlo error."""

    value: float
    error: float


def truth_path(setting: Setting, recipe: str) -> Any:
    """The file of the truths of a setting at the training size of a recipe."""
    size = recipe if RECIPES[recipe].forward else setting.train_units(recipe)
    return folder() / slug(setting.key) / f"truth-{slug(str(size))}-{setting.digest('truth', setting.losses)}.pkl.gz"


def draw_training(setting: Setting, rng: np.random.Generator, units: int) -> Sample:
    """Training rows; those without two rows of each class are drawn again, since no classifier takes them."""
    while True:
        sample = setting.population.draw(rng, units)
        if sample.y.dtype.kind == "f" or np.bincount(sample.y, minlength=2).min() >= 2:
            return sample


def sample_truth(second: bool, key: str, recipe: str, block: int) -> list[dict[str, Parts]]:
    """The means of some training sets, in a worker."""
    setting = grid(second)[key]
    if RECIPES[recipe].forward:
        return [_forward_parts(setting, recipe, block * SERIES + at) for at in range(SERIES // BLOCKS)]
    units, found = setting.train_units(recipe), []
    for at in range(TRAINING_SETS // BLOCKS):
        rng = generator(setting, 79, block * TRAINING_SETS + at)
        sample = draw_training(setting, rng, units)
        model = clone(setting.learner).fit(sample.X, sample.y)
        fresh = setting.population.draw(rng, FRESH if sample.groups is None else FRESH // 8)
        found.append(measure(model, fresh, list(setting.losses)))
    return found


def _forward_parts(setting: Setting, recipe: str, number: int) -> dict[str, Parts]:
    """The means over the blocks of one series, each predicted from the rows before it."""
    sample = setting.population.draw(generator(setting, 79, number), setting.n)
    blocks = []
    for train, held in TimeSeriesSplit(RECIPES[recipe].test.k).split(sample.X):
        model = clone(setting.learner).fit(sample.X[train], sample.y[train])
        blocks.append(measure(model, Sample(X=sample.X[held], y=sample.y[held]), list(setting.losses)))
    return {loss: np.mean([block[loss] for block in blocks], axis=0) for loss in setting.losses}


def find_truths(wanted: list[tuple[str, str]], *, second: bool, fresh: bool = False) -> None:
    """Compute and keep the truths that are missing, for settings and recipes."""
    paths = {truth_path(grid(second)[key], recipe): (key, recipe) for key, recipe in wanted}
    missing = {path: asked for path, asked in paths.items() if fresh or not path.exists()}
    jobs = [(second, *asked, block) for asked in missing.values() for block in range(BLOCKS)]
    found: list[dict[str, Parts]] = []
    asked = iter(missing)
    for done, block in enumerate(spread(sample_truth, jobs, words="blocks of truths", chunk=1), start=1):
        found += block
        if done % BLOCKS == 0:
            store(next(asked), found)
            found = []


def read_truths(setting: Setting, recipe: str) -> dict[str, Truth]:
    """By loss, the truth that is kept."""
    sets = load(truth_path(setting, recipe))
    found = {}
    for loss in setting.losses:
        each = np.array([score(loss, parts[loss]) for parts in sets])
        middle = score(loss, np.mean([parts[loss] for parts in sets], axis=0))
        found[loss] = Truth(value=middle, error=float(np.nanstd(each, ddof=1) / len(each) ** 0.5))
    return found
