"""Nearest neighbours: one search gives what a fit of each candidate on each training set gives, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.api.learners import as_search
from heldout.backends.threads import one_thread
from heldout.engine.run import work_of
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.neighbours import answers, shared
from heldout.kernels.neighbours.arithmetic import doubtful, setting_of
from heldout.kernels.neighbours.kernel import KERNEL
from heldout.kernels.neighbours.lists import EuclideanSearcher, list_length, smallest
from heldout.kernels.step import Held, Step, Training, Work
from heldout.study.answers import PanelTable, Tables
from heldout.study.study import pose_tuning
from heldout.task import declare

BOTH = ["uniform", "distance"]
SPACE = {"n_neighbors": [1, 2, 3, 8], "weights": BOTH}


def asked(learner: Any, X: Any, y: Any, **roles: Any) -> tuple[Work, list[Step]]:
    """The work of fitting a tuned learner, and the steps that the kernel claims of it."""
    task = declare(X, y, classification=is_classifier(learner), **roles)
    study = pose_tuning(as_search(learner, seed=0), task, task.all_rows)
    work = work_of(study, task, {})
    (panel,) = study.panels
    steps = []
    for group in KERNEL.claim(study.search, task).groups:
        trainings = [
            Training(panel.trains_of(part), False, (Held(panel.key, panel.level, panel.splits, part),))
            for part in panel.parts
        ]
        taken = tuple(t for t in trainings if KERNEL.refuses(study.search, task, t, study.splits) is None)
        steps.append(
            Step(kernel="neighbours", rule="", tier="identical", candidates=group, trainings=taken, fits=len(taken))
        )
    return replace(work, keep_responses=frozenset([panel.key])), steps


def table(work: Work, steps: list[Step], answer: Any) -> Any:
    """The answers of these steps, as a table."""
    tables = Tables()
    (key,) = work.keep_responses
    candidates = range(len(work.search))
    splits = next(iter(work.splits.values()))
    parts, losses = range(len(splits)), len(work.search.losses)
    tables.panels[key] = PanelTable.empty(candidates, parts, losses, sizes=splits.held_sizes)
    with one_thread():
        for step in steps:
            for one in answer(step, work):
                tables.put(one)
    return tables[key], tables.warnings_in_order()


def differences(learner: Any, X: Any, y: Any, *, jobs: int = 2, budget: int = 1 << 30) -> int:
    """How many cells differ from brute force in a bit of a response or a loss."""
    work, steps = asked(learner, X, y)
    ours, our_warnings = table(replace(work, jobs=jobs, budget=budget, products={}), steps, KERNEL.answer)
    theirs, their_warnings = table(work, steps, answer_by_brute_force)
    assert ours.answered.any()
    assert np.array_equal(ours.answered, theirs.answered)
    assert our_warnings == their_warnings
    assert ours.failures.keys() == theirs.failures.keys()
    wrong = int((ours.losses != theirs.losses)[np.isfinite(theirs.losses)].sum())
    for candidate, part in zip(*np.nonzero(theirs.answered), strict=True):
        a, b = ours.responses(candidate, part), theirs.responses(candidate, part)
        for method in ("predict", "predict_proba"):
            mine, other = getattr(a, method), getattr(b, method)
            if other is not None:
                assert mine.dtype == other.dtype
                wrong += not np.array_equal(mine, other)
    return wrong


def problem(n: int, p: int, *, digits: int | None = None, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if digits is not None:
        X = np.round(X, digits)
    z = X[:, 0] * 1.3 + 0.3 * rng.normal(size=n)
    return X, np.digitize(z, [-0.5, 0.5]), z


@pytest.mark.parametrize("columns", [3, 18])
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_classes_do_not_differ(columns: int, digits: int | None, loss: str) -> None:
    X, y, _ = problem(100, columns, digits=digits)
    learner = ho.Tuned(KNeighborsClassifier(), SPACE, validation=ho.KFold(4), loss=loss, random_state=0)
    assert differences(learner, X, y) == 0


@pytest.mark.parametrize("columns", [3, 18])
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("outputs", [1, 2])
def test_numbers_do_not_differ(columns: int, digits: int | None, outputs: int) -> None:
    X, _, z = problem(100, columns, digits=digits)
    learner = ho.Tuned(KNeighborsRegressor(), SPACE, validation=ho.KFold(4), random_state=0)
    assert differences(learner, X, z if outputs == 1 else np.stack([z, np.exp(z)], axis=1)) == 0


@pytest.mark.parametrize("validation", [ho.LeaveOneOut(), ho.Resample(3, held_out=0.3), ho.KFold(3, repeats=2)])
@pytest.mark.parametrize("columns", [2, 17])
def test_recipes_do_not_differ(validation: Any, columns: int) -> None:
    X, y, _ = problem(30, columns, digits=1)
    space = {"n_neighbors": [1, 2, 4], "weights": BOTH}
    learner = ho.Tuned(KNeighborsClassifier(), space, validation=validation, random_state=0)
    assert differences(learner, X, y) == 0


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "hamming"])
@pytest.mark.parametrize("columns", [3, 17])
def test_metrics_do_not_differ(metric: str, columns: int) -> None:
    X, y, _ = problem(80, columns, digits=1)
    learner = ho.Tuned(KNeighborsClassifier(metric=metric), SPACE, validation=ho.KFold(3), random_state=0)
    assert differences(learner, X, y) == 0


@pytest.mark.parametrize("columns", [3, 18])
def test_behind_a_scaler_nothing_differs(columns: int) -> None:
    X, y, _ = problem(90, columns)
    space = {f"knn__{name}": values for name, values in SPACE.items()}
    pipeline = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
    frame = pd.DataFrame(X * 10.0 ** np.arange(columns).clip(max=6), columns=[f"x{j}" for j in range(columns)])
    learner = ho.Tuned(pipeline, space, validation=ho.KFold(3), random_state=0)
    assert differences(learner, frame, np.array(["low", "mid", "high"])[y]) == 0


def test_columns_far_from_zero_do_not_differ() -> None:
    """There the library's brute force gets distances wrong in the fourth digit, and its choice is what counts."""
    X, _, z = problem(100, 18)
    learner = ho.Tuned(KNeighborsRegressor(), SPACE, validation=ho.KFold(3), random_state=0)
    assert differences(learner, X + 1e6, z) == 0


