"""Studies of streams against the same studies in memory: the same rows, folds and candidates, row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.api.question import prepare
from heldout.base.options import Options
from heldout.engine.run import Running, run_study
from heldout.engine.streams import run_streamed
from heldout.kernels.sums.dataset import Shift
from heldout.results.study_record import Request
from heldout.splits.drawn import Splits
from heldout.study.study import TEST
from heldout.task import declare

ALPHAS = ho.log_grid(-4, 3, 5)


def make_frame(n=1_500, columns=6, *, seed=0, offset=30.0, classes=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns)) * random.uniform(0.1, 9.0, columns) + random.normal(size=columns) * offset
    values = (X - X.mean(axis=0)) / X.std(axis=0) @ random.normal(size=columns) + random.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    if classes:
        labels = np.array(["ant", "bee", "cat", "dog"])[:classes]
        return frame.assign(y=labels[np.digitize(values, np.quantile(values, np.arange(1, classes) / classes))])
    return frame.assign(y=values)


def asked_and_streamed(learner, path, *, rows=False, **given):
    request = Request(**{"test": ho.KFold(5), "seed": 3, **given}, options=Options(rows=rows))
    question = prepare(learner, path, "y", request)
    streamed = run_streamed(
        question.study, question.stream.source, question.stream.families, Running(options=Options(rows=rows))
    )
    return question, streamed


def in_memory(question, frame, *, rules=None):
    """The same study with every cell replaced by its rows, answered by the ordinary engine."""
    source = question.stream.source
    labels = np.concatenate(list(source.each(lambda chunk, cells, codes: cells)))
    cells = [np.flatnonzero(labels == cell) for cell in range(source.plan.cells)]

    def as_rows(splits):
        rows = np.sort(np.concatenate([cells[cell] for cell in splits.rows]))
        held = [np.sort(np.concatenate([cells[c] for c in splits.held_rows(part)])) for part in range(len(splits))]
        return Splits.from_pairs(rows, [(None, one) for one in held], splits.recipe)

    study = question.study
    study = replace(study, splits={name: as_rows(one) for name, one in study.splits.items()})
    task = declare(frame.drop(columns="y"), frame["y"], classification=source.task.classification)
    return run_study(study, task, Running(backend="inline", options=Options(rules=rules)))


def assert_same(streamed, memory, *, within=1e-9):
    ours, theirs = streamed.outcome, memory
    assert ours.study.chosen.keys() == theirs.study.chosen.keys()
    for key, chosen in theirs.study.chosen.items():
        assert ours.study.chosen[key].candidate == chosen.candidate
    assert ours.tables.panels.keys() == theirs.tables.panels.keys()
    for key, table in theirs.tables.panels.items():
        np.testing.assert_allclose(ours.tables[key].losses, table.losses, rtol=within, atol=0)
    for name, splits in theirs.study.splits.items():
        np.testing.assert_array_equal(ours.study.splits[name].held_sizes, splits.held_sizes)
        np.testing.assert_array_equal(ours.study.splits[name].train_sizes, splits.train_sizes)


@pytest.fixture
def written(tmp_path):
    def write(frame, *, group=700):
        path = tmp_path / "data.parquet"
        frame.to_parquet(path, row_group_size=group, index=False)
        return str(path)

    return write


REGRESSORS = {
    "scaler and ridge": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}),
    "ridge": (Ridge(), {"alpha": ALPHAS}),
    "ridge without intercept": (Ridge(fit_intercept=False), {"alpha": ALPHAS}),
    "scaler without mean": (make_pipeline(StandardScaler(with_mean=False), Ridge()), {"ridge__alpha": ALPHAS}),
    "least squares": (make_pipeline(StandardScaler(), LinearRegression()), {"linearregression__fit_intercept": [True]}),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_nested_regression_equals_the_study_in_memory(written, name):
    frame = make_frame()
    estimator, space = REGRESSORS[name]
    learner = ho.Tuned(estimator, space, validation=ho.KFold(4), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame))
    assert streamed.run.passes == 1
    assert_same(streamed, in_memory(question, frame))


def test_nested_regression_equals_brute_force(written):
    frame = make_frame()
    estimator, space = REGRESSORS["scaler and ridge"]
    learner = ho.Tuned(estimator, space, validation=ho.KFold(3), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), test=ho.KFold(3))
    assert_same(streamed, in_memory(question, frame, rules={"ridge": False}))


CLASSIFIERS = {
    "bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.5]}),
    "scaler and bayes": (make_pipeline(StandardScaler(), GaussianNB()), {"gaussiannb__var_smoothing": [1e-9, 0.1]}),
    "discriminant": (LinearDiscriminantAnalysis(), {"tol": [1e-4]}),
    "shrunken discriminant": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.1, 0.9]}),
    "ridge classifier": (make_pipeline(StandardScaler(), RidgeClassifier()), {"ridgeclassifier__alpha": ALPHAS}),
    "balanced": (RidgeClassifier(class_weight="balanced"), {"alpha": ALPHAS}),
    "weighted": (
        make_pipeline(StandardScaler(), RidgeClassifier(class_weight={"ant": 5.0})),
        {"ridgeclassifier__alpha": ALPHAS},
    ),
}


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_nested_classification_equals_the_study_in_memory(written, name, classes):
    frame = make_frame(900, classes=classes)
    estimator, space = CLASSIFIERS[name]
    learner = ho.Tuned(estimator, space, validation=ho.KFold(2), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), test=ho.KFold(3))
    assert streamed.run.passes == 2
    assert_same(streamed, in_memory(question, frame))


@pytest.mark.parametrize("test", [ho.KFold(5), ho.Holdout(0.2), ho.KFold(4, shuffle=False), ho.Resample(3, 0.25)])
@pytest.mark.parametrize("validation", [ho.KFold(5), ho.Holdout(0.25), ho.SharedBlocks()])
def test_every_recipe_equals_the_study_in_memory(written, test, validation):
    if isinstance(validation, ho.SharedBlocks) and not isinstance(test, ho.KFold):
        pytest.skip("SharedBlocks needs a partition")
    if getattr(test, "shuffle", None) is False and not isinstance(validation, ho.SharedBlocks):
        validation = replace(validation, shuffle=False)
    frame = make_frame(2_000)
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=validation, random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), test=test)
    assert_same(streamed, in_memory(question, frame))


def test_given_folds_are_obeyed_row_by_row(written):
    frame = make_frame(1_200)
    labels = np.random.default_rng(5).integers(-1, 3, len(frame))
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(4), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), test=ho.Given(folds=labels))
    outer = streamed.outcome.study.splits["outer"]
    np.testing.assert_array_equal(outer.held_sizes, np.bincount(labels[labels >= 0]))
    assert_same(streamed, in_memory(question, frame))


@pytest.mark.parametrize("loss", ["squared", "r2", "neg_root_mean_squared_error", "absolute", ["r2", "absolute"]])
def test_losses_from_sums_and_from_rows(written, loss):
    frame = make_frame(1_500)
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), loss=loss, random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), loss=loss)
    assert streamed.run.passes == (2 if "absolute" in loss else 1)
    assert_same(streamed, in_memory(question, frame))


def test_log_loss_of_bayes(written):
    frame = make_frame(1_500, classes=3)
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, validation=ho.KFold(3), loss="log")
    question, streamed = asked_and_streamed(learner, written(frame), loss=["log", "zero_one"])
    assert_same(streamed, in_memory(question, frame))


def test_columns_far_from_zero_keep_their_digits(written):
    frame = make_frame(2_000, offset=1e7)
    learner = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}, random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame))
    exact = frame - np.round(frame.mean())  # the same numbers, moved without rounding
    moved = exact.assign(y=frame["y"])
    assert_same(streamed, in_memory(question, moved), within=1e-8)


def test_first_rows_far_from_the_others_take_a_second_pass(written, monkeypatch):
    def far(chunk, *, regression):
        return Shift(x=np.full(len(chunk.columns), 1e6), y=np.full(1, -1e6))

    monkeypatch.setattr("heldout.data.stream.first_shift", far)
    frame = make_frame(1_500)
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame))
    assert streamed.run.passes == 2
    assert_same(streamed, in_memory(question, frame))


def test_near_noiseless_losses_are_taken_from_rows(written):
    frame = make_frame(1_000)
    frame["y"] = frame.drop(columns="y").sum(axis=1) + 1e-6 * np.random.default_rng(0).normal(size=len(frame))
    learner = ho.Tuned(Ridge(), {"alpha": [1e-8, 1e-7]}, validation=ho.KFold(2), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame))
    assert streamed.run.passes == 3  # statistics, rows of validation, rows of the test
    assert "lost digits" in str(streamed.outcome.account)
    memory = in_memory(question, frame)
    for key in ("validation/0", "validation/1"):
        np.testing.assert_allclose(
            streamed.outcome.tables[key].losses, memory.tables[key].losses, rtol=0, atol=1e-9 * frame["y"].var()
        )


@pytest.mark.parametrize("kind", [np.float32, np.int16, np.int64, np.uint8, np.bool_])
def test_column_types(written, kind):
    frame = make_frame(1_500, offset=2.0)
    X = (frame.drop(columns="y") * 3).round().clip(0, 200).astype(kind)
    frame = X.assign(y=frame["y"])
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame))
    memory = in_memory(question, X.astype(np.float64).assign(y=frame["y"]))
    assert_same(streamed, memory)


def test_the_layout_of_the_file_decides_nothing_but_rounding(tmp_path, monkeypatch):
    monkeypatch.setattr("heldout.data.parquet.MOST_ROWS", 256)
    frame = make_frame(3_000)
    folder = tmp_path / "many"
    folder.mkdir()
    for number, start in enumerate(range(0, 3_000, 1_000)):
        frame.iloc[start : start + 1_000].to_parquet(folder / f"part-{number}.parquet", row_group_size=300)
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), random_state=1)
    question, streamed = asked_and_streamed(learner, str(folder))
    assert question.stream.source.stream.rows == 3_000
    assert_same(streamed, in_memory(question, frame))


def test_the_same_question_has_the_same_bits(written):
    path = written(make_frame())
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), random_state=1)
    (_, first), (_, second) = asked_and_streamed(learner, path), asked_and_streamed(learner, path)
    for key, table in first.outcome.tables.panels.items():
        assert table.losses.tobytes() == second.outcome.tables[key].losses.tobytes()
    _, other = asked_and_streamed(learner, path, seed=4)
    assert (
        other.outcome.tables["validation/0"].losses.tobytes() != first.outcome.tables["validation/0"].losses.tobytes()
    )


def test_rows_that_are_kept_are_those_of_the_study_in_memory(written):
    frame = make_frame(1_000)
    learner = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.KFold(3), random_state=1)
    question, streamed = asked_and_streamed(learner, written(frame), rows=True)
    memory = in_memory(question, frame)
    assert streamed.run.passes == 2
    for part, tally in enumerate(streamed.outcome.stream.kept):
        rows = np.concatenate(tally.rows)
        np.testing.assert_array_equal(np.sort(rows), memory.study.splits["outer"].held_rows(part))
        (panel,) = (p for p in memory.study.of_level(TEST) if part in p.parts)
        table = memory.tables[panel.key]
        theirs = table.responses(table.candidates[0], part).predict
        np.testing.assert_allclose(np.concatenate(tally.predicted), theirs[np.argsort(np.argsort(rows))], rtol=1e-9)


def test_test_answers_of_unchosen_candidates_are_gone(written):
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1e-2, 1.0]}, validation=ho.KFold(3))
    _, streamed = asked_and_streamed(learner, written(make_frame(900, classes=2)))
    for panel in streamed.outcome.study.of_level(TEST):
        table = streamed.outcome.tables[panel.key]
        assert len(table.candidates) == 1
        assert table.losses.shape == (1, 1, 1)


def test_a_kernel_that_errs_is_caught_on_the_sample(written, monkeypatch):
    from heldout.base.errors import FitFailed
    from heldout.kernels.statistics import linear

    right = linear.solve

    def wrong(normal, alphas, *, cutoff):
        solved = right(normal, alphas, cutoff=cutoff)
        return replace(solved, coef=solved.coef * (1 + 1e-7))

    monkeypatch.setattr(linear, "solve", wrong)
    with pytest.raises(FitFailed, match="On a sample of the stream, statistics differ"):
        asked_and_streamed(Ridge(), written(make_frame(800)))
