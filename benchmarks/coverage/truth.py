"""The expected risk at a training size: by formula where there is one, else over many training sets of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage.settings import Setting

BLOCKS = 10  # in which the training sets of one size are drawn, so that processes may share them


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """An expected risk, and how closely it is known (0: by formula)."""

    value: float
    error: float


def known_risks(setting: Setting, size: int) -> dict[str, Truth] | None:
    """By loss, at this training size, where there is a formula."""
    if setting.known is None:
        return None
    return {loss: Truth(value=setting.known(size), error=0.0) for loss in setting.risks}


def sampled_risks(setting: Setting, size: int, block: int) -> dict[str, list[float]]:
    """By loss, the risks of predictors trained on fresh rows, none that an interval was made from."""
    rng = np.random.default_rng([43, size, block])
    found: dict[str, list[float]] = {loss: [] for loss in setting.risks}
    for _ in range(setting.training_sets // BLOCKS):
        model = setting.learner().fit(*setting.draw(rng, size))
        model = getattr(model, "best_estimator_", model)
        for loss, risk in setting.risks.items():
            found[loss].append(risk(model))
    return found


def mean_risks(blocks: Sequence[dict[str, list[float]]]) -> dict[str, Truth]:
    """By loss, the mean over all blocks."""
    found = {}
    for loss in blocks[0]:
        risks = np.concatenate([block[loss] for block in blocks])
        found[loss] = Truth(value=float(np.mean(risks)), error=float(np.std(risks, ddof=1) / len(risks) ** 0.5))
    return found
