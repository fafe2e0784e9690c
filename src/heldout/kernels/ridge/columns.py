"""Which columns of X reach the linear model, in which order, and which of them are centred and scaled on the way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.preprocessing import StandardScaler

from heldout.base.warnings import catch_warnings
from heldout.task.task import Task


class Unreadable(Exception):
    """The kernel cannot answer this candidate; the message says why, for explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Places of X's columns in the order the model sees them (None: all), and what a scaler does to each."""

    places: tuple[int, ...] | None = None
    centred: bool | tuple[bool, ...] = False
    scaled: bool | tuple[bool, ...] = False

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        """The model's columns of an array whose first axis is X's columns."""
        return values if self.places is None else values[list(self.places)]

    def flags(self, which: str, count: int) -> NDArray[np.bool_]:
        """`centred` or `scaled` for each of the model's columns."""
        return np.broadcast_to(np.asarray(getattr(self, which)), count)

    def any(self, which: str) -> bool:
        return bool(np.any(getattr(self, which)))


def is_column_step(step: Any) -> bool:
    return type(step) is ColumnTransformer


def columns_of(step: Any, task: Task) -> Columns:
    """The columns that a ColumnTransformer of scalers gives; raises Unreadable for anything else inside it."""
    if step.transformer_weights:
        raise Unreadable("transformer_weights of a ColumnTransformer are not understood")
    parts = [(name, part) for name, part, _ in step.transformers] + [("remainder", step.remainder)]
    for _, part in parts:
        if part not in ("drop", "passthrough") and type(part) is not StandardScaler:
            raise Unreadable(f"{type(part).__name__} inside a ColumnTransformer; only StandardScaler may be")
    if any(callable(wanted) and type(wanted) is not make_column_selector for _, _, wanted in step.transformers):
        raise Unreadable("a function picks columns of a ColumnTransformer, and may pick others in each training part")
    probe = _probed(step, task)
    names = list(probe.feature_names_in_) if hasattr(probe, "feature_names_in_") else None
    given = probe.get_feature_names_out()
    places: list[int] = []
    centred: list[bool] = []
    scaled: list[bool] = []
    for name, part in parts:
        where = probe.output_indices_.get(name, slice(0, 0))
        for full in given[where]:
            own = str(full).removeprefix(f"{name}__")
            places.append(names.index(own) if names is not None else int(own.removeprefix("x")))
            centred.append(type(part) is StandardScaler and bool(part.with_mean))
            scaled.append(type(part) is StandardScaler and bool(part.with_std))
    if not places:
        raise Unreadable("the ColumnTransformer drops every column")
    return Columns(places=tuple(places), centred=tuple(centred), scaled=tuple(scaled))


def _probed(step: Any, task: Task) -> Any:
    """The transformer fitted on two rows: which columns it picks does not depend on their values."""
    probe = clone(step).set_params(verbose_feature_names_out=True)
    with catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return probe.fit(task.take(np.arange(min(2, len(task)), dtype=np.intp)))
        except Exception as error:
            raise Unreadable(f"the ColumnTransformer does not fit these columns ({type(error).__name__})") from error
