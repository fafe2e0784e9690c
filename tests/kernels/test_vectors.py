"""The kernel `vectors` against scikit-learn's own fits, and what it refuses."""

from __future__ import annotations

from time import sleep
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR

import heldout as ho
from heldout.base.errors import FitFailed
from heldout.kernels.driver.prepared import take_apart
from heldout.kernels.sums.rounding import Refuse
from heldout.kernels.vectors import kernel, solve
from heldout.kernels.vectors.kernel_values import TrainingRows, is_sure, resolve_gamma, squares_of
from heldout.kernels.vectors.machines import Machine, Shape, read_machine
from heldout.kernels.vectors.solve import Targets, responses_of, solve_all, values_of

SCALED = make_pipeline(StandardScaler(), SVC())
CS = [0.1, 1.0, 10.0, 1000.0]


def numbers(n: int = 60, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 2 + 1
    return X, X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=n) / 3


def classes(kinds: int = 2, n: int = 60, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    X, score = numbers(n, p, seed)
    return X, np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))


def both(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Any, Any]:
    """The study with the rule on and off."""
    question = {"test": ho.KFold(3), "jobs": 1, "progress": False} | more
    sides = [ho.Options(rules={"vectors": switch}) for switch in (True, False)]
    on, off = (ho.evaluate(learner, X, y, options=side, **question) for side in sides)
    assert all(check["passed"] for check in on.summary()["plan"]["checks"])
    return on, off


def machine_of(estimator: Any, candidate: int = 0) -> Machine:
    return read_machine(take_apart(candidate, estimator))


def vectors_pass(result: Any) -> Any:
    return next(one for one in result.plan.passes if one.name == "vectors")


def check_same(learner: Any, X: Any, y: Any, **more: Any) -> None:
    on, off = both(learner, X, y, **more)
    assert vectors_pass(on).used
    ours, theirs = (np.asarray(side.predictions["predict"]) for side in (on, off))
    assert ours.dtype == theirs.dtype
    if ours.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
    else:
        assert np.array_equal(ours, theirs)
    assert on.risk.value == pytest.approx(off.risk.value, rel=1e-9)


def refusals(learner: Any, X: Any, y: Any, **more: Any) -> str:
    plan = ho.explain(learner, X, y, **{"test": ho.KFold(3)} | more)
    (found,) = [one for one in plan.passes if one.name == "vectors"]
    return " ".join(found.refusals)


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (SVC(), {"C": CS, "gamma": [0.1, "scale", "auto"]}),
        (SVC(kernel="poly", coef0=1.0), {"C": [0.1, 1.0], "degree": [1, 2]}),
        (NuSVC(), {"nu": [0.2, 0.5]}),
        (SCALED, {"svc__C": CS, "svc__gamma": [0.1, "scale"]}),
        (make_pipeline(StandardScaler(), PCA(2, random_state=0), SVC()), {"svc__C": CS, "pca__n_components": [1, 2]}),
    ],
)
def test_classifiers_say_what_brute_force_says(estimator: Any, space: Any) -> None:
    check_same(ho.Tuned(estimator, space, validation=ho.KFold(3)), *classes())


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (SVR(), {"C": CS, "epsilon": [0.0, 0.1]}),
        (SVR(kernel="linear"), {"C": [0.1, 1.0]}),
        (NuSVR(), {"nu": [0.3, 0.7], "C": [1.0, 10.0]}),
        (make_pipeline(StandardScaler(), SVR(kernel="sigmoid", gamma=0.05)), {"svr__C": [0.1, 1.0]}),
    ],
)
def test_regressors_say_what_brute_force_says(estimator: Any, space: Any) -> None:
    check_same(ho.Tuned(estimator, space, validation=ho.KFold(3)), *numbers())


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("kinds", [2, 3, 4])
def test_responses_are_those_of_the_fitted_machine(shape: str, ties: bool, kinds: int) -> None:
    if ties and shape == "ovo":
        return  # scikit-learn refuses it
    X, y = classes(kinds, n=90)
    y = np.array(["d", "a", "c", "b"])[y]
    model = SVC(decision_function_shape=shape, break_ties=ties, gamma=0.3, C=3.0).fit(X[:60], y[:60])
    machine = machine_of(SVC(**model.get_params()))
    grams = TrainingRows(X[:60], [X[60:]]).grams(machine.shape)
    solved = solve_all([machine], grams.train, Targets(y=y[:60], weight=None))[0]
    assert solved is not None
    values = values_of(solved, grams.held[0])
    assert values is not None
    said = responses_of(machine, solved, values, frozenset({"decision_function"}))
    assert np.array_equal(said.predict, model.predict(X[60:]))
    theirs = model.decision_function(X[60:])
    assert said.decision_function.shape == theirs.shape
    np.testing.assert_allclose(said.decision_function, theirs, rtol=0, atol=1e-12)


def test_ranks_need_decisions() -> None:
    on, off = both(ho.Tuned(SCALED, {"svc__C": CS}, loss=["roc_auc", "accuracy"]), *classes(n=80))
    assert vectors_pass(on).used
    np.testing.assert_allclose(on.folds["roc_auc"], off.folds["roc_auc"], rtol=1e-12)


