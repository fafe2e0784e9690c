"""The kernel `lasso`: what it claims and refuses, and that its answers are nearer the optimum than scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, LassoLars, MultiTaskLasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.api.evaluate import ask
from heldout.base.errors import FitFailed
from heldout.engine.run import work_of
from heldout.kernels.lasso import KERNEL, answer
from heldout.kernels.lasso.forms import Penalty
from heldout.kernels.lasso.newton import newton_step
from heldout.kernels.lasso.problem import Problem, least_pivot, optimality, strengths
from heldout.kernels.lasso.solve import solve
from heldout.kernels.sharp import answer_sharply
from heldout.kernels.step import Held, Step, Training, Work
from heldout.study.answers import PanelTable

ALPHAS = [1e-3, 1e-2, 0.1, 1.0, 10.0]
SCALED = make_pipeline(StandardScaler(), Lasso())
SOLVER = ho.Options(precision="solver")


def numbers(n: int = 60, p: int = 5, *, seed: int = 0, rho: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = rho * X[:, column - 1] + np.sqrt(1 - rho**2) * X[:, column]
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 5


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, or the test panel, as one step of this kernel."""
    roles = {name: more.pop(name, None) for name in ("groups", "time", "sample_weight", "strata")}
    question = {"test": ho.KFold(3), "loss": None, "level": 0.95, "seed": 0, "options": None} | more
    asked = ask(learner, X, y, roles=roles, **question)
    panel = next(p for p in asked.study.panels if p.candidates is not None)
    everything = frozenset(p.key for p in asked.study.panels)
    work = replace(work_of(asked.study, asked.task, {}), keep_responses=everything)
    trainings = tuple(
        Training(panel.trains_of(part), False, (Held(panel.key, panel.level, panel.splits, part),))
        for part in panel.parts
    )
    kind = {"kernel": "lasso", "rule": "lasso", "tier": "solver", "fits": 1}
    return Step(candidates=tuple(panel.candidates or ()), trainings=trainings, **kind), work  # type: ignore[arg-type]


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
    """Of all responses from fits at a tight tolerance, relative to the largest of each cell."""
    ours = table_of(KERNEL.answer(step, work), step, work)
    sharp = table_of(answer_sharply(step, work, KERNEL.sharpened), step, work)
    worst = 0.0
    for candidate in step.candidates:
        for part in ours.parts:
            one, other = (np.asarray(t.responses(candidate, part).predict) for t in (ours, sharp))  # type: ignore[union-attr]
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
def test_it_gives_what_a_sharp_fit_gives(estimator: Any, rho: float, weighted: bool) -> None:
    X, y = numbers(rho=rho)
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
    step, work = posed(tuned(estimator), X, y, sample_weight=weight)
    assert len(KERNEL.claim(work.search, work.task).groups) == 1
    assert worst_difference(step, work) < 1e-8


def test_several_tasks() -> None:
    X, y = numbers()
    step, work = posed(
        tuned(make_pipeline(StandardScaler(), MultiTaskLasso())), X, np.column_stack([y, y**2, -X[:, 0]])
    )
    assert worst_difference(step, work) < 1e-7


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
        (Lasso(max_iter=50), "may stop before the optimum"),
        (Lasso(tol=0), "as many sweeps as there may be"),
        (Lasso(alpha=0), "alpha=0 is least squares"),
        (Lasso(precompute=np.eye(5)), "products of rows that are not those"),
        (ElasticNet(l1_ratio=0, positive=True), "no absolute penalty"),
        (make_pipeline(MinMaxScaler(), Lasso()), "MinMaxScaler stands before"),
        (make_pipeline(StandardScaler(), StandardScaler(), Lasso()), "more than one step"),
        (MultiTaskLasso(), "wants several targets"),
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


def test_it_runs_only_where_it_is_asked_for() -> None:
    X, y = numbers()
    plan = str(ho.explain(tuned(), X, y, test=ho.KFold(3)))
    assert "Options(precision='solver')" in plan
    plan = str(ho.explain(tuned(), X, y, test=ho.KFold(3), options=SOLVER))
    assert "lasso, tier solver" in plan


