"""The kernel `discriminants` against brute force, and what it refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

import kernel_steps
import numpy as np
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.base.responses import Responses
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.discriminants.kernel import KERNEL
from heldout.kernels.step import Step, Work
from heldout.study.answers import PanelTable

SHARES = [0.0, 0.05, 0.4, 1.0]
WITHIN = 1e-9  # the tier
TINY = float(np.finfo(float).tiny)
LINEAR, QUADRATIC = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
KINDS = {
    "svd": (LINEAR(), {"tol": [1e-4]}),
    "lsqr": (LINEAR(solver="lsqr"), {"shrinkage": SHARES}),
    "eigen": (LINEAR(solver="eigen"), {"shrinkage": SHARES}),
    "quadratic svd": (QUADRATIC(), {"reg_param": SHARES}),
    "quadratic eigen": (QUADRATIC(solver="eigen"), {"shrinkage": SHARES}),
}


def data(n: int = 70, p: int = 4, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % kinds)
    mixed = np.eye(p) + 0.2 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mixed + 0.8 * rng.normal(size=(kinds, p))[y] + 2, y


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, or the test panel, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="discriminants", most_panels=1, **more)


def table_of(answers: Any, step: Step, work: Work) -> PanelTable:
    held = step.trainings[0].answers[0]
    sizes = work.splits[held.splits].held_sizes
    losses = len(work.losses[held.level])
    table = PanelTable.empty(range(len(step.candidates)), range(len(step.trainings)), losses, sizes=sizes)
    for one in answers:
        table.put(one)
    assert table.complete
    return table


class Compared(NamedTuple):
    """The kernel's answers beside those of brute force."""

    apart: float  # of responses, by the largest of a cell; infinite where a label, a class or a failure is another
    left: int  # cells that the kernel left to fits


def compared(learner: Any, X: Any, y: Any, **more: Any) -> Compared:
    step, work = posed(learner, X, y, **more)
    fits = []
    with pytest.MonkeyPatch.context() as patch:

        def counted(own: Step, given: Work) -> Any:
            fits.append(len(own.candidates) * len(own.trainings))
            return answer_by_brute_force(own, given)

        patch.setattr("heldout.kernels.driver.driver.answer_by_brute_force", counted)
        ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    cells = [(candidate, part) for candidate in step.candidates for part in range(len(step.trainings))]
    apart = [difference(ours.responses(*cell), theirs.responses(*cell)) for cell in cells]
    if not np.array_equal(np.isnan(ours.losses), np.isnan(theirs.losses)):
        apart.append(np.inf)
    return Compared(apart=float(np.max(apart)), left=sum(fits))


def difference(one: Responses | None, other: Responses | None) -> float:
    """Of one cell."""
    if one is None or other is None:
        return 0.0 if one is other else np.inf
    if not (np.array_equal(one.predict, other.predict) and np.array_equal(one.classes, other.classes)):
        return np.inf
    worst = 0.0
    for method in ("predict_proba", "decision_function"):
        a, b = getattr(one, method), getattr(other, method)
        if a is None or b is None:
            worst = worst if a is b else np.inf
        else:
            assert a.shape == b.shape
            worst = np.maximum(worst, np.abs(a - b).max() / (np.abs(b).max() or TINY))
    return float(worst)


def by_decision(y: Any, decision: Any) -> float:
    return float(np.abs(decision).mean())


