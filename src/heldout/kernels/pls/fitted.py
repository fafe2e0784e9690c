"""The final predictor without another fit: scikit-learn's own model, its attributes made of the sums over all rows.

scikit-learn takes several passes over all rows for each component, and on large data its one fit of the chosen number
of components would last longer than everything before it. Here the axes come from the sums that answered the cells;
only the scores themselves ask for a pass over the rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.utils.validation import validate_data

from heldout.kernels.designs.columns import Columns
from heldout.kernels.driver.answer import make_group
from heldout.kernels.driver.contract import Kernel
from heldout.kernels.pls.axes import Axes, find_axes
from heldout.kernels.pls.doubts import axes_stray, columns_unlike, rows_contradict, scores_stray, target_stray
from heldout.kernels.pls.forms import Form, read_count, read_scale
from heldout.kernels.pls.problem import Problems, from_vectors
from heldout.kernels.pls.products import centred, from_grams
from heldout.kernels.step import Work
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.sums.sums import Sums
from heldout.kernels.threads import spreading

LOOKED_AT = 512  # rows on which the shadow's scores are compared


def fitted(kernel: Kernel, estimator: Any, work: Work, splits: str) -> Any | None:
    """This candidate, fitted on all rows of a splits; None where only scikit-learn's own fit will do.

    Predictions and every public attribute are within the tier of scikit-learn's.
    """
    if type(estimator) is not PLSRegression or work.task.y.ndim > 1 or estimator.max_iter == 1:
        return None  # at one iteration scikit-learn's own fit warns
    read, columns = read_scale(estimator, work.task), Columns()
    form, count = Form(columns=columns, scale=read), read_count(estimator.n_components)
    with spreading(work.jobs) as spread:
        group = make_group(kernel, (read, columns), {0: count}, work, spread)
        rows, width = work.splits[splits].rows, group.data.X.shape[1]
        if count > width or len(rows) <= width or 8 * group.sums.nbytes > work.budget:
            return None
        total = group.sums.total(splits)
    with np.errstate(all="ignore"):  # what is not finite is refused
        made = model_state(form, group.data, total, rows, count)
    if made is None or set(made) | set(vars(estimator)) != state_names(form.scale):
        return None
    for name, value in made.items():
        setattr(estimator, name, value)
    validate_data(estimator, work.task.X, skip_check_array=True)  # how many columns, and their names
    return estimator


@cache
def state_names(scale: bool) -> set[str]:
    """What scikit-learn leaves on a model of this version: where that is something else, it makes its own."""
    names = set(vars(PLSRegression(1, scale=scale).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0.0, 1.0, 3.0])))
    return names - {"n_features_in_"}


def model_state(form: Form, design: Dataset, total: Sums, rows: Any, count: int) -> dict[str, Any] | None:
    """The attributes of the model, or None where it may not be scikit-learn's."""
    material = from_grams(total.grams, [total], slice(0, design.X.shape[1]))
    problems, sure = from_vectors(form, material.vectors)
    if not sure.all() or columns_unlike(problems):
        return None
    axes = find_axes(problems, centred(problems, material.multiply), count)
    if axes is None or axes_stray(axes, problems):
        return None
    scores = _scores(axes.rotations[0], problems, design, rows)
    some = np.arange(0, len(rows), -(-len(rows) // LOOKED_AT))
    shadow = _scores(axes.rotations[1], problems, design, rows[some])
    target = (design.Y[rows, 0] - design.shift.y[0] - (problems.y_centre[0] - design.shift.y[0])) / problems.y_unit[0]
    if scores_stray(axes, problems, scores, scores[:, some], shadow) or rows_contradict(axes, scores, target):
        return None
    y_scores = _target_scores(axes.targets[0], scores, target)
    return None if target_stray(axes, problems, target, y_scores) else _attributes(axes, scores, y_scores, problems)


def _scores(rotations: Floats, problems: Problems, design: Dataset, rows: Any) -> Floats:
    """Components × rows, from the rows themselves."""
    lines = rotations / problems.unit[0]
    scores = np.empty((len(lines), len(rows)))
    space = ChunkReader(design, min(design.chunk, len(rows)))
    for start in range(0, len(rows), design.chunk):
        chunk = rows[start : start + design.chunk]
        np.matmul(lines, space.read(chunk, design.shift.x).T, out=scores[:, start : start + len(chunk)])
    scores -= (lines @ problems.centre[0])[:, None]
    return scores


def _target_scores(targets: Floats, scores: Floats, target: Floats) -> Floats:
    """What is left of the target before each component, in units of its loading."""
    found = np.empty_like(scores)
    found[0] = target
    np.cumsum(scores[:-1] * targets[:-1, None], axis=0, out=found[1:])
    np.subtract(target, found[1:], out=found[1:])
    found /= targets[:, None]
    return found


def _attributes(axes: Axes, scores: Floats, y_scores: Floats, problems: Problems) -> dict[str, Any]:
    """As scikit-learn names, turns and signs them: the largest entry of each weight is positive."""
    weights = axes.weights[0]
    sign = np.sign(weights[np.arange(len(weights)), np.abs(weights).argmax(axis=1)])
    rotations, targets = axes.rotations[0] * sign[:, None], axes.targets[0] * sign
    scores, y_scores = ((found * sign[:, None]).T.copy() for found in (scores, y_scores))
    y_unit = problems.y_unit.copy()
    y_mean = problems.y_centre.copy()
    return {
        "_predict_1d": True,
        "_norm_y_weights": False,
        "_x_mean": problems.centre[0] + problems.shift,
        "_x_std": problems.unit[0].copy(),
        "_y_mean": y_mean,
        "_y_std": y_unit,
        "x_weights_": np.ascontiguousarray((weights * sign[:, None]).T),
        "y_weights_": targets[None].copy(),
        "_x_scores": scores,
        "_y_scores": y_scores,
        "x_scores_": scores,
        "y_scores_": y_scores,
        "x_loadings_": np.ascontiguousarray((axes.loadings[0] * sign[:, None]).T),
        "y_loadings_": targets[None].copy(),
        "x_rotations_": np.ascontiguousarray(rotations.T),
        "y_rotations_": targets[None] / (targets @ targets),
        "n_iter_": [1] * len(targets),
        "coef_": (targets @ rotations * y_unit / problems.unit[0])[None],
        "intercept_": y_mean,
        "_n_features_out": len(targets),
    }
