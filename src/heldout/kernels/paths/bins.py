"""Boosted trees that share binned data: candidates of one training set, equal in all that the bins depend on.

Law: LightGBM and XGBoost sort columns into bins before the first round, by the training rows and a few parameters.
Parameters in `free` are not among them and are read only while trees grow, so one binned table serves every value.
Growing trees writes nothing into it. Tier: identical.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sklearn.base import clone

from heldout.base.responses import Responses
from heldout.kernels.paths.boosters import LIGHTGBM, XGBOOST
from heldout.kernels.paths.path import Methods, Path, ask_member, seed_refusal, stand_in

MOST_FITS = 6  # that share their bins: five sixths of what could be saved is saved
Values = tuple[tuple[str, Any], ...]  # parameters and their values, in the order of `free`

# Further parameters of the libraries that are not aliases of the free ones.
KNOWN = frozenset(
    ["verbose", "verbosity", "deterministic", "force_col_wise", "force_row_wise", "extra_trees", "max_bin",
     "min_data_in_bin", "data_sample_strategy", "top_rate", "other_rate", "path_smooth", "cat_smooth"]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Binned:
    """A `Path` over several parameters: estimators of one library are fitted one after another on one binned table.

    Those that differ in the number of rounds alone come from one fit, if the library's prefix path allows it.
    """

    name: str
    prefix: Path  # which estimators, and whether smaller numbers of rounds can be read off
    free: tuple[str, ...]
    fit_all: Callable[[Sequence[Any], Any, Any, Mapping[str, Any]], list[Any]]  # unfitted ones, X, y, weights
    refuses: Callable[[Any], str | None] = lambda estimator: None

    def takes(self, estimator: Any) -> bool:
        return self.prefix.takes(estimator)

    def value_of(self, estimator: Any) -> Values:
        params = estimator.get_params(deep=False)
        return tuple((name, params.get(name)) for name in self.free)

    def lane(self, value: Values) -> Hashable:
        return "binned"

    def refusal(self, estimators: Sequence[Any]) -> str | None:
        first = estimators[0]
        for estimator in estimators:
            for name, value in self.value_of(estimator):
                if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                    return f"{name}={value!r} is no plain number."
        extra = sorted(set(first.get_params()) - set(type(first)().get_params()) - KNOWN)
        if extra:
            return f"{extra[0]} is passed on to the library, where it may be another name of a parameter that differs."
        return seed_refusal(first) or self.refuses(first) or self.prefix.refuses(first)

    def cut(self, values: Sequence[Values]) -> list[list[int]]:
        """Group positions that share bins, a few fits to a group, so that processes can divide the work."""
        fits = self.by_fit(values)
        starts = range(0, len(fits), MOST_FITS)
        return [sorted(chain.from_iterable(fits[start : start + MOST_FITS])) for start in starts]

    def by_fit(self, values: Sequence[Values]) -> list[list[int]]:
        """Group the positions of values that come from one fit: they differ in the number of rounds alone."""
        found: dict[Hashable, list[int]] = {}
        for place, value in enumerate(values):
            key = tuple((name, type(one), one) for name, one in value if name != self.prefix.parameter)
            found.setdefault(key, []).append(place)
        return list(found.values())

    def start(self, estimator: Any, values: Sequence[Values]) -> Any:
        longest = [max((values[place] for place in places), key=self._rounds) for places in self.by_fit(values)]
        return BinnedFits(self, [clone(estimator).set_params(**dict(value)) for value in longest])

    def responses(self, fitted: Any, values: Sequence[Values], X: Any, methods: Methods) -> Iterator[Responses]:
        fits = zip(fitted.estimators, self.by_fit(values), strict=True)
        own = {place: estimator for estimator, places in fits for place in places}
        for place, value in enumerate(values):
            member, rounds = own[place], self._rounds(value)
            if rounds != member.get_params(deep=False)[self.prefix.parameter]:
                (member,) = self.prefix.members(member, [rounds], X, methods)
            yield ask_member(member, X, methods)

    def _rounds(self, value: Values) -> Any:
        return dict(value)[self.prefix.parameter]


class BinnedFits:
    """Fits the estimators of a group."""

    def __init__(self, binned: Binned, estimators: list[Any]) -> None:
        self._binned, self.estimators = binned, estimators

    def fit(self, X: Any, y: Any, **arguments: Any) -> BinnedFits:
        self.estimators = self._binned.fit_all(self.estimators, X, y, arguments)
        return self


def _fit_lightgbm(own: Sequence[Any], X: Any, y: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """Fit all estimators on one lightgbm.Dataset.

    LightGBM's own estimator fits the first one. A callback keeps the Dataset that it makes and the parameters that it
    passes to lightgbm.train. The others are trained on that Dataset by lightgbm.train itself, which refuses parameters
    that need other bins.
    """
    import lightgbm

    kept: dict[str, Any] = {}

    def keep(env: Any) -> None:
        kept.setdefault("params", dict(env.params))
        kept.setdefault("data", env.model.train_set)

    keep.before_iteration = True  # type: ignore[attr-defined]
    first = own[0].fit(X, y, **arguments, callbacks=[keep])
    fitted = [first]
    for other in own[1:]:
        changed = dict(LIGHTGBM_BINS.value_of(other))
        rounds = changed.pop("n_estimators")
        params = {name: value for name, value in kept["params"].items() if name != "num_iterations"} | changed
        booster = lightgbm.train(params, kept["data"], num_boost_round=rounds)
        twin = stand_in(first, {"_Booster": booster, "n_estimators": rounds, **changed})
        if twin.booster_ is not booster:
            raise TypeError("This version of LightGBM keeps its trees elsewhere.")
        fitted.append(twin)
    return fitted


def _refuse_xgboost(estimator: Any) -> str | None:
    method = estimator.get_params().get("tree_method")
    if method not in (None, "auto", "hist"):
        return f"tree_method={method!r} has no bins that are made once."
    if not callable(getattr(estimator, "_create_dmatrix", None)):
        return "this version of XGBoost makes its matrix elsewhere."
    return None


def _fit_xgboost(own: Sequence[Any], X: Any, y: Any, arguments: Mapping[str, Any]) -> list[Any]:
    """Fit each with XGBoost's own estimator, on the data matrix that the first one makes."""
    kept: list[Any] = []
    for estimator in own:
        make = estimator._create_dmatrix

        def once(ref: Any, make: Any = make, **data: Any) -> Any:
            if not kept:
                kept.append(make(ref, **data))
            return kept[0]

        estimator._create_dmatrix = once
        estimator.fit(X, y, **arguments)
        del estimator._create_dmatrix
    return list(own)


LIGHTGBM_BINS = Binned(
    name="LightGBM bins",
    prefix=LIGHTGBM,
    free=("n_estimators", "num_leaves", "max_depth", "learning_rate", "min_split_gain", "min_child_weight",
          "reg_alpha", "reg_lambda", "subsample", "subsample_freq", "colsample_bytree"),
    fit_all=_fit_lightgbm,
)  # fmt: skip
XGBOOST_BINS = Binned(
    name="XGBoost bins",
    prefix=XGBOOST,
    free=("n_estimators", "max_depth", "max_leaves", "learning_rate", "gamma", "min_child_weight", "max_delta_step",
          "subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "reg_alpha", "reg_lambda"),
    refuses=_refuse_xgboost,
    fit_all=_fit_xgboost,
)  # fmt: skip