DECISION = make_scorer(by_decision, response_method="decision_function", greater_is_better=False)


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("validation", [ho.KFold(3), ho.LeaveOneOut()])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_every_response_is_that_of_a_fit(kind: str, kinds: int, validation: Any, priors: Any) -> None:
    model, space = KINDS[kind]
    model = model.__class__(
        solver=model.solver, priors=None if priors is None else np.divide(priors[:kinds], sum(priors[:kinds]))
    )
    for loss in ("log", DECISION):  # the second asks for decision values
        # Rows near a border, and classes with hardly more rows than columns.
        few = 12 if isinstance(validation, ho.LeaveOneOut) or "quadratic" in kind else 0
        found = compared(ho.Tuned(model, space, validation=validation, loss=loss), *data(45, kinds=kinds))
        assert found.apart <= WITHIN
        assert found.left <= few


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flags", [{}, {"with_mean": False}, {"with_std": False}])
def test_behind_a_scaler(kind: str, flags: dict[str, bool]) -> None:
    model, space = KINDS[kind]
    pipe = make_pipeline(StandardScaler(**flags), model)
    named = {f"{pipe.steps[-1][0]}__{name}": values for name, values in space.items()}
    X, y = data(45)
    for validation in (ho.KFold(3), ho.LeaveOneOut()):
        learner = ho.Tuned(pipe, named, validation=validation, loss="log")
        found = compared(learner, X * [1, 3, 0.3, 1] + [0, 0, 0, 2], y)
        assert found.apart <= WITHIN
        assert found.left <= 4
        far = compared(learner, X * [1, 100, 0.01, 1] + [0, 0, 0, 1e4], y)
        assert far.apart <= WITHIN
        assert flags or far.left <= 4  # offsets and units that are left in cost digits, which only fits may lose


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_well_known_data(load: Any) -> None:
    X, y = load(return_X_y=True)
    found = compared(make_pipeline(StandardScaler(), LINEAR()), X[:600], y[:600], test=ho.KFold(4))
    assert found.apart <= WITHIN
    assert found.left <= 1
    shrunk = ho.Tuned(LINEAR(solver="lsqr"), {"shrinkage": [0.3, 0.9]}, validation=ho.KFold(3), loss="zero_one")
    found = compared(shrunk, X[:600], y[:600])
    assert found.apart <= WITHIN
    assert found.left <= 6


def test_a_row_near_the_border_is_left_to_a_fit() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 2)) + np.array([1, 0])
    X, y = np.concatenate([half, half * [-1, 1], [[0.0, 0.3]]]), np.repeat([0, 1, 1], [30, 30, 1])
    test = [(np.arange(60), np.array([60]))]  # by symmetry it lies between the classes
    found = compared(LINEAR(), X, y, test=test)
    assert found.apart <= WITHIN
    assert found.left == 1
    found = compared(QUADRATIC(), X, y, test=test)
    assert found.apart <= WITHIN
    assert found.left == 1


def test_failures_are_those_of_fits() -> None:
    X, y = data(60, 4)
    flat = X.copy()
    flat[:, 3] = flat[:, 0] - flat[:, 1]
    model, space = KINDS["quadratic svd"]
    for validation in (ho.KFold(3), ho.LeaveOneOut()):
        found = compared(ho.Tuned(model, space, validation=validation), flat, y)
        assert found.apart <= WITHIN
        assert 0 < found.left < 200
    few = np.where(np.arange(60) < 4, 2, y % 2)  # a class of fewer rows than columns
    found = compared(ho.Tuned(model, space, validation=ho.LeaveOneOut()), X, few)
    assert found.apart <= WITHIN
    assert 0 < found.left < 400
    eigen, space = KINDS["eigen"]
    found = compared(ho.Tuned(eigen, space, validation=ho.KFold(3)), flat, y)
    assert found.apart <= WITHIN
    assert 0 < found.left < 5


@pytest.mark.parametrize("test", [ho.KFold(3), ho.LeaveOneOut()])
def test_columns_that_nowhere_spread_fail_as_fits_do(test: Any) -> None:
    """Where a training part has no direction left, scikit-learn's fit fails; that is a failed cell, and no crash."""
    X, y = np.full((30, 2), 3.0), np.arange(30) % 3
    with pytest.raises(ho.HeldoutError, match=r"test cells failed.*in fit: IndexError"):
        ho.evaluate(LinearDiscriminantAnalysis(), X, y, test=test, jobs=1)
    X[-1] = 5.0
    failed = ho.evaluate(LinearDiscriminantAnalysis(), X, y, test=test, jobs=1)
    assert failed.risk.value is None
    assert failed.failures["error"].str.startswith("IndexError").all()


