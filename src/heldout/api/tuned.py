"""`Tuned`: a learner that chooses its own parameters, and is a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from heldout.api.call_text import with_our_words
from heldout.api.tuning import fit_tuned, routed_fit_params
from heldout.base.errors import LearnerError, OptionError
from heldout.base.options import Options
from heldout.base.registered import registered
from heldout.base.rowkeys import derive
from heldout.base.shown import plain
from heldout.kernels.scoring import ask_responses
from heldout.losses import Loss, call_scorer, label_and_unit, mean_loss, needed_methods, own_losses, resolve_losses
from heldout.models.model import ModelParts
from heldout.report.show import as_html
from heldout.results.corrections import tuning_estimates
from heldout.results.estimates import Covers
from heldout.results.selection import Selection
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import label_of
from heldout.search.search import Family, Search, build_candidates
from heldout.splits import as_strategy
from heldout.splits.foreign import default_strategy

_WAITING = "_estimates"


class ShownTuned:
    """Implements hooks of scikit-learn's display, without computing the estimates that are computed on demand."""

    def _html_repr(self) -> str:
        # Both of scikit-learn's ways to a notebook call this, and only where its `display` is "diagram".
        diagram: str = super()._html_repr()  # type: ignore[misc]
        return diagram + as_html("tuned", _facts(self)) if hasattr(self, "best_params_") else diagram

    def _sk_visual_block_(self) -> Any:
        """Return the block of scikit-learn's diagram: the families beside each other, each with its space."""
        from sklearn.utils._repr_html.estimator import _VisualBlock

        families = self._families()  # type: ignore[attr-defined]
        several = isinstance(self.estimator, Mapping)  # type: ignore[attr-defined]
        names = [f"{name if several else 'estimator'}: {type(estimator).__name__}" for name, estimator, _ in families]
        details = [f"{estimator}\n{space}" for _, estimator, space in families]
        return _VisualBlock("parallel", [estimator for _, estimator, _ in families], names=names, name_details=details)

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        # scikit-learn reads every attribute for its table, properties too.
        return super(ShownTuned, self._without_waiting())._get_fitted_attr_html(doc_link)  # type: ignore[misc]

    def __dir__(self) -> list[str]:
        # scikit-learn reads every attribute to see whether it is there.
        names = list(super(ShownTuned, self._without_waiting()).__dir__())
        return sorted({*names, "estimates_"}) if _WAITING in vars(self) else names

    def _without_waiting(self) -> Self:
        """Return a copy of the learner without the estimates that are not computed yet."""
        twin = object.__new__(type(self))
        vars(twin).update({name: value for name, value in vars(self).items() if not isinstance(value, Selection)})
        return twin


def _facts(tuned: Any) -> dict[str, Any]:
    """Return the facts shown of a fitted learner, as plain values, without computing anything."""
    loss: Loss = tuned.losses_[0]
    made = getattr(tuned, _WAITING)
    estimates = {} if isinstance(made, Selection) else made
    candidates = len(tuned.cv_results_["params"])
    return {
        "family": tuned.best_family_,
        "params": plain(tuned.best_params_),
        "candidates": candidates,
        "families": _families_of(tuned, loss),
        "parts": tuned.n_splits_,
        "loss": label_and_unit(loss)[0],
        "value": plain(-loss.sign * tuned.best_score_ + 0.0),
        "optimistic": candidates > 1,
        "estimates": {name: plain(one.as_dict()) for name, one in estimates.items()},
        "labels": {name: label_of(one) for name, one in estimates.items()},
        "covers": tuned.covers_.sentence,
        "failed": len(tuned.failures_),
    }


def _families_of(tuned: Any, loss: Loss) -> list[dict[str, Any]]:
    """Return each family with its candidates and its best validation score, the best first; one is not listed."""
    found = tuned.cv_results_
    if "family" not in found:
        return []
    scores = found["mean_test_score" if "mean_test_score" in found else f"mean_test_{loss.name}"]
    own = {name: scores[found["family"] == name] for name in dict.fromkeys(found["family"])}
    best = {name: float(np.max(each[np.isfinite(each)], initial=-np.inf)) for name, each in own.items()}
    return [
        {"family": name, "candidates": len(own[name]), "value": plain(-loss.sign * best[name] + 0.0)}
        for name in sorted(own, key=lambda name: -best[name])
    ]


def _by_predictor(method: str, words: str) -> Any:
    """Return a method that calls the final predictor's; it exists if that, or before fitting the estimator, has it."""

    def has_method(self: Any) -> bool:
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self._first_estimator(), method)
        return True

    def ask(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, method)(X)

    ask.__name__, ask.__qualname__, ask.__doc__ = method, f"Tuned.{method}", f"The final predictor's {words}."
    return available_if(has_method)(ask)


