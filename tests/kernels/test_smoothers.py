"""The kernel `smoothers` against brute force, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kernel_steps
import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.driver import driver
from heldout.kernels.smoothers import solve
from heldout.kernels.smoothers.grams import USES
from heldout.kernels.smoothers.kernel import KERNEL
from heldout.kernels.step import Step, Work

SPACE = {"alpha": [1e-3, 0.1, 1.0, 10.0], "gamma": [0.05, 0.3]}
FIXED = GaussianProcessRegressor(kernels.RBF(1.5) + kernels.WhiteKernel(0.1), optimizer=None)


def numbers(n: int = 60, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n) + 1


def tuned(estimator: Any = None, space: Any = None, validation: Any = 6) -> ho.Tuned:
    estimator = KernelRidge(kernel="rbf") if estimator is None else estimator
    return ho.Tuned(estimator, SPACE if space is None else space, validation=validation)


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The validation panels of a tuned learner, or the test panel, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="smoothers", **{"test": ho.Holdout(0.2)} | more)


def worst_difference(step: Step, work: Work) -> float:
    return kernel_steps.worst_difference(KERNEL, step, work)


def refusal(learner: Any, X: Any, y: Any, **more: Any) -> str:
    asked = kernel_steps.ask(learner, X, y, **more)
    claims = KERNEL.claim(asked.study.search, asked.task)
    assert not claims.groups
    return " ".join(claims.refusals)


@pytest.mark.parametrize("name", sorted(USES))
@pytest.mark.parametrize("validation", [ho.KFold(8), ho.LeaveOneOut()])
def test_every_kernel_gives_what_brute_force_gives(name: str, validation: Any) -> None:
    X, y = numbers(40)
    space = {"alpha": [0.1, 50.0]} | ({"gamma": [0.2]} if "gamma" in USES[name] else {})
    learner = tuned(KernelRidge(kernel=name), space, validation)
    step, work = posed(learner, np.abs(X) if "chi2" in name else X, y)
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize("validation", [ho.KFold(8), ho.LeaveOneOut(), ho.Resample(3, 0.7)])
@pytest.mark.parametrize("normal", [True, False])
def test_a_process_gives_what_brute_force_gives(normal: bool, validation: Any) -> None:
    learner = tuned(FIXED, {"alpha": [1e-3, 1.0], "normalize_y": [normal]}, validation)
    step, work = posed(learner, *numbers())
    assert worst_difference(step, work) < 1e-9


@pytest.fixture
def decomposed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the Gram matrices that are decomposed from here on."""
    sizes: list[int] = []
    decompose = solve.decompose

    def recorded(gram: Any, X: Any, *given: Any) -> Any:
        sizes.append(len(X))
        return decompose(gram, X, *given)

    monkeypatch.setattr(solve, "decompose", recorded)
    return sizes


def test_both_levels_of_a_nested_study_share_one_matrix(decomposed: list[int]) -> None:
    step, work = posed(tuned(), *numbers(80), test=ho.KFold(8))
    assert worst_difference(step, work) < 1e-9
    assert decomposed == [80, 80]  # one for each gamma


@pytest.mark.parametrize("validation", [ho.LeaveOneOut(), ho.KFold(6)])
def test_nothing_is_fitted_where_digits_are_safe(validation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "answer_by_brute_force", lambda *_: pytest.fail("a fit"))
    space = {"alpha": [0.01, 0.1, 1.0], "gamma": [0.05, 0.3]}
    step, work = posed(tuned(space=space, validation=validation), *numbers())
    assert [one.count for one in KERNEL.answer(step, work)] == [step.cells]


