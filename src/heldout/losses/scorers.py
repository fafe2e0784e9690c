"""Turns scikit-learn's scorers into losses: sign, range, and row losses if the score is a mean over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, getattr_static, signature
from math import inf
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.pipeline import Pipeline

from heldout.base.errors import LossError
from heldout.base.responses import METHODS
from heldout.losses.loss import Loss, RowLoss
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
_PREDICT, _PROBA, _DECISION = ("predict",), ("predict_proba",), ("decision_function",)


@dataclass(frozen=True, slots=True)
class KnownScore:
    """Holds the known properties of one of scikit-learn's score functions."""

    low: float  # its range, in its own sign
    high: float
    family: str = "other"  # decides the interval of a set score: see `heldout.risk.record.FAMILIES`
    convex: bool = False  # in the prediction, or in the probability; Tweedie deviances only for the powers 0 and 1
    rows: _Build | None = None  # if it is a mean over rows, for a scorer of this sign with these response methods
    sign: int = 1
    methods: tuple[str, ...] = _PREDICT


def rows_of_score(name: str, *, sign: int, methods: tuple[str, ...], options: Mapping[str, Any]) -> RowLoss | None:
    """Return the row losses whose mean is the loss; None if it is not a mean over rows or an option is unknown.

    A score function is identified by its name, the sign of its scorer and its response methods: a mean squared error of
    probabilities, for example, is another loss. Each builder removes the options that it handles.

    >>> rows_of_score("mean_pinball_loss", sign=-1, methods=("predict",), options={"alpha": 0.9}).option
    0.9
    >>> rows_of_score("accuracy_score", sign=1, methods=("predict",), options={"normalize": False})
    """
    known = KNOWN_SCORES.get(name)
    if known is None or known.rows is None or known.sign != sign or not set(methods) <= set(known.methods):
        return None
    left = dict(options)
    if left.get("normalize") is True and name in _NORMALIZED:
        del left["normalize"]
    rows = known.rows(left)
    if isinstance(rows, TopRows):
        rows = TopRows(k=rows.k, methods=methods)
    return None if left else rows


def _plain(rows: RowLoss, *ignored: str) -> _Build:
    """Return a builder of row losses without options; the `ignored` options make no difference to row losses."""

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
        options.pop("pos_label", None)  # it matters only if there is one label a row
        empty = options.pop("zero_division", "warn")
        if empty != "warn" and empty not in (0, 1):  # NaN leaves such rows out: then it is not a mean over all rows
            return None
        return SampleRows(
            score=score, beta=float(options.pop("beta", 1.0)), empty=0.0 if empty == "warn" else float(empty)
        )

    return build


