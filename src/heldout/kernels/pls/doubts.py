"""Where a model made of sums is left to scikit-learn's own fit: every condition, in the order in which it can be told.

What a model shows must be within the tier of what scikit-learn's own fit would show, signs among it. Rounding, here or
there, is not the only way to differ: scikit-learn's own thresholds are absolute, and some decide.
"""

from __future__ import annotations

import numpy as np

from heldout.kernels.pls.axes import Axes
from heldout.kernels.pls.components import SHAKEN
from heldout.kernels.pls.problem import Problems
from heldout.kernels.pls.respond import ROUNDINGS, WITHIN, error_of_means
from heldout.kernels.sums.rounding import EPS, Floats

ROUNDINGS_LEFT = 100.0  # rounding errors of a covariance, in units of the last place of the first; most are below 1
TIED = 1e-6  # two entries of a weight this near to each other in size: rounding may decide which gives it its sign
NO_RESIDUAL = 1e-6  # of the target: scikit-learn ends, with a warning, where it takes the rest for constant
MOST_UNLIKE = 1e3  # lengths of columns: past it scikit-learn's deflation leaves few digits in its weights


def columns_unlike(problems: Problems) -> bool:
    """Whether scikit-learn's deflation leaves few digits in its weights."""
    size = problems.size[problems.size > 0]
    return bool(size.max(initial=0.0) > MOST_UNLIKE * size.min(initial=np.inf))


def axes_stray(axes: Axes, problems: Problems) -> bool:
    """Whether rounding may show in the axes themselves."""
    share = _share(problems)
    coef = np.matmul(axes.targets[:, None, :], axes.rotations) / problems.unit[0]  # in the units of the columns
    shown = (axes.weights, axes.rotations, axes.loadings, axes.targets, coef)
    if not all(_near(both[0], both[1], share) for both in shown):
        return True
    # Each weight is what is left of the covariance, and scikit-learn's has the rounding errors of all that was there.
    # It also adds an epsilon to the length of each weight, which shows where y's unit is large.
    left = np.abs(axes.targets[0]) * axes.lengths
    if not left.min() * WITHIN >= EPS * max(ROUNDINGS_LEFT * left.max(), problems.length[0] ** 2):
        return True
    size = np.sort(np.abs(axes.weights[0]), axis=1)
    return size.shape[1] > 1 and not bool((size[:, -1] - size[:, -2] > TIED * size[:, -1]).all())


def scores_stray(axes: Axes, problems: Problems, scores: Floats, some: Floats, shadow: Floats) -> bool:
    """Whether rounding may show in the scores, or in what is predicted from them.

    Parameters
    ----------
    scores : array of components × rows
    some, shadow : arrays of components × some rows
        The run's, and those of its shadow.
    """
    share = _share(problems)
    told = axes.targets[0] @ scores
    if not (_near(some, shadow, share) and _near(axes.targets[0] @ some, axes.targets[1] @ shadow, share)):
        return True
    lines = np.vstack([axes.rotations[0], axes.targets[:1] @ axes.rotations[0]]) / problems.unit[0]
    largest = np.append(_largest(scores), _largest(told))
    return bool((error_of_means(problems, lines[None])[0] > WITHIN * largest).any())


def rows_contradict(axes: Axes, scores: Floats, target: Floats) -> bool:
    """Whether the rows say of the scores something else than the sums did: orthogonal, so long, these loadings of y."""
    length = np.sqrt(axes.lengths)
    products = scores @ scores.T / (length * length[:, None])
    targets = axes.targets[0]
    told = scores @ target / axes.lengths
    left = _largest(target - targets[:-1] @ scores[:-1])
    return not bool(
        np.abs(products - np.eye(len(length))).max() <= WITHIN
        and np.abs(told - targets).max() <= WITHIN * np.abs(targets).max()
        and left > NO_RESIDUAL * _largest(target)
    )


def target_stray(axes: Axes, problems: Problems, target: Floats, y_scores: Floats) -> bool:
    """Whether the rounding of a target far from zero may show in its scores."""
    known = 16.0 * EPS * (np.abs(problems.y_centre[0]) / problems.y_unit[0] + _largest(target))
    return bool((known > WITHIN * _largest(y_scores).max() * np.abs(axes.targets[0])).any())


def _share(problems: Problems) -> float:
    """How much of what the shadow strayed may be rounding's."""
    return float(ROUNDINGS * EPS / (SHAKEN * problems.kept[0]))


def _near(one: Floats, other: Floats, share: float) -> bool:
    return bool(np.abs(one - other).max() * share <= WITHIN * np.abs(one).max())


def _largest(values: Floats) -> Floats:
    """The largest size in each row, with no copy of them all."""
    return np.asarray(np.maximum(values.max(axis=-1), -values.min(axis=-1)))
