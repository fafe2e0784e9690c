"""What a notebook shows of a tuned learner: scikit-learn's diagram, and below it what fitting chose."""

from __future__ import annotations

from typing import Any, Self

from heldout.base.plain import plain
from heldout.losses import Loss
from heldout.report.show import as_html
from heldout.results.selection import Selection
from heldout.risk.verdict import label_of

_WAITING = "_estimates"


class ShownTuned:
    """Hooks of scikit-learn's display. None of them makes the estimates that wait to be asked for."""

    def _html_repr(self) -> str:
        # Both of scikit-learn's ways to a notebook call this, and only where its `display` is "diagram".
        diagram: str = super()._html_repr()  # type: ignore[misc]
        return diagram + as_html("tuned", _facts(self)) if hasattr(self, "best_params_") else diagram

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        # scikit-learn reads every attribute for its table, properties too.
        return super(ShownTuned, self._without_waiting())._get_fitted_attr_html(doc_link)  # type: ignore[misc]

    def __dir__(self) -> list[str]:
        # scikit-learn reads every attribute to see whether it is there.
        names = list(super(ShownTuned, self._without_waiting()).__dir__())
        return sorted({*names, "estimates_"}) if _WAITING in vars(self) else names

    def _without_waiting(self) -> Self:
        """The same learner but for estimates that are not made yet."""
        twin = object.__new__(type(self))
        vars(twin).update({name: value for name, value in vars(self).items() if not isinstance(value, Selection)})
        return twin


def _facts(tuned: Any) -> dict[str, Any]:
    """What a fitted learner tells without computing anything, as plain values."""
    loss: Loss = tuned.losses_[0]
    made = getattr(tuned, _WAITING)
    estimates = {} if isinstance(made, Selection) else made
    candidates = len(tuned.cv_results_["params"])
    return {
        "family": tuned.best_family_,
        "params": plain(tuned.best_params_),
        "candidates": candidates,
        "parts": tuned.n_splits_,
        "loss": loss.name,
        "value": plain(-loss.sign * tuned.best_score_ + 0.0),
        "optimistic": candidates > 1,
        "estimates": {name: plain(one.as_dict()) for name, one in estimates.items()},
        "labels": {name: label_of(one) for name, one in estimates.items()},
        "covers": tuned.covers_.sentence,
        "failed": len(tuned.failures_),
    }
