"""The types that a model file may hold: nothing in a file can add to them. Our own are those that are registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.registered import REGISTERED

# Beside these, skops itself allows scikit-learn's estimators, the ufuncs of numpy and scipy, arrays and plain values.
_SKLEARN = (
    "functools.partial",  # of a function that is allowed itself: boosting checks its columns by one
    "numpy.dtype",
    *(f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("matrix", "array")),
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(
        f"sklearn.gaussian_process.kernels.{name}"
        for name in ("ConstantKernel", "DotProduct", "Matern", "Product", "RBF", "RationalQuadratic", "Sum")
    ),
    "sklearn.gaussian_process.kernels.WhiteKernel",
    *(
        f"sklearn.metrics._dist_metrics.{name}Distance64"
        for name in ("Chebyshev", "Euclidean", "Manhattan", "Minkowski")
    ),
    "sklearn.model_selection._split.KFold",  # the folds of cross-fitting, in an encoder of categories
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)
ALLOWED = frozenset((*(f"heldout.{name}" for name in REGISTERED), *_SKLEARN))

# Their models are read by code of their own, outside Python, that was not made for files from strangers.
PACKAGES: Mapping[str, frozenset[str]] = {
    "catboost": frozenset({"catboost.core.CatBoostClassifier", "catboost.core.CatBoostRegressor"}),
    "lightgbm": frozenset(
        {
            "collections.OrderedDict",
            "lightgbm.basic.Booster",
            "lightgbm.sklearn.LGBMClassifier",
            "lightgbm.sklearn.LGBMRegressor",
        }
    ),
    "xgboost": frozenset({"xgboost.core.Booster", "xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"}),
}


def allowed_types(trust: Iterable[str] = ()) -> frozenset[str]:
    """The types that are allowed beside skops' own, with those of the packages that the user trusts.

    >>> "lightgbm.basic.Booster" in allowed_types(["lightgbm"])
    True
    """
    found = ALLOWED
    for name in trust:
        if name not in PACKAGES:
            raise OptionError(f"{name!r} is no package that can be trusted. {did_you_mean(name, PACKAGES)}")
        found |= PACKAGES[name]
    return found


def packages_of(types: Iterable[str]) -> list[str]:
    """The packages that would have to be trusted for these types; empty where that would not be enough.

    >>> packages_of(["lightgbm.basic.Booster"]), packages_of(["lightgbm.basic.Booster", "os.system"])
    (['lightgbm'], [])
    """
    needed = sorted({name for name, own in PACKAGES.items() for one in types if one in own and one.startswith(name)})
    return needed if set(types) <= allowed_types(needed) else []
