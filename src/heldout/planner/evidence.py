"""Evidence: the predictors of some test parts also answer a fixed set of rows for intervals, and give probabilities.

Law: it changes no cell of a panel and takes no fit; predictors that are fitted anyway make further predictions. It is
left out where a kernel cannot make them, and where predicting would not be far cheaper than the study itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import BaseDecisionTree

from heldout.kernels.claims import chain_of
from heldout.losses import needed_methods
from heldout.search.search import Search
from heldout.study.study import (
    DECISIONS,
    EVERYWHERE,
    OUTER,
    PROBABILITIES,
    TEST,
    Everywhere,
    Panel,
    Study,
    asked_parts,
    with_everywhere,
)
from heldout.task.task import Task

STUDY = 3.5e6  # overhead of any study
BEGIN = 3e5  # overhead of any extra predictions
FIT, FIT_NUMBER = 3e5, 100.0  # a fit of one estimator; and for each value of its training X, for each tree
REGRESSION = 0.3  # factor of FIT_NUMBER for regressors without trees, which take fewer steps
CALL, CALL_MEMBER = 1.1e5, 3e4  # one predict call of an estimator; and for each further member of an ensemble
FRAME = 2e6  # one call of a ColumnTransformer, which slices frames; its fit costs three times as much
ROW_COLUMN, ROW_CLASS, ROW_STEP, ROW_TREE = 0.5, 4.0, 20.0, 30.0  # predicting a row: for each column, class, step, tree
# Kernels that answer from sums: each cell, and cheaper for single rows; each row of a splits; each predict call.
SUMS, SINGLE, SUMS_ROW, SUMS_CALL, SINGLE_CALL = 5e4, 5e3, 300.0, 8e3, 2e5

_KNOWN = ("sklearn", "xgboost", "lightgbm", "catboost", "heldout")  # packages whose learners are known by name
# Learners where predicting a row costs about as much as training on it, or more.
_COSTLY = (
    *("sklearn.neighbors", "sklearn.svm", "sklearn.gaussian_process", "sklearn.kernel_ridge"),
    *("sklearn.semi_supervised", "sklearn.manifold", "sklearn.feature_extraction"),
)
_COSTLY_NAMES = frozenset({"KNNImputer", "IterativeImputer", "KernelPCA", "FunctionTransformer"})
_LINEAR_MACHINES = frozenset({"LinearSVC", "LinearSVR"})
_THRESHOLDS = frozenset({"FixedThresholdClassifier", "TunedThresholdClassifierCV"})
_FROM_SUMS = frozenset(
    {
        *("LinearRegression", "Ridge", "RidgeClassifier", "PLSRegression", "GaussianNB", "BernoulliNB", "ComplementNB"),
        *("MultinomialNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Estimated operations: of a study, and of further predictions of one of its predictors, once and for each row."""

    study: float
    begin: float = BEGIN
    call: float
    row: float
    test_call: float  # one more predict call on test rows


def costly(search: Search) -> str | None:
    """Return why predictors of this learner should not make extra predictions, or None."""
    return next((reason for part in _parts_of(search) if (reason := _about(part)) is not None), None)


def _costly_responses(search: Search) -> str | None:
    """Return why one more response of test rows may cost much; labels need not be the most probable ones here."""
    reasons = (_about(part) for part in _parts_of(search) if type(part).__name__ not in _THRESHOLDS)
    return next((reason for reason in reasons if reason is not None), None)


_UNKNOWN = "nothing is known of what predictions of"


def _about(part: Any) -> str | None:
    name, module = type(part).__name__, type(part).__module__
    if module.partition(".")[0] not in _KNOWN:
        return f"{_UNKNOWN} {name} cost"
    if name in _COSTLY_NAMES or (module.startswith(_COSTLY) and name not in _LINEAR_MACHINES):
        return f"predictions of {name} cost about as much as fits"
    return f"labels of {name} are not the most probable ones" if name in _THRESHOLDS else None


def prices_of(study: Study, task: Task) -> Prices:
    """Return the prices of a study: fits of its cheapest family, predictions of its dearest."""
    prices = [_prices(family.estimator, study, task) for family in study.search.families]
    return Prices(
        study=min(price.study for price in prices),
        call=max(price.call for price in prices),
        row=max(price.row for price in prices),
        test_call=max(price.test_call for price in prices),
    )


