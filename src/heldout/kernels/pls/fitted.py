"""The final predictor without another fit: scikit-learn's own model, its attributes made of the sums over all rows.

scikit-learn takes several passes over all rows for each component, and on large data its one fit of the chosen number
of components would last longer than everything before it. Here the weights come from the run that answered the cells;
all the rest follows from A = WCWᵀ = BᵀDB, with B upper triangular and of unit diagonal: rotations WᵀB⁻¹, the scores'
lengths D, loadings CR/D. Only the scores themselves ask for a pass over the rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.utils.validation import validate_data

from heldout.kernels.pls.components import SHAKEN, Shake, run_components
from heldout.kernels.pls.forms import Form, read_form
from heldout.kernels.pls.problem import Problems, from_vectors
from heldout.kernels.pls.products import centred, from_grams
from heldout.kernels.pls.respond import LEAST_SHARE, ROUNDINGS, WITHIN, error_of_means
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.group import make_group
from heldout.kernels.ridge.normal import EPS
from heldout.kernels.ridge.sums import Space, Sums
from heldout.kernels.step import Work
from heldout.kernels.threads import spreading

ROUNDINGS_LEFT = 100.0  # rounding errors of a covariance, in units of the last place of the first; most are below 1
TIED = 1e-6  # two entries of a weight this near to each other in size: rounding may decide which gives it its sign
NO_RESIDUAL = 1e-6  # of the target: scikit-learn ends, with a warning, where it takes the rest for constant
MOST_UNLIKE = 1e3  # lengths of columns: past it scikit-learn's deflation leaves few digits in its weights
LOOKED_AT = 512  # rows on which the shadow's scores are compared


class Axes(NamedTuple):
    """A model in the units of its columns, as the run has it and as its shadow has it: the first axis is these two."""

    weights: Floats  # 2 × components × columns
    rotations: Floats
    loadings: Floats
    targets: Floats  # 2 × components: the target's loadings
    lengths: Floats  # components: squares of the run's scores


def fitted(estimator: Any, work: Work, splits: str) -> Any | None:
    """This candidate, fitted on all rows of a splits; None where only scikit-learn's own fit will do.

    Predictions and every public attribute are within the tier of scikit-learn's.
    """
    if type(estimator) is not PLSRegression or work.task.y.ndim > 1 or estimator.max_iter == 1:
        return None  # at one iteration scikit-learn's own fit warns
    form, count = read_form(estimator, work.task)
    with spreading(work.jobs) as spread:
        group = make_group(form.linear, {0: float(count)}, work, spread)
        rows, columns = work.splits[splits].rows, group.design.X.shape[1]
        if count > columns or len(rows) <= columns or 8 * group.bank.bytes_of_sums > work.budget:
            return None
        total = group.bank.total_of(splits)
    with np.errstate(all="ignore"):  # what is not finite is refused
        made = _model(form, group.design, total, rows, count)
    if made is None or set(made) | set(vars(estimator)) != _state(form.scale):
        return None
    for name, value in made.items():
        setattr(estimator, name, value)
    validate_data(estimator, work.task.X, skip_check_array=True)  # how many columns, and their names
    return estimator


@cache
def _state(scale: bool) -> set[str]:
    """What scikit-learn leaves on a model of this version: where that is something else, it makes its own."""
    names = set(vars(PLSRegression(1, scale=scale).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0.0, 1.0, 3.0])))
    return names - {"n_features_in_"}


def _model(form: Form, design: Design, total: Sums, rows: Any, count: int) -> dict[str, Any] | None:
    """The attributes of the model, or None where rounding may have gone too far."""
    material = from_grams(total.grams, [total], slice(0, design.X.shape[1]))
    problems, sure = from_vectors(form, material.vectors)
    products = centred(problems, material.multiply)
    size = problems.size[problems.size > 0]
    if not sure.all() or size.max(initial=0.0) > MOST_UNLIKE * size.min(initial=np.inf):
        return None
    runs = run_components(products, problems.d, problems.size, problems.length, count=count)
    if not runs.share[0, -1] > LEAST_SHARE:
        return None
    shake = Shake(problems.size, problems.length)
    weights = runs.weights[0]
    weighed = products(weights.reshape(1, 2 * count, -1)).reshape(weights.shape)
    weighed[1] += shake(weights[1])
    axes = _axes(weights, weighed, shake.with_shadow(problems.d)[0])
    if axes is None or not (np.abs(axes.targets[0]) * axes.lengths).min() * WITHIN >= EPS * problems.length[0] ** 2:
        return None  # scikit-learn adds an epsilon to the length of each weight, which shows where y's unit is large
    scores = _scores(axes.rotations[0], problems, design, rows)
    some = np.arange(0, len(rows), -(-len(rows) // LOOKED_AT))
    shadow = _scores(axes.rotations[1], problems, design, rows[some])
    target = (design.Y[rows, 0] - design.shift.y[0] - (problems.y_centre[0] - design.shift.y[0])) / problems.y_unit[0]
    share = ROUNDINGS * EPS / (SHAKEN * float(problems.kept[0]))
    lines = np.vstack([axes.rotations[0], axes.targets[:1] @ axes.rotations[0]]) / problems.unit[0]
    answers = np.column_stack([scores, scores @ axes.targets[0]])
    if (error_of_means(problems, lines[None])[0] > WITHIN * np.abs(answers).max(axis=0)).any():
        return None
    if not _stays(axes, scores[some], shadow, share=share) or not _agrees(axes, scores, target):
        return None
    y_scores = _target_scores(axes.targets[0], scores, target)
    known = 16.0 * EPS * (np.abs(problems.y_centre[0]) / problems.y_unit[0] + np.abs(target).max())
    if (known > WITHIN * np.abs(y_scores).max() * np.abs(axes.targets[0])).any():
        return None
    return _attributes(axes, scores, y_scores, problems)


def _axes(weights: Floats, weighed: Floats, d: Floats) -> Axes | None:
    """All that follows from the weights, their products with C, and the columns' products with the target."""
    try:
        root = np.linalg.cholesky(np.matmul(weighed, weights.transpose(0, 2, 1)))
    except np.linalg.LinAlgError:
        return None
    lengths = np.einsum("sii->si", root)
    across = root / lengths[:, None, :]  # Bᵀ
    both = np.linalg.solve(across, np.concatenate([weights, weighed], axis=2))
    rotations, loadings = np.split(both, 2, axis=2)
    squares = lengths**2
    return Axes(
        weights,
        rotations,
        loadings / squares[:, :, None],
        np.matmul(rotations, d[:, :, None])[:, :, 0] / squares,
        squares[0],
    )