@pytest.mark.parametrize("validation", [ho.KFold(6), ho.LeaveOneOut()])
def test_penalties_too_small_for_nine_digits_are_left_to_fits(validation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left: set[int] = set()

    def count(step: Step, work: Work) -> Any:
        left.update(step.candidates)
        return answer_by_brute_force(step, work)

    monkeypatch.setattr(driver, "answer_by_brute_force", count)
    learner = tuned(KernelRidge(kernel="rbf", gamma=0.01), {"alpha": [1e-13, 1.0]}, validation)
    step, work = posed(learner, *numbers())
    assert worst_difference(step, work) < 1e-9
    assert left == {0}


@pytest.mark.parametrize("rows", [80, 300])
def test_responses_far_smaller_than_y_are_no_differences_from_it(
    rows: int, decomposed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block gives y less its residual, and of responses of a hundred-millionth of y that leaves eight digits less."""
    monkeypatch.setattr(driver, "answer_by_brute_force", lambda *_: pytest.fail("a fit"))
    alphas = [1e6, 3e6, 1e7, 2e7, 5e7, 1e8, 1e9, 1e11]
    learner = tuned(KernelRidge(kernel="rbf", gamma=0.3), {"alpha": alphas}, ho.KFold(8))
    step, work = posed(learner, *numbers(rows), test=ho.KFold(8))
    assert worst_difference(step, work) < 1e-9
    assert decomposed == [rows]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [KernelRidge(kernel="rbf", gamma=0.1), FIXED])
def test_rows_that_inner_folds_leave_out_together_are_eliminated_once(
    learner: Any, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folds of several sizes too."""
    X, y = numbers(83)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 83) if weighted and learner is not FIXED else None
    step, work = posed(tuned(learner, {"alpha": [0.1, 1.0]}, ho.KFold(8)), X, y, test=ho.KFold(7), sample_weight=weight)
    eliminate, times = solve.eliminate, []

    def counted(*given: Any) -> Any:
        times.append(1)
        return eliminate(*given)

    monkeypatch.setattr(solve, "eliminate", counted)
    monkeypatch.setattr(solve, "by_factor", lambda *_: pytest.fail("a training that is solved by itself"))
    assert worst_difference(step, work) < 1e-9
    assert len(times) == 7 * 2  # in each outer fold, for each alpha


def test_without_a_factor_of_the_rows_in_common_trainings_are_solved_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step, work = posed(tuned(validation=ho.KFold(8)), *numbers(80), test=ho.KFold(8))
    monkeypatch.setattr(solve, "eliminate", lambda *_: None)
    assert worst_difference(step, work) < 1e-9


def test_trainings_that_name_rows_twice_are_solved_by_themselves() -> None:
    test = [(np.repeat(np.arange(40), 2), np.arange(50, 60)), (np.arange(50), np.arange(50, 60))]
    step, work = posed(KernelRidge(kernel="rbf"), *numbers(), test=test)
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize("validation", [ho.KFold(6), ho.LeaveOneOut(), ho.Resample(4, 0.7)])
def test_the_number_of_threads_changes_no_bit(validation: Any) -> None:
    step, work = posed(tuned(validation=validation), *numbers(150), test=ho.KFold(4))
    tables = [
        kernel_steps.tables_of(KERNEL.answer(step, replace(work, jobs=j, products={})), step, work) for j in (1, 2)
    ]
    for panel, table in tables[0].items():
        assert np.array_equal(table.losses, tables[1][panel].losses)


def test_rows_that_do_not_fit_the_budget_are_left_to_fits() -> None:
    step, work = posed(tuned(), *numbers(30))
    assert worst_difference(step, replace(work, budget=100)) == 0.0


@pytest.mark.parametrize(
    ("validation", "test", "route"),
    [
        (ho.KFold(8), ho.KFold(8), "by_block"),
        (ho.LeaveOneOut(), ho.Holdout(0.2), "by_diagonal"),
        (ho.Resample(3, 0.7), ho.Holdout(0.2), "by_factor"),
    ],
)
def test_weights_are_part_of_every_route(
    validation: Any, test: Any, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = numbers(80)
    space = {"alpha": [0.1, 1.0], "gamma": [0.05, 0.3]}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 80)
    step, work = posed(tuned(space=space, validation=validation), X, y, test=test, sample_weight=weight)
    assert worst_difference(step, work) < 1e-9
    for other in {"by_block", "by_diagonal", "by_factor"} - {route}:
        monkeypatch.setattr(solve, other, lambda *_: pytest.fail("another route"))
    monkeypatch.setattr(driver, "answer_by_brute_force", lambda *_: pytest.fail("a fit"))
    assert list(KERNEL.answer(step, replace(work, products={})))


def test_weights_far_apart() -> None:
    X, y = numbers()
    learner = tuned(validation=ho.KFold(6))
    step, work = posed(learner, X, y, sample_weight=np.logspace(-4, 2, 60))
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Lasso(), "Lasso is not"),
        (make_pipeline(StandardScaler(), KernelRidge()), "a step stands before these learners"),
        (KernelRidge(kernel=np.dot), "a function as kernel"),
        (KernelRidge(kernel="chi2"), "gamma=None"),
        (KernelRidge(kernel="chi2", gamma=1.0), "negative"),
        (KernelRidge(alpha=[1.0]), "alpha"),
        (KernelRidge(alpha=-1.0), "alpha"),
        (KernelRidge(kernel="rbf", gamma=0.0), "gamma"),
        (GaussianProcessRegressor(kernels.RBF()), "optimised"),
        (GaussianProcessRegressor(kernels.PairwiseKernel(), optimizer=None), "PairwiseKernel"),
        (GaussianProcessRegressor(optimizer=None, alpha=np.full(60, 0.1)), "alpha"),
    ],
)
def test_what_is_refused_says_why(learner: Any, words: str) -> None:
    assert words in refusal(learner, *numbers())


def test_data_that_are_refused_say_why() -> None:
    X, y = numbers()
    learner = KernelRidge()
    assert "sparse" in refusal(learner, sparse.csr_matrix(X), y)
    assert "float32" in refusal(learner, X.astype(np.float32), y)
    assert "weight 0" in refusal(learner, X, y, sample_weight=np.arange(60.0))
    assert "missing" in refusal(learner, np.where(np.arange(60)[:, None] == 3, np.nan, X), y)


def test_a_matrix_that_does_not_fit_is_refused_by_its_size() -> None:
    X = np.zeros((6_000, 1))
    assert "6,000 rows" in refusal(KernelRidge(), X, np.zeros(6_000))


def test_explain_shows_the_rule_and_its_tier() -> None:
    text = str(ho.explain(tuned(), *numbers(), test=ho.KFold(6)))
    assert "smoothers" in text
    assert "rounding" in text