def _prices(estimator: Any, study: Study, task: Task) -> Prices:
    chain = [step for _, step in chain_of(estimator)]
    columns, classes = task.n_columns or 1, 1 if task.classes is None else len(task.classes)
    row = _row_price(chain[-1], columns, classes)
    if type(chain[-1]).__name__ in _FROM_SUMS and all(type(step) is StandardScaler for step in chain[:-1]):
        single = int(study.splits[OUTER].held_sizes.max()) == 1
        fits = sum(_cells(panel) * (SINGLE if single and panel.level == TEST else SUMS) for panel in study.panels)
        read = sum(len(splits.rows) for splits in study.splits.values()) * (SUMS_ROW + columns)
        call = SINGLE_CALL * classes**2 if single else SUMS_CALL
        return Prices(study=STUDY + fits + read, call=call, row=row, test_call=0.0)
    estimators = list(_inside(estimator))
    frames = FRAME * sum(isinstance(part, ColumnTransformer) for part in estimators)
    members = _members(chain[-1])
    number = FIT_NUMBER * members * columns
    if type(chain[-1]).__module__.startswith("sklearn.dummy"):
        number = 0.0
    elif task.classes is None and not _is_of_trees(chain[-1]):
        number *= REGRESSION
    fit = FIT * len(estimators) + 3 * frames
    fits = sum(_cells(panel) * (fit + number * _rows(panel, study)) for panel in study.panels)
    call = CALL * len(estimators) + CALL_MEMBER * (members - 1) + frames
    return Prices(study=STUDY + fits, call=call, row=row + ROW_STEP * columns * (len(chain) - 1), test_call=call)


def _row_price(model: Any, columns: int, classes: int) -> float:
    if _is_of_trees(model):
        return ROW_TREE * _members(model)
    module = type(model).__module__
    if module.startswith("sklearn.naive_bayes"):
        return 2 * ROW_CLASS * classes * columns
    return (ROW_CLASS if module.startswith("sklearn.discriminant_analysis") else ROW_COLUMN) * columns


def _is_of_trees(model: Any) -> bool:
    return isinstance(model, BaseDecisionTree) or _members(model) > 1


def _members(model: Any) -> int:
    """Return the number of members of an ensemble, as far as its parameters tell; 1 for any other model."""
    names = ("n_estimators", "iterations", *(("max_iter",) if "Boosting" in type(model).__name__ else ()))
    counts = [getattr(model, name, None) for name in names]
    return max((count for count in counts if isinstance(count, int)), default=1)


def _cells(panel: Panel) -> int:
    return len(panel.parts) * (1 if panel.candidates is None else len(panel.candidates))


def _rows(panel: Panel, study: Study, *, held: bool = False) -> float:
    """Return the mean number of training rows of a part, or of its held-out rows."""
    splits = study.splits[panel.splits]
    sizes = splits.held_sizes if held else splits.train_sizes
    return float(sizes[panel.parts.start : panel.parts.stop].mean())


def _parts_of(search: Search) -> Iterator[Any]:
    """Yield every estimator in a learner, including those among the values of its candidates."""
    for family in search.families:
        yield from _inside(family.estimator)
        params = family.estimator.get_params(deep=True) if family.candidates.names else {}
        names = [name for name in family.candidates.names if _may_hold(params.get(name))]
        for candidate in family.candidates if names else ():
            for value in (candidate.get(name) for name in names):
                if _is_estimator(value):
                    yield from _inside(value)