_NORMALIZED = ("accuracy_score", "zero_one_loss", "log_loss", "top_k_accuracy_score")
_WHOLE: dict[Any, RowLoss] = {squared_error: squared_rows, absolute_error: absolute_rows}  # known to kernels
# The known properties of scikit-learn's score functions.
KNOWN_SCORES: dict[str, KnownScore] = {
    "accuracy_score": KnownScore(0.0, 1.0, rows=_plain(accuracy_rows)),
    "adjusted_mutual_info_score": KnownScore(-inf, 1.0),
    "adjusted_rand_score": KnownScore(-0.5, 1.0),
    "average_precision_score": KnownScore(0.0, 1.0),
    "balanced_accuracy_score": KnownScore(0.0, 1.0, family="recalls"),
    "brier_score_loss": KnownScore(0.0, 2.0, convex=True, methods=_PROBA, sign=-1, rows=_brier),
    "cohen_kappa_score": KnownScore(-1.0, 1.0, family="means"),
    "completeness_score": KnownScore(0.0, 1.0),
    "d2_absolute_error_score": KnownScore(-inf, 1.0),
    "d2_brier_score": KnownScore(-inf, 1.0),
    "d2_log_loss_score": KnownScore(-inf, 1.0),
    "explained_variance_score": KnownScore(-inf, 1.0, family="r2"),
    "f1_score": KnownScore(0.0, 1.0, family="f1", rows=_samples("f")),
    "fbeta_score": KnownScore(0.0, 1.0, family="means", rows=_samples("f")),
    "fowlkes_mallows_score": KnownScore(0.0, 1.0),
    "hamming_loss": KnownScore(0.0, 1.0, sign=-1, rows=_plain(hamming_rows)),
    "hinge_loss": KnownScore(0.0, inf, methods=_DECISION, sign=-1, rows=_plain(hinge_rows, "labels")),
    "homogeneity_score": KnownScore(0.0, 1.0),
    "jaccard_score": KnownScore(0.0, 1.0, family="means", rows=_samples("jaccard")),
    "log_loss": KnownScore(0.0, inf, convex=True, methods=_PROBA, sign=-1, rows=_plain(log_rows, "labels")),
    "matthews_corrcoef": KnownScore(-1.0, 1.0, family="matthews"),
    "max_error": KnownScore(0.0, inf),
    "mean_absolute_error": KnownScore(0.0, inf, convex=True, sign=-1, rows=_errors(absolute_error)),
    "mean_absolute_percentage_error": KnownScore(0.0, inf, convex=True, sign=-1, rows=_errors(percentage_error)),
    "mean_gamma_deviance": KnownScore(0.0, inf, sign=-1, rows=_deviance(2)),
    "mean_pinball_loss": KnownScore(0.0, inf, convex=True, sign=-1, rows=_errors(pinball_error, "alpha", 0.5)),
    "mean_poisson_deviance": KnownScore(0.0, inf, convex=True, sign=-1, rows=_deviance(1)),
    "mean_squared_error": KnownScore(0.0, inf, convex=True, sign=-1, rows=_errors(squared_error)),
    "mean_squared_log_error": KnownScore(0.0, inf, sign=-1, rows=_errors(squared_log_error)),
    "mean_tweedie_deviance": KnownScore(0.0, inf, sign=-1, rows=_tweedie),
    "median_absolute_error": KnownScore(0.0, inf),
    "mutual_info_score": KnownScore(0.0, inf),
    "negative_likelihood_ratio": KnownScore(0.0, inf),
    "normalized_mutual_info_score": KnownScore(0.0, 1.0),
    "positive_likelihood_ratio": KnownScore(0.0, inf),
    "precision_score": KnownScore(0.0, 1.0, family="means", rows=_samples("precision")),
    "r2_score": KnownScore(-inf, 1.0, family="r2"),
    "rand_score": KnownScore(0.0, 1.0),
    "recall_score": KnownScore(0.0, 1.0, family="means", rows=_samples("recall")),
    "roc_auc_score": KnownScore(0.0, 1.0, family="auc"),
    "root_mean_squared_error": KnownScore(0.0, inf, family="root"),
    "root_mean_squared_log_error": KnownScore(0.0, inf, family="root"),
    "top_k_accuracy_score": KnownScore(0.0, 1.0, methods=(*_DECISION, *_PROBA), rows=_top),
    "v_measure_score": KnownScore(0.0, 1.0),
    "zero_one_loss": KnownScore(0.0, 1.0, sign=-1, rows=_plain(zero_one_rows)),
}


_SCORER_TYPE = type(make_scorer(accuracy_score))

