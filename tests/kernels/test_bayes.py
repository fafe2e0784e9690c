"""The kernel `bayes` against brute force, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kernel_steps
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.kernels.bayes.kernel import KERNEL
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.step import Step, Work
from heldout.study.answers import PanelTable

SMOOTHINGS = [1e-12, 1e-9, 1e-4, 0.1, 1.0]
ALPHAS = [1e-10, 0.01, 0.5, 1.0, 10.0]
SCALED = make_pipeline(StandardScaler(), GaussianNB())
PROBA = ["log", "accuracy"]
COUNTS = [MultinomialNB(), ComplementNB(), ComplementNB(norm=True), BernoulliNB(), BernoulliNB(binarize=1)]


def posed(learner: Any, X: Any, y: Any, **more: Any) -> tuple[Step, Work]:
    """The first validation panel of a tuned learner, or the test panel, as one step of this kernel."""
    return kernel_steps.posed(learner, X, y, kernel="bayes", most_panels=1, **more)


def table_of(answers: Any, step: Step, work: Work) -> PanelTable:
    held = step.trainings[0].answers[0]
    sizes = work.splits[held.splits].held_sizes
    losses = len(work.losses[held.level])
    table = PanelTable.empty(range(len(step.candidates)), range(len(step.trainings)), losses, sizes=sizes)
    for one in answers:
        table.put(one)
    assert table.complete
    return table


def worst_difference(step: Step, work: Work) -> float:
    """Of all probabilities; labels and classes must be equal, in values and types."""
    ours = table_of(KERNEL.answer(step, work), step, work)
    theirs = table_of(answer_by_brute_force(step, work), step, work)
    worst = 0.0
    for candidate in step.candidates:
        for part in ours.parts:
            a, b = ours.responses(candidate, part), theirs.responses(candidate, part)
            assert (a is None) == (b is None)
            if a is None or b is None:
                continue
            assert a.predict.dtype == b.predict.dtype  # type: ignore[union-attr]
            assert np.array_equal(a.predict, b.predict)  # type: ignore[arg-type]
            assert np.array_equal(a.classes, b.classes)  # type: ignore[arg-type]
            if b.predict_proba is not None:
                worst = max(worst, float(np.abs(a.predict_proba - b.predict_proba).max()))
    return worst


def numbers(n: int = 60, p: int = 4, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % kinds)
    X = (rng.normal(size=(n, p)) + rng.normal(size=(kinds, p))[y]) * rng.uniform(0.1, 10, p) + 5 * rng.normal(size=p)
    return X, y


def words(n: int = 60, p: int = 8, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % kinds)
    return rng.poisson(rng.gamma(1.0, 1.5, size=(kinds, p))[y]).astype(float), y


def tuned(estimator: Any = None, **options: Any) -> ho.Tuned:
    model = GaussianNB() if estimator is None else estimator
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    space = {"var_smoothing": SMOOTHINGS} if isinstance(last, GaussianNB) else {"alpha": ALPHAS}
    if last is not model:
        space = {f"gaussiannb__{name}": values for name, values in space.items()}
    return ho.Tuned(model, space, **{"validation": ho.KFold(3), "loss": PROBA} | options)


def refusals_of(learner: Any, X: Any, y: Any, **more: Any) -> tuple[str, ...]:
    plan = ho.explain(learner, X, y, **{"test": ho.KFold(3)} | more)
    return next(record for record in plan.passes if record.name == "bayes").refusals


@settings(max_examples=12, deadline=None)
@given(
    n=st.integers(20, 40),
    p=st.integers(1, 12),
    kinds=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 1e3]),
    scaled=st.booleans(),
    weighted=st.booleans(),
    proba=st.booleans(),
    single=st.booleans(),
)
def test_gaussian_gives_what_brute_force_gives(**drawn: Any) -> None:
    X, y = numbers(drawn["n"], drawn["p"], drawn["kinds"], drawn["seed"])
    weight = np.random.default_rng(drawn["seed"]).uniform(0.1, 3, len(y)) if drawn["weighted"] else None
    learner = tuned(
        SCALED if drawn["scaled"] else None,
        validation=ho.LeaveOneOut() if drawn["single"] else ho.KFold(3),
        loss=PROBA if drawn["proba"] else "accuracy",
    )
    step, work = posed(learner, X + drawn["offset"], y, test=ho.Holdout(0.2), sample_weight=weight)
    assert worst_difference(step, work) < 1e-9


@settings(max_examples=12, deadline=None)
@given(
    n=st.integers(20, 40),
    p=st.integers(1, 12),
    kinds=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    model=st.sampled_from(COUNTS),
    weighted=st.booleans(),
    fractions=st.booleans(),
    dense=st.booleans(),
    proba=st.booleans(),
)
def test_counts_give_what_brute_force_gives(**drawn: Any) -> None:
    X, y = words(drawn["n"], drawn["p"], drawn["kinds"], drawn["seed"])
    X = X / 7 if drawn["fractions"] else X
    weight = np.random.default_rng(drawn["seed"]).uniform(0.1, 3, len(y)) if drawn["weighted"] else None
    learner = tuned(drawn["model"], loss=PROBA if drawn["proba"] else "accuracy")
    container = np.asarray if drawn["dense"] else sparse.csr_array
    step, work = posed(learner, container(X), y, test=ho.Holdout(0.2), sample_weight=weight)
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize("labels", [["no", "perhaps", "yes"], [False, True], [3, 5, 9], [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("kind", [None, object, np.int8])
def test_labels_keep_their_type(labels: list[Any], kind: Any) -> None:
    if (kind is object) != isinstance(labels[0], str) and kind is not None:
        return
    names = np.array(labels, dtype=kind)
    X, y = numbers(kinds=len(labels))
    step, work = posed(tuned(), X, names[y])
    assert worst_difference(step, work) < 1e-9


@pytest.mark.parametrize("estimator", [GaussianNB(), SCALED])
@pytest.mark.parametrize("spoil", ["constant", "in a class", "in a part", "offset", "apart", "outlier", "units"])
def test_hard_columns(estimator: Any, spoil: str) -> None:
    X, y = numbers(80)
    if spoil == "constant":
        X[:, 1] = 0.1
    elif spoil == "in a class":
        X[y == 1, 1] = 0.1
    elif spoil == "in a part":
        X[:, 1] = 0.3
        X[:3, 1] = [1.0, 2.0, 3.0]
    elif spoil == "offset":
        X += 1e6
    elif spoil == "apart":
        X += 1e5 * y[:, None]
    elif spoil == "outlier":
        X[5] = 1e8
    else:
        X *= 10.0 ** np.array([-8, -3, 2, 7])
    for validation in (ho.KFold(4), ho.KFold(5, shuffle=False, stratify=False)):
        step, work = posed(tuned(estimator, validation=validation), X, y)
        assert worst_difference(step, work) < 1e-9


def test_ties_are_left_to_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    X, y = np.vstack([X, -X]), np.repeat([0, 1], 30)
    X[[0, 30]] = 0.0  # on the border between mirrored classes
    pairs = [(np.r_[1:30, 31:60], np.array([0, 30])), (np.arange(1, 60), np.array([0]))]
    step, work = posed(GaussianNB(), X, y, test=pairs)
    assert worst_difference(step, work) == 0.0


@pytest.mark.parametrize("estimator", [MultinomialNB(fit_prior=False), BernoulliNB(fit_prior=False), ComplementNB()])
def test_ties_of_weighted_counts_are_left_to_scikit_learn(estimator: Any) -> None:
    X, _ = words(40, 4)
    weight = np.random.default_rng(1).uniform(0.1, 1.0, 40)
    order = np.random.default_rng(2).permutation(30)  # the same rows in both classes, added up in another order
    X = np.vstack([X[:30], X[order], X[30:], X[30:]])
    y = np.r_[np.repeat([0, 1], 30), np.repeat([0, 1], 10)]
    weight = np.r_[weight[:30], weight[order], weight[30:], weight[30:][::-1]]
    step, work = posed(estimator, X, y, test=[(np.arange(60), np.arange(60, 80))], sample_weight=weight)
    assert worst_difference(step, work) == 0.0


def test_texts_without_words_are_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = words()
    X[::5] = 0.0
    step, work = posed(tuned(MultinomialNB()), X, y)
    assert worst_difference(step, work) < 1e-12
    monkeypatch.setattr("heldout.kernels.driver.driver.answer_by_brute_force", None)
    answers = list(KERNEL.answer(step, work))
    assert sum(one.count for one in answers) == step.cells
    assert not any(one.failures for one in answers)


@pytest.mark.parametrize("estimator", [GaussianNB(), SCALED, MultinomialNB(), BernoulliNB()])
@pytest.mark.parametrize("loss", ["accuracy", PROBA])
def test_the_number_of_threads_changes_no_bit(estimator: Any, loss: Any) -> None:
    step, work = posed(tuned(estimator, loss=loss), *words(900, 30), test=ho.Holdout(0.2))
    tables = [table_of(KERNEL.answer(step, replace(work, jobs=j, products={})), step, work) for j in (1, 3)]
    assert np.array_equal(tables[0].losses, tables[1].losses)
    for part in tables[0].parts:
        a, b = (table.responses(0, part) for table in tables)
        assert a is not None
        assert b is not None
        assert a.predict_proba is None or np.array_equal(a.predict_proba, b.predict_proba)  # type: ignore[arg-type]


def test_a_small_budget_cuts_candidates() -> None:
    step, work = posed(tuned(MultinomialNB()), *words())
    assert worst_difference(step, replace(work, budget=4_000, room=0, products={})) < 1e-12


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (CategoricalNB(), "CategoricalNB is not GaussianNB"),
        (make_pipeline(MinMaxScaler(), GaussianNB()), "MinMaxScaler stands before GaussianNB"),
        (make_pipeline(MinMaxScaler(), MultinomialNB()), "MinMaxScaler stands before MultinomialNB"),
        (make_pipeline(StandardScaler(), MultinomialNB()), "a step stands before"),
        (MultinomialNB(alpha=[0.5] * 8), "alpha is not one number"),
        (GaussianNB(priors=[0.5, 0.5]), "not one number above 0 for each class"),
        (GaussianNB(priors=[0.5, 0.5, 0.5]), "do not sum to 1"),
        (GaussianNB(priors=[0.5, 0.5, 0.0]), "not one number above 0 for each class"),
    ],
)
def test_learners_it_refuses(learner: Any, reason: str) -> None:
    assert any(reason in one for one in refusals_of(learner, *words()))


@pytest.mark.parametrize(
    ("learner", "change", "reason"),
    [
        (GaussianNB(), lambda X: X.astype(np.float32), "type float32"),
        (GaussianNB(), sparse.csr_array, "X is sparse"),
        (MultinomialNB(), lambda X: X - 1, "negative values"),
        (BernoulliNB(), lambda X: X.astype(np.float16), "float16"),
    ],
)
def test_data_it_refuses(learner: Any, change: Any, reason: str) -> None:
    X, y = words()
    assert any(reason in one for one in refusals_of(learner, change(X), y))


def test_training_sets_without_a_class_are_refused() -> None:
    X, y = words(kinds=2)
    y[:2] = 2
    assert "a class is absent from the training rows" in refusals_of(
        MultinomialNB(), X, y, test=ho.KFold(5, shuffle=False, stratify=False)
    )


def test_explain_names_rule_and_tier() -> None:
    lines = ho.explain(tuned(), *numbers(), test=ho.KFold(3)).lines
    assert {(line.rule, line.tier) for line in lines} == {("bayes", "rounding")}
    result = ho.evaluate(tuned(), *numbers(), test=ho.KFold(3), progress=False)
    found = {(check["kernel"], check["level"]): check["passed"] for check in result.summary()["plan"]["checks"]}
    assert found == {("bayes", "test"): True, ("bayes", "validation"): True}
