"""Which of scikit-learn's score functions are means over rows, and the losses of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heldout.losses.loss import RowLoss
from heldout.losses.rows import (
    BrierRows,
    ErrorRows,
    SampleRows,
    TopRows,
    absolute_error,
    absolute_rows,
    accuracy_rows,
    deviance,
    hamming_rows,
    hinge_rows,
    log_rows,
    percentage_error,
    pinball_error,
    squared_error,
    squared_log_error,
    squared_rows,
    zero_one_rows,
)

_Options = dict[str, Any]
_Build = Callable[[_Options], RowLoss | None]


def rows_of_score(name: str, *, sign: int, methods: tuple[str, ...], options: Mapping[str, Any]) -> RowLoss | None:
    """The row losses whose mean is minus the score; None where it is no mean over rows, or an option is not known.

    A score function is known by its name, the sign of its scorer and the responses that it is given: of probabilities,
    a mean squared error is another loss. Each entry takes out of the options those that it honours.

    >>> rows_of_score("mean_pinball_loss", sign=-1, methods=("predict",), options={"alpha": 0.9}).option
    0.9
    >>> rows_of_score("accuracy_score", sign=1, methods=("predict",), options={"normalize": False})
    """
    found = _ROWS.get(name)
    if found is None or found[0] != sign or not set(methods) <= set(found[1]):
        return None
    left = dict(options)
    if left.get("normalize") is True and name in _NORMALIZED:
        del left["normalize"]
    rows = found[2](left)
    if isinstance(rows, TopRows):
        rows = TopRows(k=rows.k, methods=methods)
    return None if left else rows


def _plain(rows: RowLoss, *ignored: str) -> _Build:
    """Row losses without options, but for those that change nothing where rows are known by their labels."""

    def build(options: _Options) -> RowLoss:
        for name in ignored:
            options.pop(name, None)
        return rows

    return build


def _errors(error: Callable[..., Any], option: str | None = None, default: float | None = None) -> _Build:
    def build(options: _Options) -> RowLoss | None:
        value = None if option is None else options.pop(option, default)
        outputs = options.pop("multioutput", "uniform_average")
        if isinstance(outputs, str):
            if outputs != "uniform_average":  # "raw_values" are several numbers
                return None
            return _WHOLE.get(error) or ErrorRows(error=error, option=value)
        return ErrorRows(error=error, option=value, outputs=tuple(float(weight) for weight in outputs))

    return build


def _deviance(power: float) -> _Build:
    return _plain(ErrorRows(error=deviance, option=power))


def _tweedie(options: _Options) -> RowLoss:
    return ErrorRows(error=deviance, option=options.pop("power", 0))


def _brier(options: _Options) -> RowLoss:
    options.pop("labels", None)
    half = options.pop("scale_by_half", "auto")
    return BrierRows(positive=options.pop("pos_label", None), half=None if half == "auto" else bool(half))


def _top(options: _Options) -> RowLoss:
    options.pop("labels", None)
    return TopRows(k=options.pop("k", 2))


def _samples(score: str) -> _Build:
    def build(options: _Options) -> RowLoss | None:
        if options.pop("average", None) != "samples":
            return None
        options.pop("pos_label", None)  # it says which label is positive where there is one a row
        empty = options.pop("zero_division", "warn")
        if empty != "warn" and empty not in (0, 1):  # with NaN such rows are left out, and it is no mean over all
            return None
        return SampleRows(
            score=score, beta=float(options.pop("beta", 1.0)), empty=0.0 if empty == "warn" else float(empty)
        )

    return build


_PREDICT, _PROBA, _DECISION = ("predict",), ("predict_proba",), ("decision_function",)
_NORMALIZED = ("accuracy_score", "zero_one_loss", "log_loss", "top_k_accuracy_score")
_WHOLE: dict[Any, RowLoss] = {squared_error: squared_rows, absolute_error: absolute_rows}  # known to kernels
# Which score functions are means over rows: the sign of their scorers, what they are given, and their row losses.
_ROWS: dict[str, tuple[int, tuple[str, ...], _Build]] = {
    "accuracy_score": (1, _PREDICT, _plain(accuracy_rows)),
    "brier_score_loss": (-1, _PROBA, _brier),
    "f1_score": (1, _PREDICT, _samples("f")),
    "fbeta_score": (1, _PREDICT, _samples("f")),
    "hamming_loss": (-1, _PREDICT, _plain(hamming_rows)),
    "hinge_loss": (-1, _DECISION, _plain(hinge_rows, "labels")),
    "jaccard_score": (1, _PREDICT, _samples("jaccard")),
    "log_loss": (-1, _PROBA, _plain(log_rows, "labels")),
    "mean_absolute_error": (-1, _PREDICT, _errors(absolute_error)),
    "mean_absolute_percentage_error": (-1, _PREDICT, _errors(percentage_error)),
    "mean_gamma_deviance": (-1, _PREDICT, _deviance(2)),
    "mean_pinball_loss": (-1, _PREDICT, _errors(pinball_error, "alpha", 0.5)),
    "mean_poisson_deviance": (-1, _PREDICT, _deviance(1)),
    "mean_squared_error": (-1, _PREDICT, _errors(squared_error)),
    "mean_squared_log_error": (-1, _PREDICT, _errors(squared_log_error)),
    "mean_tweedie_deviance": (-1, _PREDICT, _tweedie),
    "precision_score": (1, _PREDICT, _samples("precision")),
    "recall_score": (1, _PREDICT, _samples("recall")),
    "top_k_accuracy_score": (1, (*_DECISION, *_PROBA), _top),
    "zero_one_loss": (-1, _PREDICT, _plain(zero_one_rows)),
}