def _of_predictor(name: str, words: str) -> Any:
    """Return a property that reads an attribute of the final predictor; it needs a fitted learner."""

    def read(self: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)

    return property(read, doc=words)


@registered
class Tuned(ShownTuned, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that chooses a candidate on validation rows, then makes the final predictor.

    It maps a training set to a predictor like any other learner, so nested cross-validation is nothing but
    ``heldout.evaluate(Tuned(…), X, y, test=KFold(5))``.

    Parameters
    ----------
    estimator : estimator, or dict
        Any scikit-learn estimator or Pipeline; or families that compete, ``{"ridge": (estimator, space), …}``.
    space : dict, list of dicts, Sample or None
        The candidates, by parameter name as in scikit-learn (``step__param``).
    validation : int, splitter or pairs of row arrays; or None
        How rows are held out to choose a candidate. A number k is ``KFold(k)``, blocks of time where time is declared.
        None: ``KFold(5)``, or ``Forward(5)`` with time, as for ``evaluate(test=None)``.
    loss : str, scorer, list or dict, optional
        What is minimised; the first of several chooses. None: zero-one for classifiers, squared for regressors.
    choose : "best", "one_se" or callable
        The smallest mean loss; the simplest candidate within one standard error of it; or a function of
        ``cv_results_`` that returns a candidate's number.
    final : "retrain", "ensemble" or "keep"
        Fit the choice on all rows; average the fold predictors; or keep the one trained without the development rows.
    simplest : dict, list or callable, optional
        What "one_se" calls simple: ``{"alpha": "larger"}``, most important first, with a list of values in place of
        "larger" where they are not numbers; the names of families, simplest first; or a function of a candidate's
        parameters, the smaller the simpler. Left out, what is known of scikit-learn's usual learners.
    random_state : int, RandomState or None
        Decides the validation splits and every unset seed of the candidates.
    jobs : int, optional
        Worker processes; None takes every core this process may use.
    options : Options, optional
        Switches of its own fit: ``Options(precision="identical")``, ``Options(race="exact")``, rules, limits of fits
        and memory. ``evaluate(options=…)`` has its own and does not look at these.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, validation=ho.KFold(5)).fit(X, y)
    >>> tuned.best_params_["n_neighbors"] in (1, 5, 15)
    True
    """

    _estimates: Selection | dict[str, Estimate]
    _covers: Covers

    # Roles are ours: every level of splitting obeys them, so routing always hands them over.
    __metadata_request__fit = {"groups": True, "time": True, "strata": True}  # noqa: RUF012

    @with_our_words
    def __init__(
        self,
        estimator: Any,
        space: Any = None,
        *,
        validation: Any = None,
        loss: Any = None,
        choose: Any = "best",
        final: str = "retrain",
        simplest: Any = None,
        random_state: Any = 0,
        jobs: int | None = None,
        options: Options | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.validation = validation
        self.loss = loss
        self.choose = choose
        self.final = final
        self.simplest = simplest
        self.random_state = random_state
        self.jobs = jobs
        self.options = options

    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, time: Any = None, strata: Any = None, **params: Any
    ) -> Self:
        """Choose a candidate on validation rows and make the final predictor.

        Parameters
        ----------
        X, y : array-like
            The training set.
        groups, time, strata : array-like, optional
            Roles of the rows; validation splits obey them. `time` takes a pair (start, end) too; for metadata routing
            give it as an array or frame with two columns, which can be cut to rows.
        **params
            ``sample_weight`` enters fits and mean losses; anything else is passed to the estimator's ``fit``.
        """
        roles = {"groups": groups, "time": time, "strata": strata}
        return fit_tuned(self, X, y, roles=roles, params=routed_fit_params(self, params))

    def as_search(self, *, seed: int, timed: bool = False) -> Search:
        """Convert this learner to a Search. `seed` replaces a random_state of None, `timed` a validation of None."""
        own = self.seed_or(seed)
        families = tuple(
            Family(name=name, estimator=estimator, candidates=build_candidates(space, seed=own))
            for name, estimator, space in self._families()
        )
        if self.final not in ("retrain", "ensemble", "keep"):
            raise OptionError(f'final= is "retrain", "ensemble" or "keep", not {self.final!r}.')
        if not callable(self.choose) and self.choose not in ("best", "one_se"):
            raise OptionError(f'choose= is "best", "one_se" or a function, not {self.choose!r}.')
        classes = is_classifier(self)
        return Search(
            families=families,
            losses=own_losses(classification=classes)
            if self.loss is None
            else resolve_losses(self.loss, classification=classes),
            seed=own,
            validation=default_strategy(timed=timed) if self.validation is None else as_strategy(self.validation),
            choose=self.choose,
            final=self.final,
            simplest=self.simplest,
        )

    def seed_or(self, seed: int) -> int:
        """Return the seed of everything random in this learner; `seed` is used if `random_state` is None."""
        if self.random_state is None:
            return derive(seed, "random_state")
        if isinstance(self.random_state, np.random.RandomState):
            return int(deepcopy(self.random_state).randint(2**31))  # a copy, so that the state does not advance
        if isinstance(self.random_state, bool) or not isinstance(self.random_state, int | np.integer):
            raise OptionError(f"random_state= is a whole number, a RandomState or None, not {self.random_state!r}.")
        return int(self.random_state)

    def _families(self) -> list[tuple[str, Any, Any]]:
        if not isinstance(self.estimator, Mapping):
            return [(type(self.estimator).__name__, self.estimator, self.space)]
        if self.space is not None:
            raise LearnerError("With families, each brings its own space: Tuned({'name': (estimator, space), …}).")
        if not self.estimator:
            raise LearnerError("Tuned needs at least one family: Tuned({'name': (estimator, space), …}).")
        families = []
        for name, value in self.estimator.items():
            estimator, space = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
            if not hasattr(estimator, "fit"):
                raise LearnerError(f"Family {name!r} is an estimator, or a pair (estimator, space), not {value!r}.")
            if not str(name).isprintable():
                raise LearnerError(f"A family's name is shown to people, but {name!r} has control characters in it.")
            families.append((str(name), estimator, space))
        kinds = {is_classifier(estimator) for _, estimator, _ in families}
        if len(kinds) > 1:
            raise LearnerError("Families that compete must all be classifiers or all be regressors.")
        return families

    def _first_estimator(self) -> Any:
        return self._families()[0][1]

    predict = _by_predictor("predict", "predictions")
    predict_proba = _by_predictor("predict_proba", "probabilities")
    predict_log_proba = _by_predictor("predict_log_proba", "log-probabilities")
    decision_function = _by_predictor("decision_function", "decision function")
    transform = _by_predictor("transform", "transform")
    inverse_transform = _by_predictor("inverse_transform", "inverse transform")
    score_samples = _by_predictor("score_samples", "score of each sample")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good the final predictor is on these rows, greater is better: minus the first loss."""
        check_is_fitted(self)
        loss: Loss = self.losses_[0]
        y = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if loss.asks_predictor:
            return -call_scorer(loss, self.best_estimator_, X, y, weight)
        responses = ask_responses(self.best_estimator_, X, needed_methods((loss,)), np.arange(len(y)))
        return -mean_loss(loss, y, responses, weight)

    @property
    def estimates_(self) -> dict[str, Estimate]:
        """What the validation losses say of the risk, by name: the optimistic number, and what corrects it.

        Made when first asked for, since drawing rows for BBC-CV may take longer than a fit.
        """
        check_is_fitted(self)
        if isinstance(self._estimates, Selection):
            self._estimates = tuning_estimates(self._estimates)
        return self._estimates

    @property
    def covers_(self) -> Covers:
        """Which of `estimates_` speaks of the final predictor, and how far."""
        check_is_fitted(self)
        return self._covers

    def model_parts(self) -> ModelParts:
        """Return what :func:`heldout.save_model` writes of a fitted learner."""
        check_is_fitted(self)
        covers = self.covers_
        estimate = self.estimates_.get(covers.estimate)
        return ModelParts(predictor=self.best_estimator_, estimate=estimate, covers=covers.sentence)

    def __getstate__(self) -> Any:
        if self.__sklearn_is_fitted__():
            _ = self.estimates_  # a few numbers, instead of the losses that they are made from
        return super().__getstate__()

    classes_ = _of_predictor("classes_", "The labels, for classifiers.")
    n_features_in_ = _of_predictor("n_features_in_", "How many features the final predictor was trained on.")
    feature_names_in_ = _of_predictor("feature_names_in_", "The names of those features, where they have any.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._first_estimator())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        if inner.regressor_tags is not None:
            # scikit-learn asks for an R² of a regressor that is not tagged so; the score here is minus the loss.
            poor = inner.regressor_tags.poor_score or self.loss != "r2"
            tags.regressor_tags = replace(inner.regressor_tags, poor_score=poor)
        tags.target_tags = inner.target_tags
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata router of this estimator, as scikit-learn's searches do."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for name, (_, estimator, _) in zip(self.routed_names(), self._families(), strict=True):
            router.add(**{name: estimator}, method_mapping=mapping)
        return router

    def routed_names(self) -> list[str]:
        """Return the router's name of each family; the first is "estimator", as in scikit-learn's searches."""
        return [f"estimator_{i}" if i else "estimator" for i in range(len(self._families()))]