def test_collinear_columns_that_svd_drops() -> None:
    X, y = data(60, 4)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.zeros(60)])
    found = compared(LINEAR(), X, y, loss="log")
    assert found.apart <= WITHIN
    assert found.left == 0
    found = compared(LINEAR(), *data(40, 60), loss="log")  # more columns than rows
    assert found.apart <= WITHIN
    assert found.left == 0


def test_a_row_that_alone_keeps_a_direction_wide_enough_has_equations_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = data(40, 2, kinds=2)
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[5, 1] += 1  # in the direction in which the others hardly differ, of spread 0.15 with this row and 0.07 without
    found = compared(LINEAR(tol=1e-3), X, y, test=ho.LeaveOneOut(), loss="log")
    assert found.apart <= WITHIN
    assert found.left == 0
    learned: list[Any] = []
    learn = KERNEL.kernel.learn
    monkeypatch.setattr(KERNEL.kernel, "learn", lambda *given: learned.append(given) or learn(*given))
    found = compared(LINEAR(tol=0.1), X, y, test=ho.LeaveOneOut(), loss="log")
    assert found.apart <= WITHIN
    assert len(learned) == 1
    assert found.left == 0


def test_jobs_change_no_bit() -> None:
    X, y = data(300, 6)
    for kind in KINDS.values():
        learner = ho.Tuned(*kind, validation=ho.KFold(3), loss="log")
        one, two = (ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=jobs, progress=False) for jobs in (1, 2))
        assert one.risk.value == two.risk.value
        np.testing.assert_array_equal(one.predictions.to_numpy(), two.predictions.to_numpy())


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LINEAR(solver="lsqr", shrinkage="auto"), "looks at single rows"),
        (LINEAR(shrinkage=0.5), "takes no shrinkage"),
        (LINEAR(solver="lsqr", covariance_estimator=LedoitWolf()), "covariance_estimator="),
        (LINEAR(priors=[0, 0.5, 0.5]), "above 0 for each class"),
        (LINEAR(priors=[0.5, 0.5]), "above 0 for each class"),
        (LINEAR(priors=[0.2, 0.3, 0.6]), "do not sum to 1"),
        (LINEAR(n_components=3), "n_components"),
        (LINEAR(tol=-1), "tol=-1"),
        (LINEAR(solver="other"), "is unknown"),
        (QUADRATIC(reg_param=2), "reg_param=2"),
        (QUADRATIC(store_covariance="yes"), "neither True nor False"),
        (make_pipeline(MinMaxScaler(), LINEAR()), "MinMaxScaler stands before"),
        (make_pipeline(StandardScaler(), StandardScaler(), LINEAR()), "more than one step"),
    ],
)
def test_what_is_refused_and_why(model: Any, reason: str) -> None:
    asked = kernel_steps.ask(model, *data())
    claims = KERNEL.claim(asked.study.search, asked.task)
    assert not claims.groups
    assert reason in claims.refusals[0]


def test_data_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    for table, words in ((X.astype(np.float32), "float32"), (X.astype(np.float16), "float16")):
        assert words in str(ho.explain(LINEAR(), table, y, test=ho.KFold(3)))
    monkeypatch.setattr("heldout.kernels.discriminants.kernel.LARGEST_SUMS", 100)
    assert "products of 4 columns take" in str(ho.explain(LINEAR(), X, y, test=ho.KFold(3)))


def test_explain_shows_rule_and_tier() -> None:
    words = str(ho.explain(ho.Tuned(*KINDS["lsqr"], validation=ho.KFold(3)), *data(), test=ho.KFold(3)))
    assert "discriminants" in words
    assert "rounding" in words


def test_candidates_that_differ_in_shrinkage_alone_go_together() -> None:
    space = {"shrinkage": [None, 0.1, 0.5], "tol": [1e-4, 1e-3]}
    asked = kernel_steps.ask(ho.Tuned(LINEAR(solver="lsqr"), space), *data())
    assert [len(group) for group in KERNEL.claim(asked.study.search, asked.task).groups] == [3, 3]
