"""The kernel `lasso`: it makes scikit-learn's own fits, on products of columns; what it claims and refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kernel_steps
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, LassoLars, MultiTaskLasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.lasso.kernel import KERNEL
from heldout.kernels.step import Step, Work
from heldout.study.answers import PanelTable

ALPHAS = [1e-3, 1e-2, 0.1, 1.0, 10.0]
SCALED = make_pipeline(StandardScaler(), Lasso())


def numbers(n: int = 60, p: int = 5, *, seed: int = 0, rho: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = rho * X[:, column - 1] + np.sqrt(1 - rho**2) * X[:, column]
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 5


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, or the test panel, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="lasso", most_panels=1, **more)


def table_of(answers: Any, step: Step, work: Work) -> PanelTable:
    held = step.trainings[0].answers[0]
    parts = range(len(step.trainings))
    sizes, losses = work.splits[held.splits].held_sizes, len(work.losses[held.level])
    table = PanelTable.empty(range(len(step.candidates)), parts, losses, sizes=sizes)
    for one in answers:
        table.put(one)
    assert table.complete
    return table


def tuned(estimator: Any = SCALED) -> ho.Tuned:
    steps = getattr(estimator, "steps", None)
    return ho.Tuned(
        estimator, {f"{steps[-1][0]}__alpha" if steps else "alpha": ALPHAS}, validation=ho.KFold(4), random_state=0
    )


def worst_difference(step: Step, work: Work) -> float:
    """Of all responses from those of brute force, relative to the largest of each cell."""
    ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    worst = 0.0
    for candidate in step.candidates:
        for part in ours.parts:
            one, other = (np.asarray(t.responses(candidate, part).predict) for t in (ours, theirs))  # type: ignore[union-attr]
            worst = max(worst, float(np.abs(one - other).max() / (np.abs(other).max() or 1.0)))
    return worst


def claimed(learner: Any, X: Any, y: Any, **more: Any) -> Any:
    _, work = posed(learner, X, y, **more)
    return KERNEL.claim(work.search, work.task)


@pytest.mark.parametrize(
    "estimator",
    [
        Lasso(),
        SCALED,
        make_pipeline(StandardScaler(), ElasticNet(l1_ratio=0.3)),
        Lasso(positive=True, fit_intercept=False),
    ],
)
@pytest.mark.parametrize("rho", [0.0, 0.99])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_gives_what_brute_force_gives(estimator: Any, rho: float, weighted: bool) -> None:
    X, y = numbers(rho=rho)
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
    step, work = posed(tuned(estimator), X, y, sample_weight=weight)
    assert len(KERNEL.claim(work.search, work.task).groups) == 1
    assert worst_difference(step, work) < 1e-10


def answered_by_brute_force(step: Step, work: Work, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The candidates of which the kernel leaves a fit to scikit-learn."""
    left: list[int] = []

    def counted(step: Step, work: Work) -> Any:
        left.extend(step.candidates)
        return answer_by_brute_force(step, work)

    monkeypatch.setattr("heldout.kernels.driver.driver.answer_by_brute_force", counted)
    list(KERNEL.answer(step, work))
    return sorted(set(left))


def test_fits_that_converge_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    step, work = posed(tuned(), *numbers(200, 10, rho=0.9))
    assert answered_by_brute_force(step, work, monkeypatch) == []


def test_a_fit_that_does_not_converge_is_scikit_learns_with_its_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    space = {"alpha": [1e-3, 3.0]}
    learner = ho.Tuned(Lasso(max_iter=100), space, validation=ho.KFold(4), random_state=0)
    step, work = posed(learner, *numbers(200, 20, rho=0.97))
    assert answered_by_brute_force(step, work, monkeypatch) == [0]
    warned = [one for answer in KERNEL.answer(step, work) for one in answer.warnings]
    assert {candidate for candidate, _ in warned} == {0}
    assert worst_difference(step, work) < 1e-10


