"""The validation inside a study: the splits behind a choice, and estimates in the loss that chooses."""

from __future__ import annotations

from heldout.risk.estimands import Sizes
from heldout.risk.estimate import Estimate, EstimateInfo, Interval, LossRange, user_estimate
from heldout.splits.drawn import Splits
from heldout.study.study import Choice, Study


def inner_of(study: Study, choice: Choice) -> Splits:
    """The validation splits on which a choice is made."""
    return study.splits[study.panel(choice.panel).splits]


def validation_sizes(study: Study, choice: Choice) -> Sizes:
    """How many rows the predictors are trained on whose validation losses choose."""
    sizes = Sizes.of(inner_of(study, choice).train_sizes)
    assert sizes is not None  # a validation part has training rows
    return sizes


def shown_beside(study: Study, about: EstimateInfo, value: float | None, interval: Interval | None) -> Estimate:
    """An estimate in the loss that chooses."""
    loss = study.search.losses[0]
    scale = LossRange(loss=loss.name, sign=loss.sign, low=loss.low, high=loss.high)
    return user_estimate(scale, about, value=value, interval=interval)
