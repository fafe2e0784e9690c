"""Familiar names of losses: what people type, how reports call them, and the scores that are shown by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, make_scorer

from heldout.base.errors import Argument, LossError, OptionError, Sentence
from heldout.losses.loss import ABSOLUTE, BRIER, LOG, SQUARED, ZERO_ONE, Loss, OwnRows, RangedRows, on_target
from heldout.losses.rows import ErrorRows, percentage_error
from heldout.losses.scorers import loss_of_scorer, scorer_parts
from heldout.risk.intervals.auc import area_influences

SHARE, TARGET = "share", "target"  # units: a share of rows, shown in per cent; and the unit of the target


def one_vs_rest_area(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Return the mean over classes of the area under the ROC curve of a class against all others.

    For probabilities it is scikit-learn's ``roc_auc_score(…, multi_class="ovr")``; decisions of any scale do as well.

    >>> one_vs_rest_area([0, 1, 2, 2], [[2, 1, 0], [0, 3, 1], [0, 1, 2], [1, 0, 2]])
    1.0
    """
    truth, scores = np.asarray(y_true), np.asarray(y_score, dtype=np.float64)
    classes = np.unique(truth)
    if scores.ndim != 2 or scores.shape[1] != len(classes):
        raise LossError("AUC of several classes needs each class in every held-out part and in every training part.")
    weights = None if sample_weight is None else [np.asarray(sample_weight, dtype=np.float64)]
    areas = [
        area_influences([column], [(truth == label).astype(np.float64)], weights, grouped=False)[0]
        for label, column in zip(classes, scores.T, strict=True)
    ]
    return float(np.mean(areas))


