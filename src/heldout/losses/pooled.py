"""Computes set scores on all held-out rows together (pooled), with the influence of each row.

R², RMSE, balanced accuracy, F1 and Matthews' correlation are functions of means over rows. Their averages over small
folds are biased, so they are computed once on all held-out rows. Ranking scores, such as the area under the ROC curve,
compare rows with each other; rows of different predictors are not comparable, so these scores stay means over folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses, cut_rows
from heldout.base.warnings import catch_warnings
from heldout.losses.loss import Loss
from heldout.losses.quick_scores import cells_of, score_of_counts
from heldout.losses.scorers import KNOWN_SCORES, scorer_parts
from heldout.losses.scoring import Replay, call_scorer, mean_loss
from heldout.risk.record import POOLED, PooledScore

Floats = NDArray[np.float64]
MOST_CELLS = 900  # of a confusion matrix: thirty classes
BLOCKS = 20  # the number of blocks of a part that are left out in turn, to find influences on an arbitrary score
MOST_PARTS = 100  # with more parts, this is not done
OF_NUMBERS = ("r2", "root")
STEP = 1e-3  # of a count: the step of a numerical derivative


def family_of(loss: Loss) -> str:
    """Return the family of a loss, which decides its interval: see `heldout.risk.record.FAMILIES`.

    >>> from heldout.losses.resolve import resolve_losses
    >>> [family_of(loss) for loss in resolve_losses(["r2", "neg_root_mean_squared_error"], classification=False)]
    ['r2', 'root']
    """
    if (family := loss.row_family) is not None:
        return family
    parts = scorer_parts(loss.scorer)
    known = None if parts is None else KNOWN_SCORES.get(parts.known_name or "")
    if parts is None or known is None:
        return "other"
    family = known.family
    if family == "auc":
        return "other" if parts.options else family
    if family in OF_NUMBERS:
        plain = parts.options.get("multioutput", "uniform_average") == "uniform_average"
        return family if plain and set(parts.options) <= {"multioutput"} else "other"
    binary = parts.options.get("average", "binary") == "binary"
    return "means" if (family == "f1" and not binary) or parts.options.get("adjusted") else family


def is_pooled(loss: Loss) -> bool:
    """Return whether a loss is a set score that is computed on all held-out rows together by default."""
    return loss.rows is None and family_of(loss) in POOLED


def is_defined_on_one_row(loss: Loss) -> bool:
    """Return whether the loss is defined on a single row; R², a recall or a correlation is not.

    >>> from heldout.losses.resolve import resolve_losses
    >>> names = ["neg_root_mean_squared_error", "r2", "squared"]
    >>> [is_defined_on_one_row(loss) for loss in resolve_losses(names, classification=False)]
    [True, False, True]
    """
    return not is_pooled(loss) or family_of(loss) == "root"


def positive_label(loss: Loss) -> Any:
    """Return the positive class of a score of two classes; scikit-learn's default is 1."""
    parts = scorer_parts(loss.scorer)
    return 1 if parts is None or parts.known_name is None else parts.options.get("pos_label", 1)


def pool_score(
    loss: Loss, y: Sequence[NDArray[Any]], responses: Sequence[Responses], weights: Sequence[Floats] | None
) -> PooledScore | None:
    """Return the score of all parts together, with influences of rows; None if it is not defined on them."""
    truth, weight = np.concatenate(y), None if weights is None else np.concatenate(weights)
    predicted = [answer.predict for answer in responses]
    if any(answer is None for answer in predicted):
        return None
    classes = next((answer.classes for answer in responses), None)
    joined = Responses(predict=np.concatenate([answer for answer in predicted if answer is not None]), classes=classes)
    with catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = mean_loss(loss, truth, joined, weight)
        except Exception:
            return None
        shares = np.ones(len(truth)) if weight is None else weight
        influences = _of_numbers if family_of(loss) in OF_NUMBERS else _of_counts
        influence = influences(loss, truth, joined, shares)
    cuts = np.cumsum([len(part) for part in y])[:-1]
    return PooledScore(value=value, influence=None if influence is None else tuple(np.split(influence, cuts)))