def _inside(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and those that it is made of. A Pipeline counts as its steps."""
    if not isinstance(estimator, Pipeline):
        yield estimator
        if not any(hasattr(value, "fit") or isinstance(value, list) for value in vars(estimator).values()):
            return  # because get_params is slow
    yield from (
        value
        for value in estimator.get_params(deep=True).values()
        if _is_estimator(value) and not isinstance(value, Pipeline)
    )


def _may_hold(value: Any) -> bool:
    """Return whether a candidate may set an estimator for a parameter that has this value."""
    return value is None or isinstance(value, str) or hasattr(value, "get_params")


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type)


EVIDENCE = "evidence"  # the name that switches it off: Options(rules={"evidence": False})
SHARE = 3  # extra predictions may cost a third of the study; for small studies this overstates their cost
SIZES = ((10, 1_000), (10, 500), (5, 500), (3, 300), (2, 500), (1, 500))  # predictors, rows: dearest first


def with_evidence(study: Study, task: Task, *, rules: Mapping[str, bool], limited: bool) -> Study:
    """Return the study with extra predictions for intervals, as many as are cheap, or the reason why there are none.

    Classifiers are asked for probabilities of their test rows too, or else for decisions, so that reports can show
    familiar scores. This depends on the question alone and is decided before any fit. `limited` means that single fits
    have a time or memory limit, which extra predictions would count towards.
    """
    if not rules.get(EVIDENCE, True):
        reason = "the rule 'evidence' is switched off"
        return replace(study, everywhere=replace(study.everywhere, unrecorded=reason))
    return _with_recorded(_for_intervals(study, task, limited=limited), task, limited=limited)


MOST_RECORDED = 20_000_000  # test rows × classes: 160 MB
FEW_PAIRS = 1e8  # test rows × training rows: about a second of a learner that compares each with each


def _with_recorded(study: Study, task: Task, *, limited: bool) -> Study:
    """Return the study in which classifiers give probabilities, or else decisions, on their test rows."""
    if task.classes is None:
        return study
    outer, asked = study.splits[OUTER], study.everywhere
    estimators = [family.estimator for family in study.search.families]
    wishes = (PROBABILITIES, DECISIONS)
    wish = next((wish for wish in wishes if all(hasattr(one, wish[0]) for one in estimators)), None)
    if wish is None or wish[:1] in needed_methods(study.reported) or asked.tests_too or _covers_tests(study):
        return study  # there are none, or they are recorded already
    reason = "fits have limits of time or memory" if limited else None
    if len(outer.held) * len(task.classes) > MOST_RECORDED:
        reason = f"there are {len(task.classes):,} classes for each of {len(outer.held):,} rows"
    dear = None if reason else _costly_responses(study.search)
    if dear is not None:
        predicted = sum(_cells(panel) * _rows(panel, study, held=True) for panel in study.panels)
        few = not dear.startswith(_UNKNOWN) and len(outer.held) * float(outer.train_sizes.mean()) <= FEW_PAIRS
        reason = None if few or SHARE * len(outer.held) <= predicted else dear
    words = "" if reason is None else reason
    return replace(study, everywhere=replace(asked, recorded=wish if reason is None else (), unrecorded=words))


def _covers_tests(study: Study) -> bool:
    """Return whether all predictors give probabilities on all rows for the intervals already."""
    asked, outer = study.everywhere, study.splits[OUTER]
    if not (asked.probabilities and len(asked.parts) == outer.parts):
        return False
    return len(study.splits[EVERYWHERE].rows) == len(outer.rows)


def _for_intervals(study: Study, task: Task, *, limited: bool) -> Study:
    if study.splits[OUTER].parts < 2:
        return study
    reason = "fits have limits of time or memory" if limited else costly(study.search)
    if reason is None:
        prices, wanted = prices_of(study, task), _wants_probabilities(study, task)
        # Every interval rule uses probabilities of the test rows, so sizes that afford these too are tried first.
        for tests_too in (wanted, False):
            for parts, rows in SIZES:
                asked = Everywhere(probabilities=wanted, tests_too=tests_too)
                asked_study = _asked(study, task, (parts, rows), prices, asked)
                if asked_study is not None:
                    return asked_study
            if tests_too and prices.begin + _price_of_tests(study, prices) <= prices.study / SHARE:
                words = "interval: predictors are asked for probabilities too, at no further fits"
                return replace(study, everywhere=Everywhere(probabilities=True, tests_too=True, words=words))
        reason = "further predictions would cost too much beside the study itself"
    return replace(study, everywhere=Everywhere(words=f"interval: by losses of held-out rows alone, since {reason}"))


def _asked(study: Study, task: Task, size: tuple[int, int], prices: Prices, everywhere: Everywhere) -> Study | None:
    """Return the study with `size` (predictors, rows) of extra predictions, or None if they cost too much."""
    outer, asked = study.splits[OUTER], asked_parts(study, size[0])
    rows = min(size[1], len(outer.rows))
    if rows == len(outer.rows) and len(asked) == outer.parts:  # the extra predictions cover all test rows already
        everywhere = replace(everywhere, tests_too=False)
    price = prices.begin + len(asked) * (prices.call + rows * prices.row)
    if price + everywhere.tests_too * _price_of_tests(study, prices) > prices.study / SHARE:
        return None
    words = f"interval: the predictors of {len(asked)} test parts also answer {rows:,} rows, at no further fits"
    return with_everywhere(study, task, replace(everywhere, parts=asked, words=words), rows=rows)


def _price_of_tests(study: Study, prices: Prices) -> float:
    outer = study.splits[OUTER]
    return outer.parts * prices.test_call + len(outer.held) * prices.row


def _wants_probabilities(study: Study, task: Task) -> bool:
    """Return whether y has two classes, losses need only labels, and every estimator has predict_proba."""
    two = task.classes is not None and len(task.classes) == 2
    able = all(hasattr(family.estimator, "predict_proba") for family in study.search.families)
    return two and able and set(needed_methods(study.reported)) <= {("predict",)}
