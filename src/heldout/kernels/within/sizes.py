"""Transformers for which one fit gives every output size: univariate feature selectors and PCA."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, SelectPercentile


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Declares a parameter of a transformer for which one fit gives all values, bit for bit."""

    kind: type  # exactly this one
    parameter: str
    refusal: Callable[[Sequence[Any]], str | None]  # why unfitted ones, equal but for it, cannot come from one fit
    fit: Callable[[Any, Any, Any], Any]  # a transformer, X, y -> what all sizes are read off
    # What was fitted, an unfitted transformer, X -> that one as if fitted on X, and its transformed training side.
    read: Callable[[Any, Any, Any], tuple[Any, Any]]


def _selector(kind: type, parameter: str) -> Size:
    """Declare the size of a feature selector, whose scores do not depend on how many columns are kept."""

    def read(fitted: Any, transformer: Any, X: Any) -> tuple[Any, Any]:
        twin = copy.copy(fitted)
        setattr(twin, parameter, getattr(transformer, parameter))
        return twin, twin.transform(X)

    return Size(
        kind=kind,
        parameter=parameter,
        refusal=lambda transformers: None,
        fit=lambda transformer, X, y: transformer.fit(X, y),
        read=read,
    )


def _refuse_components(transformers: Sequence[Any]) -> str | None:
    """Return why one PCA cannot serve all these, or None; a randomized solver depends on the number kept."""
    solver = transformers[0].svd_solver
    if solver not in ("auto", "full", "covariance_eigh"):
        return (
            f"PCA(svd_solver={solver!r}) decomposes anew for each number of components; "
            'with svd_solver="full" one decomposition serves all'
        )
    sizes = [transformer.n_components for transformer in transformers]
    if not all(isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 1 for size in sizes):
        return "PCA with n_components that is not a whole number"
    return None


def _fit_components(transformer: Any, X: Any, y: Any) -> Any:
    solver = _solver(transformer, X)
    if solver is None:
        raise ValueError("On rows of this shape PCA decomposes anew for each number of components.")
    largest = copy.deepcopy(transformer)
    return largest, largest.fit_transform(X), solver


def _read_components(fitted: Any, transformer: Any, X: Any) -> tuple[Any, Any]:
    largest, train, solver = fitted
    size = int(transformer.n_components)
    if size > largest.n_components_:
        raise ValueError(f"n_components={size} must be between 1 and min(n_samples, n_features).")
    twin = copy.copy(largest)
    twin.n_components = twin.n_components_ = size
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(twin, name, getattr(largest, name)[:size].copy(order="K"))
    if solver == "covariance_eigh":
        return twin, twin.transform(X)
    return twin, train.copy(order="K")[:, :size]


def _solver(transformer: Any, X: Any) -> str | None:
    """Return the solver that PCA uses on rows of this shape, or None if it depends on n_components."""
    if transformer.svd_solver != "auto":
        return str(transformer.svd_solver)
    if issparse(X):
        return None
    rows, columns = X.shape
    if columns <= 1_000 and rows >= 10 * columns:
        return "covariance_eigh"
    return "full" if max(rows, columns) <= 500 else None


COMPONENTS = Size(
    kind=PCA, parameter="n_components", refusal=_refuse_components, fit=_fit_components, read=_read_components
)
SIZES = (_selector(SelectKBest, "k"), _selector(SelectPercentile, "percentile"), COMPONENTS)


def size_of(transformer: Any) -> Size | None:
    """Return the declaration of a transformer's size, or None if one fit does not give every size."""
    return next((size for size in SIZES if type(transformer) is size.kind), None)