def parts_score(
    loss: Loss, y: Sequence[NDArray[Any]], responses: Sequence[Responses], weights: Sequence[Floats] | None
) -> PooledScore | None:
    """Return the mean over parts of any score that can be computed from responses, with influences of blocks of rows.

    The influence of a block is found by leaving it out. Each block holds rows from the whole range of the target. None
    if the scorer asks the predictor itself, fails, or there are too many parts.
    """
    if loss.asks_predictor or len(y) > MOST_PARTS:
        return None
    influences, blocks, values = list[Floats](), list[NDArray[np.intp]](), list[float]()
    with catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for part, (truth, answer) in enumerate(zip(y, responses, strict=True)):
                weight = None if weights is None else weights[part]
                value, influence, names = _leaving_blocks_out(loss, truth, answer, weight)
                values.append(value)
                influences.append(influence)
                blocks.append(names + part * BLOCKS)
        except Exception:
            return None
    totals = None if weights is None else [part.sum() for part in weights]  # the weight of each part
    return PooledScore(
        value=float(np.average(values, weights=totals)), influence=tuple(influences), blocks=tuple(blocks)
    )


def _leaving_blocks_out(
    loss: Loss, y: NDArray[Any], responses: Responses, weight: Floats | None
) -> tuple[float, Floats, NDArray[np.intp]]:
    n = len(y)
    count = min(BLOCKS, n // 2)
    names = np.empty(n, dtype=np.intp)
    order = np.argsort(y, kind="stable") if y.ndim == 1 else np.arange(n)
    names[order] = np.arange(n) % count

    def score(kept: NDArray[Any]) -> float:
        part = Replay(cut_rows(responses, kept))
        return call_scorer(loss, part, None, y[kept], None if weight is None else weight[kept])

    whole = score(np.ones(n, dtype=bool))
    influence = np.empty(n)
    for block in range(count):
        out = names == block
        influence[out] = (whole - score(~out)) * (n - out.sum()) / out.sum()
    return whole, influence - float(np.mean(influence)), names


def _of_numbers(loss: Loss, y: NDArray[Any], responses: Responses, weight: Floats) -> Floats | None:
    parts = scorer_parts(loss.scorer)
    assert parts is not None  # pooled scores are scikit-learn's own
    assert responses.predict is not None
    name = parts.known_name
    truth, predicted = (np.asarray(values, dtype=np.float64).reshape(len(y), -1) for values in (y, responses.predict))
    if name == "root_mean_squared_log_error":
        truth, predicted = np.log1p(truth), np.log1p(predicted)
    errors, away = truth - predicted, truth - np.average(truth, axis=0, weights=weight)
    if name == "explained_variance_score":
        errors = errors - np.average(errors, axis=0, weights=weight)
    lost, spread = (np.average(values**2, axis=0, weights=weight) for values in (errors, away))
    if family_of(loss) == "root":
        roots = np.sqrt(np.where(lost > 0, lost, 1.0))  # without errors all influences are 0
        return np.asarray(np.mean((errors**2 - lost) / (2 * roots), axis=1), dtype=np.float64)
    if not (spread > 0).all():
        return None
    return np.asarray(np.mean(errors**2 / spread - lost / spread * (away**2 / spread), axis=1), dtype=np.float64)


def _of_counts(loss: Loss, y: NDArray[Any], responses: Responses, weight: Floats) -> Floats | None:
    """Return influences, by numerical derivatives of the score by each count of the confusion matrix, or None."""
    predicted = responses.predict
    if predicted is None or y.ndim != 1 or predicted.ndim != 1:
        return None
    labels, cells = cells_of(y, predicted, responses.classes)
    there, cell_of_row = np.unique(cells, return_inverse=True)
    if len(there) > MOST_CELLS:
        return None
    counts = np.bincount(cell_of_row, weights=weight)
    true, called = there // len(labels), there % len(labels)
    parts, by_counts = scorer_parts(loss.scorer), score_of_counts(loss, labels)
    assert parts is not None  # pooled scores are scikit-learn's own

    def score(counts: Floats) -> float:
        matrix = np.zeros((len(labels), len(labels)))
        matrix[true, called] = counts
        counted = None if by_counts is None else by_counts(matrix)
        if counted is not None:
            return counted
        return -parts.sign * float(parts.function(labels[true], labels[called], sample_weight=counts, **parts.options))

    slopes = np.empty(len(there))
    for cell in range(len(there)):
        step = np.zeros(len(there))
        step[cell] = STEP * counts[cell]
        slopes[cell] = (score(counts + step) - score(counts - step)) / (2 * step[cell]) if counts[cell] > 0 else 0.0
    influence: Floats = (slopes * float(counts.sum()))[cell_of_row]
    return influence if np.isfinite(influence).all() else None
