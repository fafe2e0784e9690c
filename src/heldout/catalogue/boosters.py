"""Makes learners of LightGBM, XGBoost and CatBoost, which need not be installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from heldout.base.errors import LearnerError
from heldout.base.registered import registered

# Fits use one thread and print nothing; the path kernel of CatBoost needs an explicit learning rate.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {"n_jobs": 1, "verbose": -1},
    "xgboost": {"n_jobs": 1},
    "catboost": {"learning_rate": 0.1, "thread_count": 1, "verbose": 0, "allow_writing_files": False},
}


def from_library(package: str, name: str) -> Any:
    """Return a learner of a library; raise LearnerError if the library is not installed."""
    if find_spec(package) is None:
        raise LearnerError(
            f"The learner {package!r} needs {package}, which is not installed. Install it (pip install {package}), "
            "or choose boosting, which needs nothing more."
        )
    model = getattr(import_module(package), name)(**_OPTIONS[package])
    return CodedClasses(model) if name == "XGBClassifier" else model  # it accepts only 0, 1, … as classes


@registered
class CodedClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that encodes any classes as 0, 1, … for the classifier inside, and decodes its predictions.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> CodedClasses(DecisionTreeClassifier()).fit([[0], [1]], ["no", "yes"]).predict([[1]]).tolist()
    ['yes']
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier inside on the codes of the classes."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.classifier_ = clone(self.classifier).fit(X, codes, **weight)
        self.n_features_in_ = X.shape[1] if hasattr(X, "shape") else len(X[0])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row."""
        check_is_fitted(self)
        codes = np.asarray(self.classifier_.predict(X)).astype(np.intp)
        classes: NDArray[Any] = self.classes_[codes]
        return classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, of shape (rows, classes)."""
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