def test_a_study_is_checked_and_the_same_for_any_jobs() -> None:
    X, y = numbers(120, 6, rho=0.9)
    results = [
        ho.evaluate(tuned(), X, y, test=ho.KFold(3), jobs=jobs, progress=False, options=SOLVER) for jobs in (1, 2)
    ]
    assert results[0].risk.value == results[1].risk.value
    one, two = (result.summary()["plan"]["checks"] for result in results)
    assert one == two
    assert {(check["kernel"], check["level"], check["passed"]) for check in one} == {
        ("lasso", "test", True),
        ("lasso", "validation", True),
    }


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The parts of which the kernel leaves something to a sharp fit, from here on."""
    found: list[int] = []

    def counted(step: Step, work: Work, sharpened: Any) -> Any:
        found.extend(training.answers[0].part for training in step.trainings)
        return answer_sharply(step, work, sharpened)

    monkeypatch.setattr(answer, "answer_sharply", counted)
    return found


def test_a_column_that_is_the_sum_of_others_costs_less_than_they_do(left: list[int]) -> None:
    X, y = numbers()
    X[:, 3] = X[:, 1] + X[:, 2]
    step, work = posed(tuned(Lasso()), X, y)
    assert worst_difference(step, work) < 1e-9
    assert not left  # the penalty tells which of them it is
    result = ho.evaluate(tuned(), X, y, test=ho.KFold(3), jobs=1, progress=False, options=SOLVER)
    assert all(one["passed"] for one in result.summary()["plan"]["checks"])


def test_equal_columns_are_left_to_a_sharp_fit(left: list[int]) -> None:
    X, y = numbers()
    X[:, 3] = X[:, 1]
    step, work = posed(tuned(Lasso()), X, y)
    assert worst_difference(step, work) < 1e-9
    assert left == [0, 1, 2, 3]  # any share of the coefficient is as good


@pytest.mark.parametrize("model", [Lasso, MultiTaskLasso])
def test_a_column_that_only_held_out_rows_tell_from_another_is_left_to_a_sharp_fit(model: Any, left: list[int]) -> None:
    X, y = numbers()
    X[:40, 3] = X[:40, 0]  # any share of the coefficient is as good on these rows; by random sweeps it is anyone's
    Y = np.column_stack([y, y**2, -X[:, 2]]) if model is MultiTaskLasso else y
    test = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    step, work = posed(model(alpha=0.01, selection="random", random_state=0), X, Y, test=test)
    assert worst_difference(step, work) < 1e-7
    assert left == [0]


def test_a_failing_fit_fails() -> None:
    X, y = numbers()
    with pytest.raises(FitFailed, match="alpha"):
        ho.evaluate(Lasso(alpha=-1.0), X, y, test=ho.KFold(3), jobs=1, progress=False, options=SOLVER)


def problem_of(X: Any, y: Any, *, positive: bool = False) -> Problem:
    X, y = X - X.mean(axis=0), y - y.mean()
    C = np.ascontiguousarray(X.T @ X)
    zero = np.zeros(1)
    return Problem(
        C=C,
        d=(X.T @ y)[:, None],
        yy=np.array([y @ y]),
        level=zero,
        weight=float(len(y)),
        joint=False,
        positive=positive,
        pivot=least_pivot(C, 0.0),
    )


def test_gaps_are_those_of_scikit_learn() -> None:
    X, y = numbers(80, 6)
    problem = problem_of(X, y)
    rough = Lasso(alpha=0.05, tol=0.1).fit(X, y)
    penalties = [Penalty(0.05, 1.0, 1e-4)]
    found = optimality(problem, rough.coef_[:, None, None], *strengths(problem, penalties))
    assert found.gap[0, 0] / len(y) == pytest.approx(float(rough.dual_gap_), rel=1e-6, abs=1e-12)


def test_a_newton_step_never_makes_the_objective_larger() -> None:
    rng = np.random.default_rng(3)
    for positive in (False, True):
        for seed in range(30):
            problem = problem_of(*numbers(40, 12, seed=seed, rho=0.95), positive=positive)
            start = rng.normal(size=12) * (rng.uniform(size=12) < 0.7)
            start = np.abs(start) if positive else start
            step = newton_step(problem, 0, start, (8.0, 0.5))
            assert step is not None
            both = np.stack([start, step.weights], axis=1)[:, :, None]
            objective = optimality(problem, both, np.full(2, 8.0), np.full(2, 0.5)).objective[:, 0]
            assert objective[1] <= objective[0] * (1 + 1e-12)
            assert not positive or (step.weights >= -1e-12).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_nearly_equal_are_solved_one_by_one() -> None:
    X, y = numbers(200, 30, rho=0.9999)
    [(weights, good)] = solve([problem_of(X, y)], [Penalty(alpha, 1.0, 1e-4) for alpha in ALPHAS])
    assert good.all()
    for place, alpha in enumerate(ALPHAS):
        sharp = Lasso(alpha, tol=1e-14, max_iter=300_000).fit(X, y)
        fitted = (X - X.mean(axis=0)) @ np.stack([weights[:, place, 0], sharp.coef_], axis=1)
        assert np.abs(fitted[:, 0] - fitted[:, 1]).max() < 1e-5 * np.abs(y).max()
