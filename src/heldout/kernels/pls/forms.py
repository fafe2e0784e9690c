"""The form of a candidate: all of a PLSRegression but its number of components. One run answers a whole form."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import chain_of
from heldout.kernels.ridge.columns import Columns, Unreadable, columns_of, is_column_step
from heldout.kernels.ridge.forms import Form as Linear
from heldout.task.task import Task

NO_MODEL = "{} is not PLSRegression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Partial least squares on these columns. Equal forms differ in nothing but the number of components."""

    columns: Columns
    scale: bool  # PLSRegression's own scaling, after that of a StandardScaler in front

    @property
    def linear(self) -> Linear:
        """A linear model with an intercept on the same columns: it has the same sums and the same responses."""
        return Linear(model="ols", intercept=True, columns=self.columns)


def read_form(estimator: Any, task: Task) -> tuple[Form, int]:
    """The form and the number of components; raises Unreadable with the reason when the kernel cannot answer it."""
    chain = chain_of(estimator)
    model, before = chain[-1][1], [step for _, step in chain[:-1]]
    if type(model) is not PLSRegression:
        raise Unreadable(NO_MODEL.format(type(model).__name__))
    if len(before) > 1:
        raise Unreadable("more than one step stands before PLSRegression")
    _check_options(model)
    columns = _columns(before[0], task) if before else Columns()
    return Form(columns=columns, scale=bool(model.scale)), int(model.n_components)


def _check_options(model: Any) -> None:
    if not _is_whole(model.n_components):
        raise Unreadable(f"n_components={model.n_components!r} is no whole number from 1")
    for name in ("scale", "copy"):
        if type(getattr(model, name)) not in (bool, np.bool_):
            raise Unreadable(f"{name}={getattr(model, name)!r} is neither True nor False")
    if not model.copy:
        raise Unreadable("copy=False writes into the training rows")
    tolerance = isinstance(model.tol, Real) and not isinstance(model.tol, bool) and float(model.tol) >= 0
    if not _is_whole(model.max_iter) or not tolerance:
        raise Unreadable("scikit-learn refuses this max_iter or tol")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= 1


def _columns(step: Any, task: Task) -> Columns:
    if type(step) is StandardScaler:
        return Columns(centred=bool(step.with_mean), scaled=bool(step.with_std))
    if is_column_step(step):
        return columns_of(step, task)
    raise Unreadable(f"{type(step).__name__} stands before PLSRegression; only StandardScaler, alone or in a "
                     "ColumnTransformer, may")  # fmt: skip
