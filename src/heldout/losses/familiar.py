"""Familiar names of losses: what people type, how reports call them, and the scores that are shown by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sklearn.metrics import get_scorer

from heldout.losses.loss import ABSOLUTE, BRIER, LOG, SQUARED, Loss
from heldout.losses.rows import ErrorRows, percentage_error
from heldout.losses.scorers import loss_of_scorer

SHARE, TARGET = "share", "target"  # units: a share of rows, shown in per cent; and the unit of the target


@dataclass(frozen=True, slots=True, kw_only=True)
class Familiar:
    """Declares a familiar name of a loss: its label in reports, its unit, and how it is made."""

    label: str
    unit: str = ""
    make: Callable[[str], Loss] | None = None  # takes the name; None: the loss of that name is known already


def _called(loss: Loss) -> Callable[[str], Loss]:
    return lambda name: replace(loss, name=name)


def _score(scorer: str) -> Callable[[str], Loss]:
    return lambda name: loss_of_scorer(get_scorer(scorer), name=name)


def _error(scorer: str) -> Callable[[str], Loss]:
    """Return a maker of the error whose negative is a score of scikit-learn; people know it as a positive number."""
    return lambda name: replace(loss_of_scorer(get_scorer(scorer), name=name), sign=1)


FAMILIAR: dict[str, Familiar] = {
    "accuracy": Familiar(label="accuracy", unit=SHARE),
    "balanced_accuracy": Familiar(label="balanced accuracy", unit=SHARE),
    "auc": Familiar(label="AUC", make=_score("roc_auc")),
    "logloss": Familiar(label="log loss", make=_called(LOG)),
    "brier": Familiar(label="Brier score", make=_called(BRIER)),
    "f1": Familiar(label="F1"),
    "precision": Familiar(label="precision", unit=SHARE),
    "recall": Familiar(label="recall", unit=SHARE),
    "ap": Familiar(label="average precision", make=_score("average_precision")),
    "mcc": Familiar(label="Matthews correlation", make=_score("matthews_corrcoef")),
    "rmse": Familiar(label="RMSE", unit=TARGET, make=_error("neg_root_mean_squared_error")),
    "mae": Familiar(label="MAE", unit=TARGET, make=_called(ABSOLUTE)),
    "r2": Familiar(label="R²"),
    "mse": Familiar(label="mean squared error", make=_called(SQUARED)),
    "mape": Familiar(
        label="MAPE",
        unit=SHARE,
        make=_called(replace(ABSOLUTE, rows=ErrorRows(error=percentage_error))),
    ),
}
OTHER_NAMES = {"balanced": "balanced_accuracy", "log_loss": "logloss", "brier_score": "brier", "roc": "auc"}
_LABELS = {  # losses of heldout's and scikit-learn's own names that are one of these
    "log": "logloss",
    "squared": "mse",
    "absolute": "mae",
    "roc_auc": "auc",
    "average_precision": "ap",
    "matthews_corrcoef": "mcc",
}
OF_CLASSES = ("accuracy", "balanced_accuracy", "auc", "logloss", "brier")
OF_NUMBERS = ("rmse", "mae", "r2")


def familiar_loss(name: str) -> Loss | None:
    """Return the loss that people call so; None if heldout has no loss of that familiar name."""
    name = OTHER_NAMES.get(name, name)
    known = FAMILIAR.get(name)
    if known is None:
        return None
    return loss_of_scorer(get_scorer(name), name=name) if known.make is None else known.make(name)


def label_and_unit(loss: Loss) -> tuple[str, str]:
    """Return how reports call a loss, and its unit: "share", "target" or "".

    >>> from heldout.losses.loss import ABSOLUTE
    >>> label_and_unit(ABSOLUTE)
    ('MAE', 'target')
    """
    if loss.name == "zero_one":
        return "error rate", SHARE
    known = FAMILIAR.get(_LABELS.get(loss.name, loss.name))
    if known is not None:
        return known.label, known.unit
    return loss.name, TARGET if loss.name.startswith("pinball:") else ""


def default_losses(*, classification: bool) -> tuple[Loss, ...]:
    """Return the losses that a report shows beside those that were asked for."""
    names = OF_CLASSES if classification else OF_NUMBERS
    return tuple(loss for name in names if (loss := familiar_loss(name)) is not None)