def test_columns_that_are_equal_on_training_rows_alone() -> None:
    X, y = numbers()
    X[:40, 3] = X[:40, 0]
    test = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    step, work = posed(Lasso(alpha=0.01), X, y, test=test)
    assert worst_difference(step, work) < 1e-9


def test_versions_without_the_compiled_function_go_by_the_public_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.kernels.lasso.descent.COMPILED", False)
    step, work = posed(tuned(make_pipeline(StandardScaler(), ElasticNet(l1_ratio=0.3))), *numbers(200, 10))
    assert worst_difference(step, work) < 1e-10


@pytest.mark.parametrize("rho", [0.0, 0.95])
def test_the_number_of_threads_changes_no_bit(rho: float) -> None:
    step, work = posed(tuned(), *numbers(400, 40, rho=rho))
    tables = [table_of(KERNEL.answer(step, replace(work, jobs=j, products={})), step, work) for j in (1, 3)]
    assert np.array_equal(tables[0].losses, tables[1].losses)


def test_what_is_kept_changes_no_bit() -> None:
    step, work = posed(tuned(), *numbers(200, 10))
    kept, tight = replace(work, products={}), replace(work, products={}, budget=0, room=0, jobs=2)
    first, again, last = (table_of(KERNEL.answer(step, w), step, work) for w in (kept, kept, tight))
    assert np.array_equal(first.losses, again.losses)
    assert np.array_equal(first.losses, last.losses)


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (Lasso(max_iter=0), "no whole number from 1 up"),
        (Lasso(selection="random"), "only 'cyclic' takes the same steps"),
        (Lasso(alpha=0), "without an absolute penalty"),
        (ElasticNet(l1_ratio=0), "without an absolute penalty"),
        (Lasso(precompute=np.eye(5)), "products of rows that are not those"),
        (make_pipeline(MinMaxScaler(), Lasso()), "MinMaxScaler stands before"),
        (make_pipeline(StandardScaler(), StandardScaler(), Lasso()), "more than one step"),
        (MultiTaskLasso(), "MultiTaskLasso is not Lasso"),
        (LassoLars(), "LassoLars is not Lasso"),
        (Ridge(), "Ridge is not Lasso"),
    ],
)
def test_what_it_refuses(estimator: Any, reason: str) -> None:
    claims = claimed(estimator, *numbers())
    assert claims.groups == ()
    assert any(reason in one for one in claims.refusals)


def test_data_that_it_refuses() -> None:
    X, y = numbers()
    X_missing = X.copy()
    X_missing[3, 2] = np.nan
    for other, reason in ((sparse.csr_matrix(X), "sparse"), (X_missing, "missing or infinite")):
        claims = claimed(Lasso(), other, y)
        assert claims.groups == ()
        assert any(reason in one for one in claims.refusals)


def test_many_columns_and_few_rows_do_not_pay() -> None:
    step, work = posed(tuned(), *numbers(40, 90))
    refusal = KERNEL.refuses(work.search, work.task, step.trainings[0], work.splits)
    assert refusal is not None
    assert "cost more than descents" in refusal


def test_several_targets_are_refused() -> None:
    X, y = numbers()
    assert any("several columns" in one for one in claimed(Lasso(), X, np.column_stack([y, -y])).refusals)


def test_a_study_is_checked_and_the_same_for_any_jobs() -> None:
    X, y = numbers(120, 6, rho=0.9)
    results = [ho.evaluate(tuned(), X, y, test=ho.KFold(3), jobs=jobs, progress=False) for jobs in (1, 2)]
    assert results[0].risk.value == results[1].risk.value
    one, two = (result.summary()["plan"]["checks"] for result in results)
    assert one == two
    assert {(check["kernel"], check["level"], check["passed"]) for check in one} == {
        ("lasso", "test", True),
        ("lasso", "validation", True),
    }
