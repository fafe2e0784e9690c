"""Records of answers: what is written is read back, cell by cell or whole, and losses are taken anew where asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.base.responses import Responses
from heldout.journal.records import Needed, RecordedCells, decode, encode, joined, record_of
from heldout.kernels.scoring import failed_cell, score_block, score_cell
from heldout.kernels.step import Held, Work
from heldout.study.answers import Failure, FitWarning
from heldout.study.study import TEST

FAILED = Failure(kind="ValueError", message="no", traceback="", stage="fit")
TOLD = FitWarning(category="UserWarning", message="careful")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 2)), np.arange(40) % 2


@pytest.fixture
def work(asked: Any) -> Work:
    question = asked(LogisticRegression(), X, y, test=ho.KFold(4), loss=["log", "zero_one", "roc_auc"])
    study = question.study
    return Work(
        task=question.task,
        search=study.search,
        splits=study.splits,
        losses={TEST: study.reported},
        keep_rows=frozenset({"test"}),
        keep_responses=frozenset({"test"}),
    )


def held(part: int) -> Held:
    return Held("test", TEST, "outer", part)


def responses(work: Work, parts: range, *, order: str = "C") -> Responses:
    """Probabilities for the held-out rows of these parts."""
    n = sum(len(work.held_rows(held(part))) for part in parts)
    proba = np.asarray(rng.dirichlet([1, 1], n), order=order)
    return Responses(predict=proba.argmax(axis=1), predict_proba=proba, classes=np.arange(2))


def needed(work: Work, keys: str = "abc") -> Needed:
    return Needed(work=work, losses={TEST: list(keys)})


def recorded(answer: Any, work: Work, *candidates: int) -> RecordedCells:
    """These candidates of an answer that was written and read, under numbers that are ten higher in the study."""
    record = decode(encode(record_of(answer, list(answer.candidates), ["a", "b", "c"])))
    places = [answer.candidates.index(candidate) for candidate in candidates]
    helds = [held(part) for part in answer.parts]
    return RecordedCells(record=record, candidates=[c + 10 for c in candidates], places=places, helds=helds)


def test_a_block_is_read_as_it_was_written(work: Work) -> None:
    parts = range(1, 3)
    made = [responses(work, parts), responses(work, parts)]
    (block,) = score_block(work, [held(part) for part in parts], (0, 3), made, seconds=4.0)
    (found,) = recorded(block, work, 3).answers(needed(work)) or ()
    assert (found.candidates, found.parts) == ((13,), parts)
    assert np.array_equal(found.losses, block.losses[1:])
    assert [None if one is None else one.tolist() for one in found.rows or ()] == [
        None if one is None else one[1:].tolist() for one in block.rows or ()
    ]
    assert np.array_equal((found.responses or ())[0].predict_proba, made[1].predict_proba)
    assert np.array_equal(np.broadcast_to(found.fit_seconds, (1, 2)), [[1.0, 1.0]])


def test_cells_of_a_side_are_joined_by_what_is_kept_of_them(work: Work) -> None:
    sound = [score_cell(work, held(1), c, responses(work, range(1, 2)), fit_seconds=float(c)) for c in (0, 2)]
    failed = failed_cell(work, held(1), 1, FAILED, warnings=(TOLD,), fit_seconds=7.0)
    whole, alone = joined([sound[0].warned((TOLD,)), failed, sound[1]])
    assert (whole.candidates, alone.candidates) == ((0, 2), (1,))
    (found,) = recorded(whole, work, 2, 0).known(needed(work))
    assert np.array_equal(found.losses, whole.losses[::-1])
    assert np.array_equal(found.fit_seconds, [[2.0], [0.0]])
    assert found.warnings == {(10, 1): (TOLD,)}
    (found,) = recorded(alone, work, 1).known(needed(work))
    assert (found.failures, found.warnings) == ({(11, 1): FAILED}, {(11, 1): (TOLD,)})
    assert np.isnan(found.losses).all()
    assert found.rows is found.responses is None


def test_other_losses_are_taken_of_recorded_responses_where_these_suffice(work: Work) -> None:
    own = responses(work, range(1))
    cell = score_cell(work, held(0), 0, own)
    fewer = replace(work, losses={TEST: work.losses[TEST][1:2]})
    (found,) = recorded(cell, work, 0).known(needed(fewer, "b"))
    assert np.array_equal(found.losses, cell.losses[:, :, 1:2])
    assert (found.responses or ())[0].predict_proba is None, "as if labels alone had been asked for"
    bare = score_cell(replace(work, keep_responses=frozenset()), held(0), 0, own)
    assert recorded(bare, work, 0).known(needed(fewer, "b")) == []
    assert recorded(cell.warned((TOLD,)), work, 0).known(needed(fewer, "b")) == [], "it may be of a loss that is gone"


@pytest.mark.parametrize(("stage", "suffices"), [("fit", True), ("predict", False), ("score", False)])
def test_of_failures_those_of_fits_alone_stay_where_other_losses_are_asked(
    work: Work, stage: str, suffices: bool
) -> None:
    failure = replace(FAILED, stage=stage)
    (both,) = joined([failed_cell(work, held(0), c, failure) for c in (0, 1)])
    fewer = replace(work, losses={TEST: work.losses[TEST][:1]})
    found = recorded(both, work, 0, 1).known(needed(fewer, "a"))
    assert [(one.candidates, one.losses.shape) for one in found] == [((10,), (1, 1, 1)), ((11,), (1, 1, 1))] * suffices


def test_the_order_of_responses_in_memory_is_kept(work: Work) -> None:
    """Sums along an axis may depend on it in their last bit; one array may be what several candidates share."""
    own = responses(work, range(1), order="F")
    (both,) = joined([score_cell(work, held(0), c, own) for c in (0, 1)])
    (found,) = recorded(both, work, 0, 1).known(needed(work))
    assert [one.predict_proba.flags.f_contiguous for one in found.responses or ()] == [True, True]