def test_weights_of_rows_and_classes() -> None:
    X, y = classes(n=80)
    weight = np.random.default_rng(0).uniform(0.2, 4, len(y))
    check_same(ho.Tuned(SVC(class_weight="balanced"), {"C": CS}), X, y, sample_weight=weight)
    check_same(ho.Tuned(SVC(class_weight={1: 9.0}), {"C": CS}), X, y)


def test_jobs_change_no_bit() -> None:
    X, y = numbers(80)
    learner = ho.Tuned(make_pipeline(StandardScaler(), SVR()), {"svr__C": CS, "svr__gamma": [0.1, "scale"]})
    plain = ho.Tuned(SVR(), {"C": CS, "gamma": [0.1, "scale"]})
    for one in (learner, plain):
        sides = [ho.evaluate(one, X, y, test=ho.KFold(3), jobs=jobs, progress=False) for jobs in (1, 2)]
        assert np.array_equal(*(side.predictions["predict"] for side in sides))
        assert sides[0].candidates.equals(sides[1].candidates)


def test_global_random_state_is_left_alone() -> None:
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    ho.evaluate(SVC(), *classes(), test=ho.KFold(3), jobs=1, progress=False)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_duals_below_their_bound_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(n=80)
    bounds = []
    plain = solve.solve
    monkeypatch.setattr(solve, "solve", lambda machine, *rest: (bounds.append(machine.bound), plain(machine, *rest))[1])
    machines = [machine_of(SVC(C=C, gamma=5.0), i) for i, C in enumerate((1e4, 0.1, 1e2, 1e3))]
    gram = TrainingRows(X, []).grams(machines[0].shape).train
    found = solve_all(machines, gram, Targets(y=y, weight=None))
    assert bounds == [0.1, 1e2]
    assert found[0] is found[2] is found[3]
    for machine in machines:
        own = SVC(C=machine.bound, gamma=5.0).fit(X, y)
        solved = found[machine.number]
        assert solved is not None
        np.testing.assert_allclose(solved.duals[own.support_, 0], own.dual_coef_[0], rtol=1e-9)


@pytest.mark.parametrize("of", ["rows", "classes"])
def test_duals_at_a_bound_that_weights_lower_are_solved_again(of: str) -> None:
    X, y = classes(n=80)
    weight = np.full(80, 0.01) if of == "rows" else None
    kind = {"gamma": 5.0, "class_weight": None if of == "rows" else {0: 0.01, 1: 0.01}}
    machines = [machine_of(SVC(C=C, **kind), i) for i, C in enumerate((1.0, 30.0, 1e3, 1e5))]
    gram = TrainingRows(X, []).grams(machines[0].shape).train
    found = solve_all(machines, gram, Targets(y=y, weight=weight))
    assert found[2] is found[3]
    for machine in machines:
        own = SVC(C=machine.bound, **kind).fit(X, y, sample_weight=weight)
        solved = found[machine.number]
        assert solved is not None
        np.testing.assert_allclose(solved.duals[own.support_, 0], own.dual_coef_[0], rtol=1e-9)


def test_duals_are_those_of_scikit_learn() -> None:
    for seed in range(5):
        X, y = classes(seed=seed, n=120)
        for C in CS:
            machine = machine_of(SVC(C=C, gamma=0.3))
            gram = TrainingRows(X, []).grams(machine.shape).train
            solved = solve_all([machine], gram, Targets(y=y, weight=None))[0]
            own = SVC(C=C, gamma=0.3).fit(X, y)
            assert solved is not None
            assert np.array_equal(np.flatnonzero(solved.duals), np.sort(own.support_))
            np.testing.assert_allclose(solved.duals[own.support_, 0], own.dual_coef_[0], rtol=1e-9)


def test_kernel_values_are_scikit_learns() -> None:
    X, _ = numbers(40)
    train, held = X[5:], X[:5]
    for shape in (
        Shape(kernel="rbf", gamma="scale"),
        Shape(kernel="rbf", gamma=0.2),
        Shape(kernel="linear"),
        Shape(kernel="poly", gamma="auto", degree=3, coef0=1.0),
        Shape(kernel="sigmoid", gamma=0.01, coef0=0.0),
    ):
        grams = TrainingRows(train, [held]).grams(shape)
        given = {"gamma": resolve_gamma(shape, train), "degree": shape.degree, "coef0": shape.coef0}
        for gram, rows in ((grams.train, train), (grams.held[0], held)):
            theirs = pairwise_kernels(rows, train, metric=shape.kernel, filter_params=True, **given)
            np.testing.assert_allclose(gram, theirs, rtol=1e-12)


def test_rows_far_from_zero_are_left_to_scikit_learn() -> None:
    X, y = classes(n=60)
    far = X + 1e6
    assert not is_sure(Shape(kernel="rbf", gamma=0.1), 0.1, far, squares_of(far))
    assert not is_sure(Shape(kernel="linear"), 0.0, far, squares_of(far))
    assert is_sure(Shape(kernel="rbf", gamma=0.1), 0.1, X, squares_of(X))
    check_same(ho.Tuned(SVC(), {"C": [0.1, 1.0]}), far, y)
    check_same(ho.Tuned(SCALED, {"svc__C": CS}), far, y)