AREA = make_scorer(one_vs_rest_area, response_method=("predict_proba", "decision_function"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Familiar:
    """Declares a familiar name of a loss: its label in reports, its unit, and how it is made."""

    label: str
    unit: str = ""
    loss: Loss | str = ""  # a loss that gets this name, or the name of a scorer
    turned: bool = False  # the scorer is minus an error, which people know as a positive number

    def made(self, name: str) -> Loss:
        """Return the loss by its familiar name."""
        if isinstance(self.loss, Loss):
            return replace(self.loss, name=name)
        loss = loss_of_scorer(get_scorer(self.loss or name), name=name)
        return replace(loss, sign=1) if self.turned else loss


FAMILIAR: dict[str, Familiar] = {
    "accuracy": Familiar(label="accuracy", unit=SHARE),
    "balanced_accuracy": Familiar(label="balanced accuracy", unit=SHARE),
    "auc": Familiar(label="AUC", loss=replace(loss_of_scorer(AREA), low=-1.0, high=0.0)),
    "logloss": Familiar(label="log loss", loss=LOG),
    "brier": Familiar(label="Brier score", loss=BRIER),
    "f1": Familiar(label="F1"),
    "precision": Familiar(label="precision", unit=SHARE),
    "recall": Familiar(label="recall", unit=SHARE),
    "ap": Familiar(label="average precision", loss="average_precision"),
    "mcc": Familiar(label="Matthews correlation", loss="matthews_corrcoef"),
    "error_rate": Familiar(label="error rate", unit=SHARE, loss=ZERO_ONE),
    "rmse": Familiar(label="RMSE", unit=TARGET, loss="neg_root_mean_squared_error", turned=True),
    "mae": Familiar(label="MAE", unit=TARGET, loss=ABSOLUTE),
    "r2": Familiar(label="R²"),
    "mse": Familiar(label="mean squared error", loss=SQUARED),
    "mape": Familiar(label="MAPE", unit=SHARE, loss=replace(ABSOLUTE, rows=ErrorRows(error=percentage_error))),
}
OF_CLASSES = ("accuracy", "balanced_accuracy", "auc", "logloss", "brier")  # shown by default
OF_NUMBERS = ("rmse", "mae", "r2")
USUAL = {True: (*OF_CLASSES, "f1", "precision", "recall", "ap", "mcc"), False: (*OF_NUMBERS, "mse", "mape")}
_ALSO = {  # other spellings
    "balanced": "balanced_accuracy",
    "error": "error_rate",
    "roc": "auc",
    "pr_auc": "ap",
    "matthews": "mcc",
    "log_loss": "logloss",
    "cross_entropy": "logloss",
    "brier_score": "brier",
    "average_precision_score": "ap",
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "roc_auc_score": "auc",
    "f1_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
    "r2_score": "r2",
    "r²": "r2",
    "root_mean_squared_error": "rmse",
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "mean_absolute_percentage_error": "mape",
}
_LABELED = {  # losses of heldout's and scikit-learn's own names that are one of the familiar ones
    "zero_one": "error_rate",
    "log": "logloss",
    "squared": "mse",
    "absolute": "mae",
    "roc_auc": "auc",
    "average_precision": "ap",
    "matthews_corrcoef": "mcc",
}


def familiar_loss(name: str) -> Loss | None:
    """Return the loss that people call so, however they spell it; None if heldout has none of that familiar name.

    >>> familiar_loss("RMSE"), familiar_loss("log-loss"), familiar_loss("nonsense")
    (Loss('rmse'), Loss('logloss'), None)
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    plain = _ALSO.get(plain, plain)
    return FAMILIAR[plain].made(plain) if plain in FAMILIAR else None


def label_and_unit(loss: Loss) -> tuple[str, str]:
    """Return how reports call a loss, and its unit: "share", "target" or "".

    >>> label_and_unit(ABSOLUTE), label_and_unit(replace(ABSOLUTE, name="error in kg"))
    (('MAE', 'target'), ('error in kg', ''))
    """
    parts = None if loss.scorer is None else scorer_parts(loss.scorer)
    own = isinstance(loss.rows, OwnRows | RangedRows) or (loss.scorer is not None and parts is None)
    known = None if own else FAMILIAR.get(_LABELED.get(loss.name, loss.name))
    if known is not None:
        return known.label, known.unit
    return loss.name, TARGET if loss.name.startswith("pinball:") and not own else ""


def default_losses(*, classification: bool) -> tuple[Loss, ...]:
    """Return the losses that a report shows beside those that were asked for."""
    return tuple(FAMILIAR[name].made(name) for name in (OF_CLASSES if classification else OF_NUMBERS))


def for_target(losses: Iterable[Loss], classes: Any, positive: Any = None) -> tuple[Loss, ...]:
    """Return the losses adapted to the classes of the target; `classes` is None for numbers or several labels a row.

    `positive` is the class that scores of one class speak of; None leaves them as they are.
    """
    suited = on_target(losses, classes)
    if classes is None or len(classes) != 2:
        return suited
    return tuple(_of_two(loss, positive) for loss in suited)


def _of_two(loss: Loss, positive: Any) -> Loss:
    """Return a score of two classes as a score of scikit-learn, of the positive class if one was named."""
    if loss.scorer is AREA:  # the area of two classes is the same for either of them
        scorer = get_scorer("roc_auc")
        return replace(loss, scorer=scorer, methods=loss_of_scorer(scorer).methods)
    parts = None if positive is None or loss.scorer is None else scorer_parts(loss.scorer)
    if parts is None or parts.known_name not in _OF_ONE_CLASS or "pos_label" in parts.options:
        return loss
    if parts.known_name != "average_precision_score" and parts.options.get("average", "binary") != "binary":
        return loss
    options = {**parts.options, "pos_label": positive}
    scorer = make_scorer(parts.function, response_method=parts.methods, greater_is_better=parts.sign > 0, **options)
    return replace(loss, scorer=scorer, rows=loss_of_scorer(scorer).rows)


_OF_ONE_CLASS = frozenset(
    {"average_precision_score", "brier_score_loss", "f1_score", "fbeta_score", "jaccard_score"}
    | {"precision_score", "recall_score", "class_likelihood_ratios"}
)


def positive_class(positive: Any, classes: NDArray[Any] | None, *, classification: bool) -> Any:
    """Return the class of the target that `positive=` names, which may be written as text; None stays None."""
    if positive is None:
        return None
    said = Argument("positive", positive)
    if not classification:
        raise OptionError(
            Sentence("{} names a class, but the target holds numbers. Leave it out, or predict classes.", said)
        )
    if classes is None or len(classes) != 2:
        many = "several labels a row" if classes is None else f"{len(classes)} classes"
        raise OptionError(
            Sentence("{} is for a target of two classes, but this one has {}. Leave it out;", said, many),
            "scores of several classes say how they average, such as 'f1_macro'.",
        )
    labels = classes.tolist()
    same = [label for label in labels if type(label) is type(positive) and label == positive]
    same = same or [label for label in labels if str(label) == str(positive)]  # as a command line gives it
    if same:
        return same[0]
    raise OptionError(
        Sentence("{} is no class of the target: its classes are {!r} and {!r}. Name one of them.", said, *labels)
    )
