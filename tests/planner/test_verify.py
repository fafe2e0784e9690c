"""A plan that would answer anything else than what was asked is caught, whatever a rule did wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.kernels.step import cut_brute_force, plan_brute_force
from heldout.planner.passes import verify
from heldout.planner.plan import Draft, ready_panels
from heldout.planner.share_fits import share_fits
from heldout.study.study import TrainRef

X, y = (part[:40] for part in load_diabetes(return_X_y=True))


@pytest.fixture(scope="module")
def drafted(asked):
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0, 3.0]}, validation=ho.SharedBlocks())
    question = asked(learner, X, y, test=ho.KFold(4))
    panels = ready_panels(question.study, frozenset())
    draft = Draft(
        steps=plan_brute_force(panels),
        search=question.study.search,
        splits=question.study.splits,
        task=question.task,
        asks_predictor=False,
        own_fit_params=False,
    )
    return draft, panels


def complaint(draft, panels):
    """What is wrong with a plan; None where nothing is."""
    try:
        verify(draft, panels, after="my rule")
    except AssertionError as error:
        return str(error)
    return None


def test_brute_force_shared_and_cut_are_valid(drafted):
    draft, panels = drafted
    assert complaint(draft, panels) is None
    shared = replace(draft, steps=share_fits(draft).steps)
    assert complaint(shared, panels) is None
    cut = replace(shared, steps=cut_brute_force(shared.steps))
    assert len(cut.steps) == 6 * 3
    assert complaint(cut, panels) is None


def changed(draft, place, **change):
    steps = list(draft.steps)
    steps[place] = replace(steps[place], **change)
    return replace(draft, steps=tuple(steps))


def retrained(draft, place, part, **change):
    trainings = list(draft.steps[place].trainings)
    trainings[part] = trainings[part]._replace(**change)
    return changed(draft, place, trainings=tuple(trainings))


def break_by(draft):
    """Plans with one mistake each, by what it is."""
    first = draft.steps[0]
    answer = first.trainings[0].answers[0]
    return {
        "a step is lost": replace(draft, steps=draft.steps[1:]),
        "a step is done twice": replace(draft, steps=(*draft.steps, first)),
        "a candidate is lost": changed(draft, 1, candidates=(0, 1)),
        "a candidate is done twice": changed(draft, 1, candidates=(0, 1, 2, 2)),
        "a candidate that is not asked": changed(draft, 1, candidates=(0, 1, 3)),
        "a candidate counted from the end": changed(draft, 1, candidates=(0, 1, -1)),
        "a training is lost": changed(draft, 0, trainings=first.trainings[1:]),
        "a part counted from the end": retrained(draft, 0, 2, answers=(answer._replace(part=-1),)),
        "a part that is not there": retrained(draft, 0, 2, answers=(answer._replace(part=3),)),
        "trained on another part's rows": retrained(draft, 0, 0, trains=(TrainRef("inner/0", 1),)),
        "trained on the rows of the test fold too": retrained(draft, 0, 0, trains=(TrainRef("inner/1", 1),)),
        "averaged": retrained(draft, 0, 0, averaged=True),
        "held out of other splits": retrained(draft, 0, 0, answers=(answer._replace(splits="outer"),)),
        "scored as a test": retrained(draft, 0, 0, answers=(answer._replace(level="test"),)),
        "a panel nobody asked": retrained(draft, 0, 0, answers=(answer._replace(panel="mine"),)),
    }


@pytest.mark.parametrize(
    "mistake",
    [
        "a step is lost",
        "a step is done twice",
        "a candidate is lost",
        "a candidate is done twice",
        "a candidate that is not asked",
        "a candidate counted from the end",
        "a training is lost",
        "a part counted from the end",
        "a part that is not there",
        "trained on another part's rows",
        "trained on the rows of the test fold too",
        "averaged",
        "held out of other splits",
        "scored as a test",
        "a panel nobody asked",
    ],
)
def test_a_broken_plan_is_caught_and_the_pass_named(drafted, mistake):
    draft, panels = drafted
    with pytest.raises(AssertionError, match="After pass 'my rule'"):
        verify(break_by(draft)[mistake], panels, after="my rule")


def test_equal_rows_of_another_part_are_as_good(drafted):
    """Inside fold 0 without block 1 is inside fold 1 without block 0."""
    draft, panels = drafted
    asked, other = draft.steps[0].trainings[0].trains[0], TrainRef("inner/1", 0)
    assert asked != other
    rows, same = (draft.splits[ref.splits].train_rows(ref.part).tolist() for ref in (asked, other))
    assert rows == same
    assert complaint(retrained(draft, 0, 0, trains=(other,)), panels) is None
