"""The bias correction of Tibshirani and Tibshirani (2009) for the smallest cross-validation error."""

from __future__ import annotations

import numpy as np

from heldout.base.errors import OptionError
from heldout.risk.record import Floats
from heldout.risk.selection.correction import Correction

METHOD = "Tibshirani–Tibshirani"


def tibshirani(fold_losses: Floats, *, weights: Floats | None = None) -> Correction:
    """CV(θ̂) + mean over folds of e_k(θ̂) − min_θ e_k(θ): what the choice gains on each fold, added back.

    Parameters
    ----------
    fold_losses : array, candidates × parts
        The mean loss of each candidate on each part, lower is better, all finite.
    weights : array, optional
        What each part counts for in a mean over parts; the same where it is left out.

    Examples
    --------
    >>> tibshirani(np.array([[1.0, 3.0], [3.0, 2.0]])).value  # 2 and 2.5; the first gains 0 and loses 1
    2.5
    """
    losses = np.asarray(fold_losses, dtype=np.float64)
    if losses.ndim != 2 or losses.size == 0 or not np.isfinite(losses).all():
        raise OptionError("The Tibshirani correction needs a complete table, candidates by parts, of finite losses.")
    if losses.shape[1] < 2:
        raise OptionError("The Tibshirani correction needs at least two held-out parts, but there is one.")
    means = np.average(losses, axis=1, weights=weights)
    best = int(np.argmin(means))
    gained = np.average(losses[best] - losses.min(axis=0), weights=weights)
    return Correction(value=float(means[best] + gained), method=METHOD)
