"""Whether splits owe something to time, whoever drew them."""

from __future__ import annotations

from heldout.splits.drawn import Splits


def goes_forward(splits: Splits) -> bool:
    """Whether parts are blocks of time, or each of several holds out rows that come after all it trains on.

    So scikit-learn's TimeSeriesSplit is known for what it is, also where no time was declared.
    """
    if splits.recipe.timed:
        return True
    if splits.train is None or len(splits) < 2:
        return False
    parts = ((splits.train_rows(part), splits.held_rows(part)) for part in range(len(splits)))
    return all(len(train) and train.max() < held.min() for train, held in parts)
