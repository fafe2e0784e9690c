"""The kernel `ridge` against brute force, and what it refuses."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import kernel_steps
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.ridge.kernel import KERNEL
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.sums.dataset import ChunkReader, Dataset, Layout, Shift
from heldout.kernels.sums.training_sums import TrainingSums
from heldout.study.answers import PanelTable

ALPHAS = [1e-4, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3]
SCALED = make_pipeline(StandardScaler(), Ridge())


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, or the test panel, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="ridge", most_panels=1, **more)


def table_of(answers: Any, step: Step, work: Work) -> PanelTable:
    held = step.trainings[0].answers[0]
    parts = range(len(step.trainings))
    sizes, losses = work.splits[held.splits].held_sizes, len(work.losses[held.level])
    table = PanelTable.empty(range(len(step.candidates)), parts, losses, sizes=sizes)
    for one in answers:
        table.put(one)
    assert table.complete
    return table


def worst_difference(step: Step, work: Work) -> float:
    """Of all responses, relative to the largest of each candidate."""
    ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    worst = 0.0
    for candidate in step.candidates:
        pairs = [(ours.responses(candidate, p), theirs.responses(candidate, p)) for p in ours.parts]
        ours_, theirs_ = (np.concatenate([side[i].predict for side in pairs]) for i in (0, 1))  # type: ignore[union-attr]
        assert ours_.dtype == theirs_.dtype
        if ours_.dtype.kind != "f":
            assert np.array_equal(ours_, theirs_)
        else:
            worst = max(worst, float(np.abs(ours_ - theirs_).max() / np.abs(theirs_).max()))
    return worst


def numbers(n: int = 60, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p) + 5 * rng.normal(size=p)
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 50


def tuned(estimator: Any = SCALED, validation: Any = None, alphas: Any = ALPHAS) -> ho.Tuned:
    name = "alpha" if isinstance(estimator, Ridge | RidgeClassifier) else f"{estimator.steps[-1][0]}__alpha"
    return ho.Tuned(estimator, {name: alphas}, validation=validation or ho.KFold(4))


@settings(max_examples=20, deadline=None)
@example(n=12, p=7, seed=2, offset=10.0, intercept=False, mean=True, std=True, weighted=False, single=False)
@given(
    n=st.integers(12, 40),
    p=st.integers(1, 30),
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 10.0]),
    intercept=st.booleans(),
    mean=st.booleans(),
    std=st.booleans(),
    weighted=st.booleans(),
    single=st.booleans(),
)
def test_it_gives_what_brute_force_gives(**drawn: Any) -> None:
    rng = np.random.default_rng(drawn["seed"])
    n, p = drawn["n"], drawn["p"]
    # Centred without an intercept, columns far from zero leave scikit-learn itself too few digits to compare with.
    offset = drawn["offset"] if drawn["intercept"] else 0.0
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, p) + offset
    y = rng.normal(size=n)
    scaler = StandardScaler(with_mean=drawn["mean"], with_std=drawn["std"])
    pipe = make_pipeline(scaler, Ridge(fit_intercept=drawn["intercept"]))
    weight = rng.uniform(0.1, 3, n) if drawn["weighted"] else None
    validation = ho.LeaveOneOut() if drawn["single"] else ho.KFold(3)
    alphas = ALPHAS[::4] if drawn["single"] else ALPHAS
    step, work = posed(tuned(pipe, validation, alphas), X, y, test=ho.Holdout(0.2), sample_weight=weight)
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize(("n", "p"), [(40, 5), (20, 60)])
@pytest.mark.parametrize("twice", [False, True])
def test_least_squares_takes_scikit_learns_rank(n: int, p: int, twice: bool) -> None:
    X, y = numbers(n, p)
    if twice:
        X[:, 1] = 2 * X[:, 0]
    step, work = posed(LinearRegression(), X, y)
    assert worst_difference(step, work) < 1e-9


def test_leave_one_out_is_answered_in_blocks() -> None:
    step, work = posed(tuned(validation=ho.LeaveOneOut()), *numbers(), test=ho.Holdout(0.2))
    assert [one.count for one in KERNEL.answer(step, work)] == [step.cells]


@pytest.mark.parametrize("validation", [ho.KFold(4), ho.LeaveOneOut()])
@pytest.mark.parametrize("estimator", [Ridge(), SCALED])
def test_the_number_of_threads_changes_no_bit(estimator: Any, validation: Any) -> None:
    step, work = posed(tuned(estimator, validation), *numbers(700, 40), test=ho.Holdout(0.2))
    tables = [table_of(KERNEL.answer(step, replace(work, jobs=j, products={})), step, work) for j in (1, 3)]
    assert np.array_equal(tables[0].losses, tables[1].losses)


def test_what_is_kept_changes_no_bit() -> None:
    step, work = posed(tuned(), *numbers(400, 10), test=ho.Holdout(0.2))
    kept = replace(work, products={})
    tight = replace(work, products={}, budget=0, jobs=3)
    first, again, last = (table_of(KERNEL.answer(step, w), step, work) for w in (kept, kept, tight))
    assert np.array_equal(first.losses, again.losses)
    assert np.array_equal(first.losses, last.losses)


def test_the_outer_training_set_is_the_total_of_its_inner_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    step, work = posed(tuned(), *numbers(300, 5))
    list(KERNEL.answer(step, work))
    read: list[Any] = []
    monkeypatch.setattr(TrainingSums, "sum", lambda self, rows: read.append(rows))
    held = Held("test/0", "test", "outer", 0)
    refit = replace(step, candidates=(3,), trainings=(Training((work.splits and _outer(),), False, (held,)),))
    list(KERNEL.answer(refit, work))
    assert read == []


def _outer() -> Any:
    from heldout.study.study import TrainRef

    return TrainRef("outer", 0)


@pytest.mark.parametrize("kind", ["nearly collinear", "outlier", "constant elsewhere", "offset"])
@pytest.mark.parametrize("validation", [ho.KFold(4), ho.LeaveOneOut()])
def test_hard_columns_stay_inside_the_tier(kind: str, validation: Any) -> None:
    X, y = numbers(30, 5)
    if kind == "nearly collinear":
        X[:, 3] = X[:, 1] + 1e-9 * np.random.default_rng(1).normal(size=30)
    elif kind == "outlier":
        X[4, 1], y[9] = 1e7, 1e9
    elif kind == "constant elsewhere":
        X[:, 2] = 0.3
        X[7, 2] = 1.0
    else:
        X += 1e5
    for estimator in (Ridge(), SCALED):
        step, work = posed(tuned(estimator, validation, [1e-8, 1e-3, 1.0, 1e3]), X, y, test=ho.Holdout(0.2))
        assert worst_difference(step, work) < 1e-9


def test_float32_is_no_farther_from_float64_than_scikit_learn() -> None:
    X, y = numbers(300, 20)
    X = X.astype(np.float32)
    step, work = posed(tuned(), X, y, test=ho.Holdout(0.2))
    exact_step, exact_work = posed(tuned(), X.astype(float), y, test=ho.Holdout(0.2))
    exact_work = replace(exact_work, splits=work.splits)  # rows of other bits draw other splits
    ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    exact = table_of(answer_by_brute_force(exact_step, exact_work), exact_step, exact_work)
    for candidate in step.candidates:
        for part in ours.parts:
            near, far, true = (t.responses(candidate, part).predict for t in (ours, theirs, exact))  # type: ignore[union-attr]
            assert near.dtype == far.dtype == np.float32
            assert np.abs(near - true).max() <= np.abs(far - true).max()


@pytest.mark.parametrize(
    "estimator", [Ridge(), SCALED, make_pipeline(StandardScaler(with_mean=False), LinearRegression())]
)
def test_polars_columns_of_single_precision_are_computed_in_double_as_by_scikit_learn(estimator: Any) -> None:
    X, y = numbers(120, 4)
    frame = pl.DataFrame(X.astype(np.float32), schema=list("abcd"))
    step, work = posed(estimator, frame, y, test=ho.KFold(3))
    assert worst_difference(step, work) < 1e-12


def test_candidates_of_any_size_give_no_warning() -> None:
    X, y = np.random.default_rng(0).normal(size=(120, 5)), np.random.default_rng(1).normal(size=120)
    X[:, 1] = X[:, 0]
    for jobs in (1, 2):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ho.Tuned(Ridge(), {"alpha": [1e-15, 100.0]}, validation=ho.KFold(4), jobs=jobs).fit(X, y)
        assert told == []


@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 3.0}])
@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("validation", [ho.KFold(3), ho.LeaveOneOut()])
def test_classes_by_name(class_weight: Any, kinds: int, validation: Any) -> None:
    X, y = numbers(45)
    labels = np.array(["no", "yes", "perhaps"])[np.digitize(y, np.quantile(y, [0.3, 0.8][: kinds - 1]))]
    pipe = make_pipeline(StandardScaler(), RidgeClassifier(class_weight=class_weight))
    step, work = posed(tuned(pipe, validation, ALPHAS[::4]), X, labels, test=ho.Holdout(0.2))
    assert worst_difference(step, work) == 0.0


def test_decision_functions_are_given_where_a_loss_asks() -> None:
    X, y = numbers(70)
    learner = ho.Tuned(RidgeClassifier(), {"alpha": ALPHAS}, loss="roc_auc", validation=ho.KFold(3))
    step, work = posed(learner, X, y > np.median(y), test=ho.Holdout(0.2))
    ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    np.testing.assert_allclose(
        ours.responses(0, 0).decision_function,  # type: ignore[union-attr]
        theirs.responses(0, 0).decision_function,  # type: ignore[union-attr]
        rtol=1e-9,
    )
    np.testing.assert_allclose(ours.losses, theirs.losses)


def test_columns_far_from_zero_come_nearer_to_the_truth_than_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 5)) * 10.0 ** rng.uniform(-2, 2, 5) + 1000
    y = rng.normal(size=12)
    step, work = posed(tuned(make_pipeline(StandardScaler(), Ridge(fit_intercept=False))), X, y, test=ho.Holdout(0.2))
    tables = [table_of(f(step, work), step, work) for f in (KERNEL.answer, answer_by_brute_force)]
    training = step.trainings[0]
    rows, held = work.train_rows(training.trains[0]), work.held_rows(training.answers[0])
    Z = X[rows] - 1000  # exact: these numbers have the same exponent
    centre = Z.astype(np.longdouble).mean(axis=0)
    scale = np.sqrt(((Z - centre) ** 2).mean(axis=0))
    A = ((Z - centre) / scale).astype(float)  # a tenth of a millionth of a millionth of the columns' own size
    w = np.linalg.solve(A.T @ A + ALPHAS[0] * np.eye(5), A.T @ y[rows])
    true = ((X[held] - 1000 - centre) / scale).astype(float) @ w
    ours, theirs = (np.abs(t.responses(0, 0).predict - true).max() for t in tables)  # type: ignore[union-attr]
    assert ours < 1e-11 < theirs


@pytest.mark.parametrize("validation", [ho.KFold(3), ho.LeaveOneOut()])
def test_several_targets(validation: Any) -> None:
    X, y = numbers(40)
    step, work = posed(tuned(validation=validation, alphas=ALPHAS[::2]), X, np.column_stack([y, y**2]))
    assert worst_difference(step, work) < 1e-9


def test_columns_are_picked_scaled_and_reordered() -> None:
    X, y = numbers(60, 5)
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"b": int})
    columns = ColumnTransformer([("s", StandardScaler(), ["d", "a"]), ("k", "passthrough", ["b"])])
    step, work = posed(tuned(make_pipeline(columns, Ridge())), frame, y)
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (Ridge(solver="lsqr"), "solver='lsqr'"),
        (Ridge(positive=True), "positive=True"),
        (ElasticNet(), "ElasticNet is not"),
        (make_pipeline(MinMaxScaler(), Ridge()), "MinMaxScaler stands before"),
        (make_pipeline(ColumnTransformer([("i", SimpleImputer(), [0])]), Ridge()), "SimpleImputer inside"),
        (type("Mine", (Ridge,), {})(), "Mine is not"),
        (Ridge(alpha=np.array([1.0, 2.0])), "alpha is not one number"),
    ],
)
def test_learners_that_it_refuses_are_named(estimator: Any, reason: str) -> None:
    _, work = posed(estimator, *numbers())
    claims = KERNEL.claim(work.search, work.task)
    assert claims.groups == ()
    assert reason in claims.refusals[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (sparse.csr_matrix, "sparse"),
        (lambda X: np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X), "missing"),
        (lambda X: X.astype(np.float16), "float16"),
        (lambda X: pd.DataFrame(X).astype("Float64"), "Float64"),
    ],
)
def test_data_that_it_refuses_are_named(change: Any, reason: str) -> None:
    X, y = numbers()
    _, work = posed(Ridge(), change(X), y)
    claims = KERNEL.claim(work.search, work.task)
    assert claims.groups == ()
    assert reason in claims.refusals[0]


def test_candidates_are_grouped_by_all_but_alpha() -> None:
    space = {
        "ridge__alpha": [0.1, 1.0],
        "ridge__fit_intercept": [True, False],
        "standardscaler": [StandardScaler(), None],
    }
    _, work = posed(ho.Tuned(SCALED, space), *numbers())
    groups = KERNEL.claim(work.search, work.task).groups
    assert sorted(len(group) for group in groups) == [2, 2, 2, 2]
    for group in groups:
        alphas = [work.search.params_of(c)["ridge__alpha"] for c in group]
        assert alphas == [0.1, 1.0]


def test_a_training_without_one_of_the_classes_is_refused() -> None:
    X, _ = numbers(30)
    labels = np.where(np.arange(30) < 14, "a", "b")
    labels[3] = "c"
    step, work = posed(RidgeClassifier(), X, labels, test=ho.LeaveOneOut())
    reasons = [KERNEL.refuses(work.search, work.task, t, work.splits) for t in step.trainings]
    assert [bool(reason) for reason in reasons] == [i == 3 for i in range(30)]
    assert "a class is absent" in (reasons[3] or "")


def test_losses_that_ask_the_estimator_are_refused() -> None:
    def own(estimator: Any, X: Any, y: Any) -> float:
        return float(estimator.score(X, y))

    _, work = posed(ho.Tuned(Ridge(), {"alpha": [1.0]}, loss=own), *numbers())
    assert "asks the fitted estimator" in KERNEL.claim(work.search, work.task).refusals[0]


def test_the_kernel_says_who_it_is() -> None:
    assert (KERNEL.name, KERNEL.tier) == ("ridge", "rounding")


def test_rows_that_follow_each_other_are_read_where_they_are() -> None:
    X = np.arange(40.0).reshape(10, 4)
    shift = Shift(x=np.zeros(4), y=np.zeros(1))
    reader, none = ChunkReader(Dataset(layout=Layout(), X=X, Y=np.zeros((10, 1)), shift=shift), 10), np.zeros(4)
    near = reader.read(np.arange(3, 7), none)
    assert np.shares_memory(near, X)
    assert not near.flags.writeable
    assert np.array_equal(near, X[3:7])
    for rows in ([3, 5, 6], [6, 5, 4], [4, 4, 6], [3, 6, 5, 6]):
        assert not np.shares_memory(reader.read(np.array(rows), none), X)
        assert np.array_equal(reader.read(np.array(rows), none), X[rows])
    assert np.array_equal(reader.read(np.arange(3, 7), np.ones(4)), X[3:7] - 1)
    assert X.flags.writeable
