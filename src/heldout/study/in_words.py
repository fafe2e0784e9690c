"""Says in a few words which learner a study asks about, and how it is tested: what people would call them."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from heldout.base.words import clipped, line
from heldout.search.search import Search
from heldout.splits.cells import CellSplits
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER, Study

_LONGEST = 60  # characters of a name that a user gave
_MOST_FAMILIES = 4  # that are named
_NAMES = {  # by the name of the catalogue: the words, and the names of classes without "Classifier" or "Regressor"
    "linear": ("linear regression", "LinearRegression"),
    "ridge": ("ridge", "Ridge RidgeCV RidgeClassifierCV"),
    "lasso": ("lasso", "Lasso LassoCV"),
    "elastic_net": ("elastic net", "ElasticNet ElasticNetCV"),
    "logistic": ("logistic regression", "LogisticRegression LogisticRegressionCV"),
    "lda": ("linear discriminant analysis", "LinearDiscriminantAnalysis"),
    "bayes": ("naive Bayes", "GaussianNB BernoulliNB MultinomialNB ComplementNB CategoricalNB"),
    "knn": ("nearest neighbours", "KNeighbors RadiusNeighbors"),
    "tree": ("decision tree", "DecisionTree"),
    "forest": ("random forest", "RandomForest"),
    "extra_trees": ("extra trees", "ExtraTrees ExtraTree"),
    "boosting": ("gradient boosting", "HistGradientBoosting GradientBoosting"),
    "svm": ("support vector machine", "SVC SVR NuSVC NuSVR"),
    "mlp": ("neural network", "MLP"),
    "lightgbm": ("LightGBM", "LGBM"),
    "xgboost": ("XGBoost", "XGB"),
    "catboost": ("CatBoost", "CatBoost"),
    "dummy": ("dummy learner", "Dummy"),
}
_OF_CLASS = {kind: words for words, kinds in _NAMES.values() for kind in kinds.split()}
_PREPARED = {  # by a part of a class's name: the columns that a step makes
    "Scaler": "scaled columns",
    "Normalizer": "scaled columns",
    "PCA": "principal components",
    "TruncatedSVD": "principal components",
    "Select": "selected columns",
    "RFE": "selected columns",
    "Polynomial": "polynomial terms",
    "Spline": "splines",
    "Tfidf": "words of texts",
    "Count": "words of texts",
}
_INSIDE = ("estimator", "regressor", "classifier")  # arguments by which a learner holds another


def learner_words(search: Search) -> str:
    """Return a learner in words: "tuned logistic regression", "choice between ridge and gradient boosting".

    A learner of the catalogue is called by what it is, the user's own by the name that the user gave, or by its class.
    """
    families = search.families
    if len(families) == 1:
        family = families[0]
        own = family_words(family.name)
        known = family.name in _NAMES or family.name != type(family.estimator).__name__
        return "tuned " * (search.size > 1) + (own if known else estimator_words(family.estimator))
    names = [family_words(family.name) for family in families]
    if len(names) > _MOST_FAMILIES:
        return f"choice among {len(names)} learners"
    between = "between" if len(names) == 2 else "among"
    return f"choice {between} {', '.join(names[:-1])} and {names[-1]}"


def family_words(name: str) -> str:
    """Return what people call a learner of the catalogue; any other name as it is.

    >>> family_words("boosting"), family_words("my best")
    ('gradient boosting', 'my best')
    """
    return _NAMES[name][0] if name in _NAMES else clipped(line(name), _LONGEST)


def estimator_words(estimator: Any) -> str:
    """Return what people call an estimator or a Pipeline; the name of its class if it is not known.

    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> estimator_words(make_pipeline(StandardScaler(), Ridge()))
    'ridge on scaled columns'
    """
    if isinstance(estimator, Pipeline):
        *before, (_, last) = estimator.steps
        steps = [type(step).__name__ for _, step in before if not isinstance(step, str) and step is not None]
        made = [words for step in steps for part, words in _PREPARED.items() if part in step]
        on = f" on {made[-1] if made else 'prepared columns'}" if steps else ""
        return estimator_words(last) + on
    name = type(estimator).__name__
    known = _OF_CLASS.get(name) or _OF_CLASS.get(name.removesuffix("Classifier").removesuffix("Regressor"))
    inner = next((getattr(estimator, part) for part in _INSIDE if hasattr(getattr(estimator, part, None), "fit")), None)
    if known is not None or inner is None:
        return known or clipped(line(name), _LONGEST)
    how = "tuned " * name.endswith("SearchCV") + "calibrated " * name.startswith("Calibrated")
    return how + "bagged " * name.startswith("Bagging") + estimator_words(inner)


def procedure_words(study: Study) -> str:
    """Return how a study tests its learner, as a textbook calls it: "nested 5-fold cross-validation"."""
    outer = study.splits[OUTER]
    nested = study.search.size > 1 and outer.recipe.kind in ("kfold", "loo", "resample")
    return "nested " * nested + splits_words(outer)


def splits_words(splits: Splits) -> str:
    """Return how test rows were held out: "5-fold cross-validation", "one test set of 20 %"."""
    recipe, parts = splits.recipe, splits.parts
    rows = int(splits.cell_sizes.sum()) if isinstance(splits, CellSplits) else len(splits.rows)
    held = 100 * float(splits.held_sizes.mean()) / rows
    share = f"{held:.0f} %" if held >= 1 else f"{splits.held_sizes.mean():,.0f} rows"
    again = f", repeated {recipe.repeats} times" * (recipe.repeats > 1)
    known = {
        "kfold": f"{parts // recipe.repeats}-fold cross-validation{' in blocks of time' * recipe.timed}{again}",
        "loo": f"leave-one-{'group-' * recipe.grouped}{'time-' * recipe.timed}out",
        "holdout": f"one test set of {share}",
        "resample": f"{parts} random splits of {share}",
        "forward": f"tests on {parts} later blocks",
        "given": f"{parts} given folds" if parts > 1 else f"one given test set of {len(splits.held):,} rows",
        "foreign": f"{parts} splits by {clipped(recipe.words.partition('(')[0], _LONGEST)}",
    }
    return known.get(recipe.kind if not recipe.words.startswith("<") else "given", known["foreign"])
