"""Transformers whose size need not be fitted size by size: selectors by score, and principal components."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, SelectPercentile


class Size(Protocol):
    """A parameter of a transformer, all values of which come from a single fit, bit for bit."""

    parameter: str

    def takes(self, transformer: Any) -> bool:
        """Whether this is about transformers of this exact type."""
        ...

    def refusal(self, transformers: Sequence[Any]) -> str | None:
        """Why these unfitted transformers, equal but for the parameter, cannot come from one fit."""
        ...

    def fit(self, transformer: Any, X: Any, y: Any) -> Any:
        """What all sizes are read off, fitted on the training side."""
        ...

    def read(self, fitted: Any, transformer: Any, X: Any) -> tuple[Any, Any]:
        """The transformer as if fitted on X with its own size, and its transformed training side."""
        ...


class _Scores:
    """Scores do not depend on how many columns are kept."""

    def __init__(self, kind: type, parameter: str) -> None:
        self._kind = kind
        self.parameter = parameter

    def takes(self, transformer: Any) -> bool:
        return type(transformer) is self._kind

    def refusal(self, transformers: Sequence[Any]) -> str | None:
        return None

    def fit(self, transformer: Any, X: Any, y: Any) -> Any:
        return transformer.fit(X, y)

    def read(self, fitted: Any, transformer: Any, X: Any) -> tuple[Any, Any]:
        twin = copy.copy(fitted)
        setattr(twin, self.parameter, getattr(transformer, self.parameter))
        return twin, twin.transform(X)


class _Components:
    """The first components of a full decomposition are those of a smaller one; a randomized one has its own."""

    parameter = "n_components"
    _CUT = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")

    def takes(self, transformer: Any) -> bool:
        return type(transformer) is PCA

    def refusal(self, transformers: Sequence[Any]) -> str | None:
        if transformers[0].svd_solver not in ("auto", "full", "covariance_eigh"):
            return (
                f"PCA(svd_solver={transformers[0].svd_solver!r}) decomposes anew for each number of components; "
                'with svd_solver="full" one decomposition serves all'
            )
        sizes = [transformer.n_components for transformer in transformers]
        if not all(isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 1 for size in sizes):
            return "PCA with n_components that is not a whole number"
        return None

    def fit(self, transformer: Any, X: Any, y: Any) -> Any:
        solver = _solver(transformer, X)
        if solver is None:
            raise ValueError("On rows of this shape PCA decomposes anew for each number of components.")
        largest = copy.deepcopy(transformer)
        return largest, largest.fit_transform(X), solver

    def read(self, fitted: Any, transformer: Any, X: Any) -> tuple[Any, Any]:
        largest, train, solver = fitted
        size = int(transformer.n_components)
        if size > largest.n_components_:
            raise ValueError(f"n_components={size} must be between 1 and min(n_samples, n_features).")
        twin = copy.copy(largest)
        twin.n_components = twin.n_components_ = size
        for name in self._CUT:
            setattr(twin, name, getattr(largest, name)[:size].copy(order="K"))
        if solver == "covariance_eigh":
            return twin, twin.transform(X)
        return twin, train.copy(order="K")[:, :size]


def _solver(transformer: Any, X: Any) -> str | None:
    """The solver that PCA takes for every number of components on rows of this shape, or None where it depends."""
    if transformer.svd_solver != "auto":
        return str(transformer.svd_solver)
    if issparse(X):
        return None
    rows, columns = X.shape
    if columns <= 1_000 and rows >= 10 * columns:
        return "covariance_eigh"
    return "full" if max(rows, columns) <= 500 else None


SIZES: tuple[Size, ...] = (_Scores(SelectKBest, "k"), _Scores(SelectPercentile, "percentile"), _Components())


def size_of(transformer: Any) -> Size | None:
    """The size parameter of a transformer, if it has one that can be read off."""
    return next((size for size in SIZES if size.takes(transformer)), None)