def test_what_fails_by_brute_force_fails() -> None:
    X, y = classes(n=60)
    y = (np.arange(60) < 8).astype(int)  # nu = 0.9 has no solution with so few of one class
    on, off = both(ho.Tuned(NuSVC(), {"nu": [0.1, 0.9]}, validation=ho.KFold(3)), X, y)
    assert vectors_pass(on).used
    assert on.candidates.equals(off.candidates)
    assert np.array_equal(on.predictions["predict"], off.predictions["predict"])


def test_small_budgets_leave_trainings_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MATRICES", 1 << 24)
    monkeypatch.setattr(kernel, "solve_all", None)  # it is not reached
    check_same(ho.Tuned(SCALED, {"svc__C": CS}), *classes())


def test_sparse_rows_of_a_preparation_are_left_to_scikit_learn() -> None:
    thin = make_pipeline(FunctionTransformer(sparse.csr_array), SVC())
    check_same(thin, *classes())


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (SVC(kernel="precomputed"), "only linear, poly, rbf, sigmoid are shared"),
        (SVC(kernel=lambda a, b: a @ b.T), "a function of your own"),
        (SVC(max_iter=100), "max_iter=100"),
        (SVC(probability=True), "probability=True"),
        (SVC(verbose=True), "prints"),
        (SVC(break_ties=True, decision_function_shape="ovo"), "break_ties=True"),
        (SVC(C=-1.0), "C=-1.0"),
        (SVC(gamma=-1.0), "gamma=-1.0"),
        (SVC(kernel="poly", degree=1.5), "degree=1.5"),
        (SVC(kernel="sigmoid", coef0="x"), "coef0='x'"),
        (Pipeline([("s", StandardScaler()), ("m", SVC())], memory="/nowhere"), "memory"),
    ],
)
def test_refused_candidates(estimator: Any, words: str) -> None:
    with pytest.raises(Refuse, match=words.replace("(", r"\(")):
        machine_of(estimator)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (LinearSVC(), "LinearSVC is not SVC, SVR, NuSVC or NuSVR"),
        (CalibratedClassifierCV(SVC()), "CalibratedClassifierCV is not"),
        (Pipeline([("s", make_pipeline(StandardScaler(), SVC()))]), "Pipeline is not"),
    ],
)
def test_refused_learners(estimator: Any, words: str) -> None:
    assert words in refusals(estimator, *classes())


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_as_many_steps_are_made_on_a_shared_matrix_as_on_rows(kinds: int, C: float) -> None:
    X, y = classes(kinds, n=120)
    gram = TrainingRows(X, []).grams(Shape(kernel="rbf", gamma=0.3)).train
    on_rows, on_matrix = SVC(C=C, gamma=0.3).fit(X, y), SVC(C=C, kernel="precomputed").fit(gram, y)
    assert np.array_equal(on_rows.n_iter_, on_matrix.n_iter_)


def test_refused_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes()
    assert "sparse" in refusals(SVC(), sparse.csr_array(X), y)
    assert "weight 0" in refusals(SVC(), X, y, sample_weight=np.arange(60) % 2.0)
    assert "which these learners lack" in refusals(ho.Tuned(SVC(), {"C": CS}, loss="log"), X, y)
    assert "a class is absent" in refusals(
        SVC(), X, np.r_[7, 7, y[2:]], test=ho.KFold(3, stratify=False, shuffle=False)
    )
    monkeypatch.setattr(kernel, "MOST_ROWS", 30)
    assert "too large" in refusals(SVC(), X, y)


def test_explain_shows_rule_and_tier() -> None:
    plan = ho.explain(ho.Tuned(SCALED, {"svc__C": CS}), *classes(), test=ho.KFold(3))
    assert {(line.rule, line.tier) for line in plan.lines} == {("vectors", "rounding")}


@pytest.mark.parametrize("limit", [{"fit_timeout": 60.0}, {"fit_memory": "2GB"}])
def test_where_single_fits_have_a_limit_they_are_made_one_by_one(limit):
    options = ho.Options(**limit)
    learner = ho.Tuned(SVC(), {"C": [0.1, 1.0]}, validation=ho.KFold(3))
    plan = ho.explain(learner, *make_classification(60, random_state=0), test=ho.KFold(3), options=options)
    record = next(one for one in plan.passes if one.name == "vectors")
    assert not record.used
    assert record.refusals == ("fit_timeout and fit_memory end single fits, and it makes many together",)


def test_a_fit_that_never_ends_is_ended_at_its_limit():
    class Sleeping(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            sleep(1000)

    learner = ho.Tuned(make_pipeline(Sleeping(), SVC()), {"svc__C": [1.0, 10.0]}, validation=2)
    options = ho.Options(fit_timeout=0.5)
    with pytest.raises(FitFailed, match="FitTimeout"):
        ho.evaluate(learner, *make_classification(40, random_state=0), test=ho.Holdout(0.3), jobs=2, options=options)