def test_ties_are_what_the_repair_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it rounded data give other answers: the tests above can fail."""
    X, y, _ = problem(100, 3, digits=0)
    learner = ho.Tuned(KNeighborsClassifier(), SPACE, validation=ho.KFold(4), random_state=0)
    none = lambda tied, alike, ks, *, order: (np.zeros((len(tied), len(ks)), bool), np.zeros((len(tied), len(ks)), int))  # noqa: E731
    monkeypatch.setattr(answers, "doubtful", none)
    assert differences(learner, X, y) > 0


@pytest.mark.parametrize(("jobs", "budget"), [(1, 1 << 30), (3, 1 << 30), (2, 20_000)])
def test_threads_and_memory_change_no_bit(jobs: int, budget: int) -> None:
    X, y, _ = problem(150, 4, digits=1)
    learner = ho.Tuned(KNeighborsClassifier(), SPACE, validation=ho.KFold(5), loss="log", random_state=0)
    assert differences(learner, X, y, jobs=jobs, budget=budget) == 0


def test_a_fit_that_warns_is_left_to_brute_force_with_its_warnings() -> None:
    X, y, _ = problem(60, 4)
    X[:, 2] = 1.0
    pipeline = make_pipeline(SelectKBest(k=2), KNeighborsClassifier())
    space = {f"kneighborsclassifier__{name}": values for name, values in SPACE.items()}
    learner = ho.Tuned(pipeline, space, validation=ho.KFold(3), random_state=0)
    assert differences(learner, X, y) == 0
    work, steps = asked(learner, X, y)
    assert table(work, steps, KERNEL.answer)[1]


def test_a_later_step_reads_the_lists_of_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = problem(120, 3)
    learner = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, validation=ho.KFold(4), random_state=0)
    work, (step,) = asked(learner, X, y)
    found: list[int] = []
    make = shared.make_lists
    monkeypatch.setattr(shared, "make_lists", lambda *a, **k: found.append(1) or make(*a, **k))
    list(KERNEL.answer(step, work))
    list(KERNEL.answer(replace(step, candidates=(1,), trainings=step.trainings[:2]), work))
    assert len(found) == 1


def test_one_group_for_each_scaler_and_one_for_none() -> None:
    X, y, _ = problem(60, 3)
    pipeline = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
    space = {"scale": [StandardScaler(), "passthrough"], "knn__n_neighbors": [1, 3], "knn__p": [1, 2]}
    learner = ho.Tuned(pipeline, space, validation=ho.KFold(3), random_state=0)
    _, steps = asked(learner, X, y)
    assert sorted(len(step.candidates) for step in steps) == [2, 2, 2, 2]
    assert differences(learner, X, y) == 0


class Own(KNeighborsClassifier):  # type: ignore[misc]
    """A subclass may predict in another way."""


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (Own(), "is not KNeighborsClassifier or KNeighborsRegressor"),
        (Ridge(), "is not KNeighborsClassifier or KNeighborsRegressor"),
        (KNeighborsClassifier(weights=np.ones_like), "weights is a function"),
        (KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()), "metric is a function"),
        (KNeighborsClassifier(p=0.5, algorithm="brute"), "p below 1"),
        (KNeighborsClassifier(n_neighbors=0), "no whole number"),
        (KNeighborsClassifier(metric_params={"p": 3}), "metric_params holds p"),
    ],
)
def test_what_is_not_claimed_has_a_reason(estimator: Any, reason: str) -> None:
    X, y, _ = problem(40, 3)
    claims = KERNEL.claim(as_search(estimator, seed=0), declare(X, y, classification=True))
    assert not claims.groups
    assert reason in claims.refusals[0]


def _refusal(estimator: Any, X: Any, y: Any, test: Any, *, space: Any = None) -> list[str | None]:
    learner = ho.Tuned(estimator, space or {"n_neighbors": [3]}, validation=test, random_state=0)
    task = declare(X, y, classification=is_classifier(estimator))
    study = pose_tuning(as_search(learner, seed=0), task, task.all_rows)
    (panel,) = study.panels
    return [
        KERNEL.refuses(
            study.search,
            task,
            Training(panel.trains_of(part), False, (Held(panel.key, panel.level, panel.splits, part),)),
            study.splits,
        )
        for part in panel.parts
    ]


def test_trainings_that_lack_a_class_or_have_too_few_rows_are_refused() -> None:
    X, y, _ = problem(60, 3)
    y[:] = y > 1
    y[:5] = 2
    reasons = _refusal(
        KNeighborsClassifier(), X, y, ho.KFold(4, shuffle=False, stratify=False), space={"n_neighbors": [1, 3]}
    )
    assert reasons == ["a class is absent from the training rows", None, None, None]
    reasons = _refusal(KNeighborsClassifier(), X, y, ho.KFold(3), space={"n_neighbors": [1, 41]})
    assert reasons == ["a candidate asks for 41 neighbours of 40 training rows"] * 3


def test_one_candidate_is_worth_a_shared_search_only_where_there_are_many_parts() -> None:
    X, y, _ = problem(2000, 3)
    assert all("cheaper" in str(reason) for reason in _refusal(KNeighborsClassifier(), X, y, ho.KFold(5)))
    assert _refusal(KNeighborsClassifier(), X[:500], y[:500], ho.LeaveOneOut()) == [None] * 500


def test_weights_of_rows_are_refused() -> None:
    X, y, _ = problem(40, 3)
    task = declare(X, y, classification=True, sample_weight=np.ones(40))
    claims = KERNEL.claim(as_search(KNeighborsClassifier(), seed=0), task)
    assert not claims.groups
    assert "weights" in claims.refusals[0]


@pytest.mark.parametrize("columns", [3, 15, 16])
@pytest.mark.parametrize("metric", ["minkowski", "cosine", "canberra", "manhattan"])
@pytest.mark.parametrize("k", [1, 19, 20, 21])
def test_the_backend_is_the_one_scikit_learn_takes(columns: int, metric: str, k: int) -> None:
    X, y, _ = problem(40, columns)
    knn = KNeighborsClassifier(k, metric=metric)
    setting = setting_of(knn, declare(X, y, classification=True))
    assert setting is not None
    fitted = knn.fit(X, y)
    assert setting.method(k, len(X)) == fitted._fit_method
    assert setting.euclidean == (fitted.effective_metric_ == "euclidean")


@given(st.integers(1, 40), st.integers(0, 5), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_the_smallest_numbers_are_found(wanted: int, seed: int, width: int) -> None:
    values = np.random.default_rng(seed).integers(-50, 50, (7, width)).astype(float)
    far, places = smallest(values, wanted)
    assert np.array_equal(far, np.sort(values, axis=1)[:, :wanted])
    assert np.array_equal(np.take_along_axis(values, places, axis=1), far)
    assert all(len(set(line)) == len(line) for line in places)


@pytest.mark.parametrize("length", [5, 60, 300])
def test_lists_are_those_of_a_full_sort(length: int) -> None:
    X, _, _ = problem(300, 5)
    rows = np.array([4, 200, 17])
    found = EuclideanSearcher(X + 100.0).find(rows, length)
    true = ((X[rows][:, None] - X[None]) ** 2).sum(axis=2)
    assert np.array_equal(found.rows, np.argsort(true, axis=1)[:, :length])
    assert np.allclose(found.far, np.sort(true, axis=1)[:, :length])
    if length < 300:
        assert (found.reach >= found.far[:, -1] - found.slack).all()


def test_ties_open_only_what_they_can_change() -> None:
    # Neighbours 0 1 2 3 4 (one past the largest k of 4); 1, 2 and 3 are tied.
    tied = np.array([[False, True, True, False]])
    ks = np.arange(1, 5)
    unlike, alike = np.zeros((1, 4), dtype=bool), np.ones((1, 4), dtype=bool)
    opened, loose = doubtful(tied, unlike, ks, order=False)
    assert opened.tolist() == [[False, True, True, False]]
    assert loose.tolist() == [[0, 1, 2, 0]]
    assert doubtful(tied, unlike, ks, order=True)[0].tolist() == [[False, True, True, True]]
    assert not doubtful(tied, alike, ks, order=True)[0].any()
    # Who is tied with the last is not known.
    assert doubtful(np.array([[False, False, False, True]]), alike, ks, order=False)[0].tolist() == [
        [False, False, False, True]
    ]


def test_lists_are_long_enough_for_most_rows() -> None:
    length = list_length(51, 0.64)
    drawn = np.random.default_rng(0).binomial(length, 0.64, 10_000)
    assert (drawn >= 51).mean() > 0.995
    assert length < 2 * 51 / 0.64


def test_leave_one_out_takes_no_loop_over_cells() -> None:
    """Ten thousand cells in a blink: brute force would take seconds."""
    X, y, _ = problem(1000, 5)
    learner = ho.Tuned(
        KNeighborsClassifier(), {"n_neighbors": range(1, 11)}, validation=ho.LeaveOneOut(), random_state=0
    )
    work, steps = asked(learner, X, y)
    (step,) = steps
    (block,) = list(KERNEL.answer(step, work))
    assert block.losses.shape == (10, 1000, 1)
    few = replace(step, trainings=step.trainings[500:503])
    theirs = np.array([one.losses[0, 0, 0] for one in answer_by_brute_force(few, work)]).reshape(3, 10).T
    assert np.array_equal(block.losses[:, 500:503, 0], theirs)
