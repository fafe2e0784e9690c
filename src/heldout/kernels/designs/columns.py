"""Which columns of X reach the model, in which order, and which of them a scaler centres and divides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.preprocessing import StandardScaler

from heldout.base.warnings import catch_warnings
from heldout.kernels.sums.rounding import Bools, Refuse
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Holds the positions of X's columns as the model sees them (None: all), and which a scaler centres and divides."""

    places: tuple[int, ...] | None = None
    centred: bool | tuple[bool, ...] = False
    scaled: bool | tuple[bool, ...] = False

    def flags(self, which: str, count: int) -> Bools:
        """Return `centred` or `scaled` for each of the model's columns."""
        return np.broadcast_to(np.asarray(getattr(self, which)), count)

    @property
    def prepared(self) -> bool:
        """Whether a scaler changes any column."""
        return bool(np.any(self.centred) or np.any(self.scaled))


def read_columns(before: Sequence[Any], task: Task, model: str) -> Columns:
    """Return the columns that the steps before a model give it. Raise Refuse for steps other than scalers."""
    if not before:
        return Columns()
    if len(before) > 1:
        raise Refuse(f"more than one step stands before {model}")
    (step,) = before
    if type(step) not in STEPS:
        raise Refuse(f"{type(step).__name__} stands before {model}; only StandardScaler, alone or in a "
                     "ColumnTransformer, may")  # fmt: skip
    return STEPS[type(step)](step, task)


def _of_scaler(step: Any, task: Task) -> Columns:
    return Columns(centred=bool(step.with_mean), scaled=bool(step.with_std))


def _of_transformer(step: Any, task: Task) -> Columns:
    """Return the columns that a ColumnTransformer of scalers gives."""
    if step.transformer_weights:
        raise Refuse("transformer_weights of a ColumnTransformer are not understood")
    parts = [(name, part) for name, part, _ in step.transformers] + [("remainder", step.remainder)]
    for _, part in parts:
        if part not in ("drop", "passthrough") and type(part) is not StandardScaler:
            raise Refuse(f"{type(part).__name__} inside a ColumnTransformer; only StandardScaler may be")
    if any(callable(wanted) and type(wanted) is not make_column_selector for _, _, wanted in step.transformers):
        raise Refuse("a function picks columns of a ColumnTransformer, and may pick others in each training part")
    probe = _probed(step, task)
    names = list(probe.feature_names_in_) if hasattr(probe, "feature_names_in_") else None
    names_out = probe.get_feature_names_out()
    places: list[int] = []
    centred: list[bool] = []
    scaled: list[bool] = []
    for name, part in parts:
        for full in names_out[probe.output_indices_.get(name, slice(0, 0))]:
            column = str(full).removeprefix(f"{name}__")
            places.append(names.index(column) if names is not None else int(column.removeprefix("x")))
            centred.append(type(part) is StandardScaler and bool(part.with_mean))
            scaled.append(type(part) is StandardScaler and bool(part.with_std))
    if not places:
        raise Refuse("the ColumnTransformer drops every column")
    return Columns(places=tuple(places), centred=tuple(centred), scaled=tuple(scaled))


def _probed(step: Any, task: Task) -> Any:
    """Return the transformer fitted on two rows, since the columns that it picks do not depend on values."""
    probe = clone(step).set_params(verbose_feature_names_out=True)
    with catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return probe.fit(task.take(np.arange(min(2, len(task)), dtype=np.intp)))
        except Exception as error:
            raise Refuse(f"the ColumnTransformer does not fit these columns ({type(error).__name__})") from error


# The steps that may stand before a model, each with what it gives the model of X's columns.
STEPS: dict[type, Callable[[Any, Task], Columns]] = {StandardScaler: _of_scaler, ColumnTransformer: _of_transformer}