# Options that do not change these ranges. Others may (normalize=False, adjusted=True).
_HARMLESS = {
    *("alpha", "average", "beta", "k", "labels", "multi_class", "multioutput", "pos_label", "power", "scale_by_half"),
    "zero_division",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerParts:
    """Holds the parts of a scorer made by make_scorer."""

    function: Callable[..., Any]
    sign: int  # +1 where greater is better
    options: Mapping[str, Any]
    methods: tuple[str, ...]  # alternatives, the preferred one first

    @property
    def function_name(self) -> str:
        return name_of(self.function)

    @property
    def known_name(self) -> str | None:
        """The name of the function if it is scikit-learn's own, else None."""
        module = str(getattr(self.function, "__module__", ""))
        return self.function_name if module.startswith("sklearn.metrics.") else None


def name_of(function: Any) -> str:
    """Return the name of a function, of the function inside a partial, or "scorer" for a lambda."""
    inner = getattr(function, "func", function)
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return "scorer" if name == "<lambda>" else name


def scorer_parts(scorer: Any) -> ScorerParts | None:
    """Return the parts of a scorer that works on recorded responses; None for any other."""
    # scikit-learn has no public way to ask a scorer which response it needs, so its private attributes are read here
    # and nowhere else. Only the exact type that make_scorer returns is accepted, since a subclass may do anything.
    if type(scorer) is not _SCORER_TYPE:
        return None
    methods = scorer._response_method
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    if not set(methods) <= set(METHODS):
        return None
    return ScorerParts(function=scorer._score_func, sign=scorer._sign, options=scorer._kwargs, methods=methods)


def loss_of_scorer(scorer: Any, name: str | None = None) -> Loss:
    """Return the loss that is minus this scorer; a scorer not made by make_scorer has to call the predictor itself."""
    parts = scorer_parts(scorer)
    if parts is None:
        return Loss(
            name=name or name_of(scorer), methods=(), sign=-1, low=-inf, high=inf, scorer=scorer, asks_predictor=True
        )
    name_known = parts.known_name or ""
    known = KNOWN_SCORES.get(name_known, KnownScore(-inf, inf))
    low, high = (known.low, known.high) if set(parts.options) <= _HARMLESS else (-inf, inf)
    plain = name_known == "mean_tweedie_deviance" and parts.options.get("power", 0) in (0, 1)
    return Loss(
        name=name or ("" if parts.sign > 0 else "neg_") + parts.function_name,
        methods=(parts.methods,),
        sign=-1,
        low=-high if parts.sign > 0 else low,
        high=-low if parts.sign > 0 else high,
        rows=rows_of_score(name_known, sign=parts.sign, methods=parts.methods, options=parts.options),
        scorer=scorer,
        convex=parts.sign < 0 and (plain or known.convex),
    )


def score_loss(estimator: Any) -> Loss:
    """Return the loss that is minus `estimator.score`, which scikit-learn's searches use if scoring is None.

    If `score` is the accuracy or R² of scikit-learn's mixins, the loss needs only predictions; any other `score` has to
    be called on the predictor itself.

    >>> from sklearn.linear_model import Ridge
    >>> score_loss(Ridge()).methods
    (('predict',),)
    """
    last = estimator
    while True:
        # getattr_static skips the descriptor, since scikit-learn's returns a new function at each access.
        if isinstance(last, Pipeline) and getattr_static(type(last), "score") is getattr_static(Pipeline, "score"):
            last = last.steps[-1][1]
        elif type(last) is FrozenEstimator:
            last = last.estimator
        else:
            break
    method = getattr(type(last), "score", None)
    if method is ClassifierMixin.score:
        return replace(loss_of_scorer(get_scorer("accuracy")), name="score")
    if method is RegressorMixin.score:
        return replace(loss_of_scorer(get_scorer("r2")), name="score")
    if not hasattr(last, "score"):
        raise LossError(f"{type(last).__name__} has no score method. Say which loss to use, as in loss='squared'.")
    return loss_of_scorer(call_score, name="score")


def call_score(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return the estimator's own score, with the signature of a scorer."""
    return estimator.score(X, y) if sample_weight is None else estimator.score(X, y, sample_weight=sample_weight)


def accepts_weight(scorer: Any) -> bool:
    """Return whether this scorer accepts sample_weight."""
    parts = scorer_parts(scorer)
    try:
        parameters = signature(scorer if parts is None else parts.function).parameters
    except (TypeError, ValueError):
        return False
    anything = parts is None and any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    return anything or "sample_weight" in parameters