def _scores(rotations: Floats, problems: Problems, design: Design, rows: Any) -> Floats:
    """Rows × components, from the rows themselves."""
    lines = rotations / problems.unit[0]
    constant = lines @ problems.centre[0]
    scores = np.empty((len(rows), len(lines)))
    space = Space(design, min(design.chunk, len(rows)))
    for start in range(0, len(rows), design.chunk):
        chunk = rows[start : start + design.chunk]
        np.matmul(space.read(chunk, design.shift.x), lines.T, out=scores[start : start + len(chunk)])
    scores -= constant
    return scores


def _target_scores(targets: Floats, scores: Floats, target: Floats) -> Floats:
    """What is left of the target before each component, in units of its loading."""
    told = np.cumsum(scores * targets, axis=1)
    return np.asarray((target[:, None] - np.pad(told[:, :-1], ((0, 0), (1, 0)))) / targets)


def _stays(axes: Axes, run: Floats, shadow: Floats, *, share: float) -> bool:
    """Whether rounding stays inside the tier in all that a model shows, signs among it."""
    pairs = [(both[0], both[1]) for both in (axes.weights, axes.rotations, axes.loadings, axes.targets)]
    pairs += [(run, shadow), (run @ axes.targets[0], shadow @ axes.targets[1])]
    if not all(np.abs(one - other).max() * share <= WITHIN * np.abs(one).max() for one, other in pairs):
        return False
    # Each weight is what is left of the covariance, and scikit-learn's has the rounding errors of all that was there.
    left = np.abs(axes.targets[0]) * axes.lengths
    if not left.min() * WITHIN >= ROUNDINGS_LEFT * EPS * left.max():
        return False
    size = np.sort(np.abs(axes.weights[0]), axis=1)
    return size.shape[1] == 1 or bool((size[:, -1] - size[:, -2] > TIED * size[:, -1]).all())


def _agrees(axes: Axes, scores: Floats, target: Floats) -> bool:
    """Whether the rows say of the scores what the sums said: orthogonal, so long, and with these loadings of y."""
    length = np.sqrt(axes.lengths)
    products = scores.T @ scores / (length * length[:, None])
    targets = axes.targets[0]
    told = scores.T @ target / axes.lengths
    left = np.abs(target - scores[:, :-1] @ targets[:-1]).max()
    return bool(
        np.abs(products - np.eye(len(length))).max() <= WITHIN
        and np.abs(told - targets).max() <= WITHIN * np.abs(targets).max()
        and left > NO_RESIDUAL * np.abs(target).max()
    )


def _attributes(axes: Axes, scores: Floats, y_scores: Floats, problems: Problems) -> dict[str, Any]:
    """As scikit-learn names, turns and signs them: the largest entry of each weight is positive."""
    weights = axes.weights[0]
    sign = np.sign(weights[np.arange(len(weights)), np.abs(weights).argmax(axis=1)])
    rotations, targets = axes.rotations[0] * sign[:, None], axes.targets[0] * sign
    scores, y_scores = scores * sign, y_scores * sign
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
