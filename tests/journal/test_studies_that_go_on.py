"""Studies with a journal: the same numbers, nothing computed twice, more asked than before, and lost answers."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from journal_runs import Counted, fits, run, tuned
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import heldout as ho
from heldout.catalogue.learners import learner_named
from heldout.engine.run import work_of
from heldout.journal import journal_of, list_studies, open_journal, read_splits
from heldout.kernels import brute
from heldout.kernels.perform import perform
from heldout.kernels.step import cut_brute_force, plan_brute_force
from heldout.planner.checked_cells import KernelCheck
from heldout.planner.plan import ready_panels
from heldout.study.answers import Tables


def saved(result: ho.Result, folder: Path) -> dict[str, bytes]:
    """All bytes of a saved result but times."""
    path = folder / "result.heldout"
    result.save(path)
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}

    def timeless(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if name != "seconds" and not name.endswith("_seconds")}

    facts = json.loads(content["result.json"], object_pairs_hook=timeless)
    return {**content, "result.json": json.dumps(facts).encode()}


LEARNERS: dict[str, Callable[[], Any]] = {
    "brute force": tuned,
    "untuned": lambda: Counted(0.1),
    "warnings": lambda: tuned(warns_at=0.2),
    "failures": lambda: tuned(fails_at=0.4),
    "ridge": lambda: ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, validation=ho.KFold(2)),
    "neighbours": lambda: ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 3, 5]}, validation=ho.KFold(2)),
    "within": lambda: ho.Tuned(
        make_pipeline(StandardScaler(), SVR()), {"svr__C": [0.1, 1.0]}, validation=ho.KFold(2), final="ensemble"
    ),
    "paths": lambda: ho.Tuned(RandomForestRegressor(), {"n_estimators": [2, 3]}, validation=ho.Holdout(0.3)),
    "shared blocks": lambda: ho.Tuned(SVR(), {"C": [0.1, 1.0]}, validation=ho.SharedBlocks()),
    "families": lambda: ho.Tuned(
        {"ridge": (Ridge(), {"alpha": [1.0]}), "svr": (SVR(), {"C": [1.0, 2.0]})}, validation=ho.KFold(2)
    ),
    "equal candidates": lambda: ho.Tuned(SVR(), {"C": [1.0, 1.0, 2.0]}, validation=ho.KFold(2)),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("detail", [None, "losses", "summaries"])
def test_with_a_journal_new_or_full_the_bytes_are_the_same(
    name: str, detail: str | None, data: tuple[Any, Any], journal: Path, tmp_path: Path
):
    options = ho.Options(journal_detail=detail)
    learner = LEARNERS[name]
    without = saved(run(learner(), data, None, options=options), tmp_path)
    new = run(learner(), data, journal, options=options)
    full = run(learner(), data, journal, options=options)
    assert saved(new, tmp_path) == without
    assert saved(full, tmp_path) == without
    assert new.journal is not None
    assert full.journal is not None
    assert (new.journal.recalled, full.journal.computed) == (0, 0)
    assert full.journal.recalled == new.journal.computed


def test_the_second_time_nothing_is_fitted(data: tuple[Any, Any], journal: Path):
    run(tuned(), data, journal)
    assert len(fits) == 3 * 2 * 3 + 3
    result = run(tuned(), data, journal)
    assert len(fits) == 3 * 2 * 3 + 3
    assert "21 cells from the journal, 0 computed" in str(result.plan)
    assert "journal" not in result.record.plan["text"]


def test_a_larger_space_fits_only_what_is_new(data: tuple[Any, Any], journal: Path, tmp_path: Path):
    run(tuned(), data, journal)
    fits.clear()
    larger = tuned(shrinks=[0.0, 0.1, 0.2, 0.3, 0.4])
    result = run(larger, data, journal)
    assert set(fits) == {0.1, 0.3}
    assert saved(result, tmp_path) == saved(run(larger, data, None), tmp_path)


@pytest.mark.parametrize("name", ["tuned", "ridge"])
def test_one_more_loss_is_taken_from_recorded_responses(
    name: str, data: tuple[Any, Any], journal: Path, tmp_path: Path
):
    def learner(loss: Any) -> ho.Tuned:
        if name == "tuned":
            return tuned(loss=loss)
        return ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(2), loss=loss)

    run(learner("squared"), data, journal)
    fits.clear()
    more = ["squared", "absolute", "r2"]
    result = run(learner(more), data, journal)
    assert fits == []
    assert result.journal is not None
    assert result.journal.computed == 0
    assert saved(result, tmp_path) == saved(run(learner(more), data, None), tmp_path)


def test_without_responses_one_more_loss_is_computed(data: tuple[Any, Any], journal: Path, tmp_path: Path):
    options = ho.Options(journal_detail="summaries")
    run(tuned(loss="squared"), data, journal, options=options)
    fits.clear()
    result = run(tuned(loss=["squared", "absolute"]), data, journal, options=options)
    assert len(fits) == 18  # the responses of test cells are part of every result, so those three are known
    again = run(tuned(loss=["squared", "absolute"]), data, journal, options=options)
    assert len(fits) == 18
    assert saved(again, tmp_path) == saved(result, tmp_path)
    assert again.findings == result.findings
    assert not {finding.code for finding in again.findings} - {"H302"}


def test_a_loss_that_needs_more_than_was_asked_is_computed(journal: Path, tmp_path: Path):
    iris = load_iris(return_X_y=True)
    learner = LogisticRegression(max_iter=500)
    run(learner, iris, journal, loss="zero_one")
    result = run(learner, iris, journal, loss=["zero_one", "log"])
    assert result.journal is not None
    assert (result.journal.recalled, result.journal.computed) == (0, 3)
    assert saved(result, tmp_path) == saved(run(learner, iris, None, loss=["zero_one", "log"]), tmp_path)
    fewer = run(learner, iris, journal, loss="zero_one")
    assert fewer.journal is not None
    assert fewer.journal.computed == 0
    assert saved(fewer, tmp_path) == saved(run(learner, iris, None, loss="zero_one"), tmp_path)


def test_leave_one_out_and_frames_and_labels_of_text(journal: Path, tmp_path: Path):
    frame, y = load_iris(return_X_y=True, as_frame=True)
    some = np.arange(0, 150, 6)
    labels = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y.to_numpy()[some]]
    rows = (frame.iloc[some].reset_index(drop=True), labels)
    without = run(SVC(), rows, None, test=ho.LeaveOneOut())
    for _ in range(2):
        assert saved(run(SVC(), rows, journal, test=ho.LeaveOneOut()), tmp_path) == saved(without, tmp_path)


def test_a_stopped_study_goes_on_with_what_is_missing(data: tuple[Any, Any], journal: Path, tmp_path: Path):
    real = brute.fit_on_rows

    def stop_after_ten(*args: Any, **kwargs: Any) -> Any:
        if len(fits) == 10:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute, "fit_on_rows", stop_after_ten)
        with pytest.raises(KeyboardInterrupt):
            run(tuned(), data, journal)
    assert len(fits) == 10
    assert [study["state"] for study in list_studies(journal)] == ["unfinished"]
    result = run(tuned(), data, journal)
    assert len(fits) == 21
    assert saved(result, tmp_path) == saved(run(tuned(), data, None), tmp_path)
    assert [study["state"] for study in list_studies(journal)] == ["finished"]


class Drifting(RegressorMixin, BaseEstimator):
    """Answers another number each time: nothing its seed could fix."""

    def fit(self, X: Any, y: Any) -> Drifting:
        fits.append(0.0)
        self.mean_ = float(len(fits))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_two_answers_that_differ_are_reported_and_the_first_stays(data: tuple[Any, Any], journal: Path):
    options = ho.Options(journal_detail="summaries")
    learner = ho.Tuned(Drifting(), {}, validation=ho.KFold(2), loss="squared")
    more = ho.Tuned(Drifting(), {}, validation=ho.KFold(2), loss=["squared", "absolute"])
    first = run(learner, data, journal, options=options)
    run(more, data, journal, options=options)  # computes validation cells again, for the other loss
    again = run(learner, data, journal, options=options)
    assert [finding.code for finding in again.findings if finding.code < "H7"] == ["H501"]
    assert "not deterministic" in again.findings[0].message
    assert again.choices.equals(first.choices)


class Exact(ClassifierMixin, BaseEstimator):
    """Predicts decimals, which are no plain data."""

    def fit(self, X: Any, y: Any) -> Exact:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.array([Decimal(1)] * len(X), dtype=object)


def test_responses_that_are_no_plain_data_are_not_kept_and_that_is_said(journal: Path):
    X, y = np.eye(20)[:, :3], np.array([Decimal(0), Decimal(1)] * 10, dtype=object)
    result = run(Exact(), (X, y), journal)
    # Rows of zeros are equal.
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H601", "H503"]
    assert "an array that holds Decimal" in result.findings[1].message


def test_a_damaged_row_is_computed_again_and_named(data: tuple[Any, Any], journal: Path):
    options = ho.Options(journal_detail="summaries")
    whole = run(tuned(), data, journal, options=options)
    with open_journal(journal) as store:
        store.write([("UPDATE cells SET content = substr(content, 1, 30) WHERE id = 4", ())])
    fits.clear()
    result = run(tuned(), data, journal, options=options)
    assert len(fits) == 1
    damaged = [finding for finding in result.findings if finding.code != "H302"]
    assert [finding.code for finding in damaged] == ["H502"]
    assert "cells/4" in damaged[0].message
    assert result.folds.equals(whole.folds)


def test_a_kernel_that_failed_its_check_is_replaced_from_the_journal_too(
    data: tuple[Any, Any], journal: Path, tmp_path: Path, monkeypatch
):
    learner = LEARNERS["ridge"]()
    from heldout.engine import checks as kernel_checks

    def fail(spot: Any, *rest: Any) -> KernelCheck:
        level = spot.held.level
        return KernelCheck(kernel=spot.kernel, tier=spot.tier, level=level, cell="a cell", difference=1.0, passed=False)

    monkeypatch.setattr(kernel_checks, "compare_cell", fail)
    without = saved(run(learner, data, None), tmp_path)
    assert saved(run(learner, data, journal), tmp_path) == without
    monkeypatch.undo()
    again = run(learner, data, journal)
    assert saved(again, tmp_path) == without
    assert again.journal is not None
    assert again.journal.computed == 0
    assert [finding.code for finding in again.findings if finding.code < "H7"] == ["H205"]


def test_cells_that_are_dropped_are_asked_again_and_no_others(data: tuple[Any, Any], journal: Path, asked: Any):
    question = asked(tuned(), *data, test=ho.KFold(3))
    study, work = question.study, work_of(question.study, question.task, {})
    panels = ready_panels(study, frozenset())
    steps = list(cut_brute_force(plan_brute_force(panels)))

    def tables() -> Tables:
        made = Tables()
        made.open(study, panels)
        return made

    with journal_of(journal, study, work, ho.Options()) as kept:
        for step in steps:
            kept.keep(step, perform(step, work), tables())
        assert kept.recall(steps, tables()) == []
        kept.drop(steps[:1])
        left = tables()
        beside = [
            step for step in steps if step.trainings == steps[0].trainings
        ]  # a row holds all candidates of a side
        assert kept.recall(steps, left) == beside
        assert sum(table.answered.sum() for table in left.panels.values()) == len(steps) - len(beside)
        assert len(steps) == kept.use.computed > len(beside) == 3


def test_on_worker_processes_the_journal_is_the_same(data: tuple[Any, Any], journal: Path, tmp_path: Path):
    learner = ho.Tuned(SVR(), {"C": [0.1, 1.0, 10.0]}, validation=ho.KFold(2))
    result = run(learner, data, journal, jobs=2, backend="processes")
    inline = run(learner, data, journal)
    assert inline.journal is not None
    assert inline.journal.computed == 0
    assert saved(inline, tmp_path) == saved(result, tmp_path)


def test_the_question_and_the_drawn_rows_can_be_read(data: tuple[Any, Any], journal: Path):
    result = run(tuned(), data, journal)
    (study,) = list_studies(journal)
    splits = read_splits(journal, study["study"])
    assert study["learner"] == ["Counted()"]
    assert (study["test"], study["candidates"], study["losses"]) == ("3-fold, shuffled", 3, ["squared"])
    assert (study["rows"], study["columns"], study["state"]) == (60, 3, "finished")
    assert study["seconds"] > 0
    assert splits.keys() == {"outer", "inner/0", "inner/1", "inner/2"}
    assert splits["outer"].fingerprint == result.record.about["splits_fingerprint"]


def test_what_is_asked_beside_a_study_is_kept_too(data: tuple[Any, Any], journal: Path, tmp_path: Path):
    options = ho.Options(learning_curve=True)
    learner = Counted(0.2)
    first = run(learner, data, journal, options=options)
    fits.clear()
    again = run(learner, data, journal, options=options)
    assert fits == []
    assert again.learning_curve.equals(first.learning_curve)


def test_the_predictor_of_a_tuned_learner_uses_the_journal(data: tuple[Any, Any], journal: Path):
    first = run(tuned(), data, journal).predictor
    fits.clear()
    again = run(tuned(), data, journal).predictor
    assert len(fits) == 1  # the predictor itself, which is never an answer
    assert again.mean_ == first.mean_


def rename_every_module_of_ours(monkeypatch: pytest.MonkeyPatch) -> int:
    """Give every class and function of heldout the module path that it would have in a renamed file."""
    things = {
        id(thing): thing
        for name, module in list(sys.modules.items())
        if name.startswith("heldout.")
        for thing in vars(module).values()
        if isinstance(thing, type | FunctionType) and thing.__module__ == name
    }
    for thing in things.values():
        monkeypatch.setattr(thing, "__module__", thing.__module__.replace("heldout.", "heldout.renamed."))
    return len(things)


def test_every_answer_comes_back_though_our_modules_were_renamed(data: tuple[Any, Any], journal: Path, monkeypatch):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=np.where(X[:, 1] > 0, "x", "z"))
    classes = np.where(y > 2, "high", "low")
    by_name, _ = learner_named("ridge", frame, classification=False)

    def ask() -> list[Any]:
        searched = ho.Tuned(
            SVC(), {"C": [1.0, 10.0]}, validation=ho.Holdout(0.3), loss=["balanced_accuracy", "zero_one"]
        )
        return [
            run(searched, (X, classes), journal, loss=["zero_one", "balanced_accuracy"]),
            run(by_name, (frame, y), journal, loss=["squared", "absolute"]),
            run(tuned(), data, journal, loss=ho.row_loss(doubled_error, name="doubled")),
        ]

    first = ask()
    assert all(result.journal.computed for result in first)
    assert rename_every_module_of_ours(monkeypatch) > 500
    again = ask()
    assert [result.journal.computed for result in again] == [0, 0, 0]
    assert [result.risk for result in again] == [result.risk for result in first]


def doubled_error(y: Any, prediction: Any) -> Any:
    return 2 * np.abs(y - prediction)
