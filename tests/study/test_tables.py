from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.base.responses import Responses
from heldout.study.answers import Answer, Failure, FitWarning, PanelTable, Tables
from heldout.study.choose import as_cv_results
from heldout.study.study import OUTER, TEST, Panel, Study
from heldout.task import declare

FAILURE = Failure(kind="ValueError", message="no", traceback="", stage="fit")


def opened(candidates=range(4, 7), parts=range(2, 4), losses=1, sizes=(3, 2)):
    """A table whose parts hold out three and two rows."""
    tables = Tables()
    tables.panels["panel"] = PanelTable.empty(candidates, parts, losses, sizes=sizes[: len(parts)])
    return tables


def cell(candidate, part, *losses, rows=None, responses=None, failure=None, warnings=()):
    own = candidate, part
    return Answer.of_cell(
        "panel",
        own,
        losses or (1.0,),
        rows=None if rows is None else tuple(None if one is None else np.array([one]) for one in rows),
        responses=None if responses is None else (responses,),
        failures={} if failure is None else {own: failure},
    ).warned(warnings)


def test_a_table_is_complete_when_every_cell_is_answered():
    tables = opened()
    cells = [(c, p) for c in range(4, 7) for p in range(2, 4)]
    for c, p in cells:
        assert not tables["panel"].complete
        tables.put(cell(c, p, 10.0 * c + p))
    assert tables["panel"].complete
    assert tables["panel"].losses[:, :, 0].tolist() == [[42, 43], [52, 53], [62, 63]]


def test_opening_again_keeps_what_is_there():
    panel = Panel(key="panel", level=TEST, splits=OUTER, parts=range(2, 4), candidates=range(4, 7))
    splits = ho.KFold(4).draw(declare(np.zeros((9, 1)), np.arange(9.0), classification=False), np.arange(9), seed=0)
    study = Study(search=None, splits={OUTER: splits}, panels=(panel,), reported=(None,))  # one loss, whichever
    tables = Tables()
    tables.open(study, [panel], weight=np.arange(9.0))
    table = tables["panel"]
    assert np.diff(table.cuts).tolist() == [len(splits.held_rows(part)) for part in panel.parts]
    assert table.weights.tolist() == [splits.held_rows(part).sum() for part in panel.parts]
    tables.put(cell(4, 2))
    tables.open(study, [panel])
    assert tables["panel"].answered.sum() == 1


def test_a_failure_is_an_answer_without_a_number():
    tables = opened(range(1), range(1))
    tables.put(cell(0, 0, np.nan, failure=FAILURE))
    assert tables["panel"].complete
    assert np.isnan(tables["panel"].losses).all()
    assert tables.failures() == [("panel", 0, 0, FAILURE)]


def test_a_cell_that_is_answered_again_is_no_longer_failed():
    """As when brute force takes over from a kernel that did not pass its check."""
    tables = opened()
    told, later = (FitWarning(category="A", message=text) for text in ("first", "second"))
    tables.put(cell(5, 3, np.nan, failure=FAILURE, warnings=(told,)))
    tables.put(cell(5, 3, 2.0, warnings=(later,)))
    assert tables.failures() == []
    assert tables.warnings_in_order() == [("A", "second", [("panel", 5, 3)])]
    assert tables["panel"].losses[1, 1, 0] == 2.0


def test_forgotten_cells_are_as_if_never_answered():
    """As when a kernel did not pass its check, and time is up before brute force takes over."""
    tables = opened()
    told = FitWarning(category="A", message="said twice")
    rows = (np.arange(3.0),)
    tables.put(cell(4, 2, 1.0, rows=rows, warnings=(told,)))
    tables.put(cell(5, 2, np.nan, failure=FAILURE, warnings=(told,)))
    tables.put(
        Answer(
            panel="panel",
            candidates=(5, 6),
            parts=range(3, 4),
            losses=np.full((2, 1, 1), 7.0),
            rows=(np.full((2, 2), 7.0),),
            responses=(Responses(predict=np.ones(2)), Responses(predict=np.ones(2))),
        )
    )
    tables.forget((5, 6), [("panel", 2), ("panel", 3)])
    table = tables["panel"]
    assert table.answered.tolist() == [[True, False], [False, False], [False, False]]
    assert np.isnan(table.losses[1:]).all()
    assert table.row_losses(5, 3) is None
    assert table.responses(5, 3) is None
    assert table.row_losses(4, 2) is not None
    assert tables.failures() == []
    assert tables.warnings_in_order() == [("A", "said twice", [("panel", 4, 2)])]
    tables.put(cell(5, 2, 3.0, rows=rows))
    assert table.losses[1, 0, 0] == 3.0
    assert table.row_losses(5, 2) is not None


def test_failures_come_in_the_order_of_the_study():
    tables = opened()
    for c, p in [(6, 2), (4, 3), (4, 2), (5, 3)]:
        tables.put(cell(c, p, np.nan, failure=FAILURE))
    assert [(c, p) for _, c, p, _ in tables.failures()] == [(4, 2), (4, 3), (5, 3), (6, 2)]


def test_warnings_come_in_the_order_of_the_study_whatever_finished_first():
    late, early = FitWarning(category="A", message="late"), FitWarning(category="B", message="early")
    answers = [cell(6, 3, warnings=(late,)), cell(5, 2, warnings=(late, early)), cell(4, 2, warnings=(early,))]
    orders = []
    for order in (answers, answers[::-1]):
        tables = opened()
        for answer in order:
            tables.put(answer)
        orders.append(tables.warnings_in_order())
    assert orders[0] == orders[1]
    assert [(text, len(cells)) for _, text, cells in orders[0]] == [("early", 2), ("late", 2)]


def test_a_block_is_many_cells():
    """Two of the candidates, not neighbours, on both parts."""
    tables = opened(losses=2)
    rows = np.arange(10.0).reshape(2, 5)
    losses = np.array([[[1.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [4.0, 0.0]]])
    responses = tuple(Responses(predict=row + 100) for row in rows)
    block = Answer(
        panel="panel",
        candidates=(6, 4),
        parts=range(2, 4),
        losses=losses,
        rows=(rows, None),
        responses=responses,
        fit_seconds=2.0,
        failures={(4, 3): FAILURE},
        warnings={(6, 2): (FitWarning(category="A", message="one cell of four"),)},
    )
    assert block.count == len(list(block.cells)) == 4
    tables.put(block)
    table = tables["panel"]
    assert table.losses[:, :, 0].tolist()[2] == [1.0, 2.0]
    assert table.losses[:, :, 0].tolist()[0] == [3.0, 4.0]
    assert table.answered.tolist() == [[True, True], [False, False], [True, True]]
    assert table.fit_seconds.sum() == 8.0
    kept, nothing = table.row_losses(6, 3)
    assert kept.tolist() == [3.0, 4.0]
    assert nothing is None
    assert table.responses(4, 2).predict.tolist() == [105.0, 106.0, 107.0]
    assert table.responses(5, 2) is None
    assert table.row_losses(5, 3) is None
    assert tables.failures() == [("panel", 4, 3, FAILURE)]
    assert tables.warnings_in_order() == [("A", "one cell of four", [("panel", 6, 2)])]


def test_a_cell_of_a_block_may_be_answered_again():
    """As when brute force takes over a single cell: what the block says of the others stays."""
    tables = opened()
    answers = Answer(
        panel="panel",
        candidates=(4, 5),
        parts=range(2, 4),
        losses=np.ones((2, 2, 1)),
        rows=(np.ones((2, 5)),),
        responses=(Responses(predict=np.arange(5.0)), Responses(predict=np.arange(5.0))),
    )
    tables.put(answers)
    tables.put(cell(4, 2, 2.0, rows=([2.0, 2.0, 2.0],), responses=Responses(predict=np.full(3, 7.0))))
    tables.put(cell(5, 3, np.nan, failure=FAILURE))
    table = tables["panel"]
    assert table.losses[:2, :, 0].tolist()[0] == [2.0, 1.0]
    assert [table.row_losses(4, part)[0].tolist() for part in (2, 3)] == [[2.0, 2.0, 2.0], [1.0, 1.0]]
    assert [table.responses(4, part).predict.tolist() for part in (2, 3)] == [[7.0, 7.0, 7.0], [3.0, 4.0]]
    assert (table.row_losses(5, 3), table.responses(5, 3)) == (None, None)
    assert table.responses(5, 2).predict.tolist() == [0.0, 1.0, 2.0]


def test_rows_and_responses_of_a_cell_are_given_back():
    tables = opened()
    rows, responses = (np.ones(2),), Responses(predict=np.zeros(2), classes=np.arange(2), asked={"own": 1.0})
    tables.put(cell(5, 3, rows=rows, responses=responses))
    (found,) = tables["panel"].row_losses(5, 3)
    assert found.tolist() == [1.0, 1.0]
    kept = tables["panel"].responses(5, 3)
    assert kept.predict.tolist() == [0.0, 0.0]
    assert (kept.classes.tolist(), kept.asked) == ([0, 1], {"own": 1.0})
    assert tables["panel"].responses(5, 2) is None


SEARCHES = {
    "ties": (Ridge(), {"alpha": [1, 1, 2]}, "neg_mean_squared_error"),
    "failures": (Ridge(), {"alpha": [1, "x", 2]}, "r2"),
    "numbers": (Ridge(), {"alpha": [1, 2.5], "max_iter": [10, 20]}, "r2"),
    "masked": (Ridge(), [{"alpha": [0, 1, np.float64(2.5)]}, {"fit_intercept": [True, False]}], "r2"),
    "mixed": (
        DecisionTreeRegressor(random_state=0),
        {"max_features": ["sqrt", 0.5, None], "max_depth": [1, None]},
        "r2",
    ),
    "tuples": (
        MLPRegressor(max_iter=2, random_state=0),
        {"hidden_layer_sizes": [(2, 3), (2, 2)], "warm_start": [False]},
        "r2",
    ),
    "ragged": (MLPRegressor(max_iter=2, random_state=0), {"hidden_layer_sizes": [(2,), (2, 2)]}, "r2"),
    "steps": (
        Pipeline([("s", StandardScaler()), ("r", Ridge())]),
        {"s": [None, StandardScaler(), MinMaxScaler()], "r__alpha": [1, 2]},
        "r2",
    ),
    "scores": (Ridge(), {"alpha": [1, 100]}, ["r2", "neg_mean_absolute_error"]),
}


@pytest.mark.usefixtures("identical_rules")
@pytest.mark.parametrize("name", SEARCHES)
def test_cv_results_are_those_of_scikit_learn(name):
    """The same keys in the same order, and the same types, masks and values, but for the seconds."""
    estimator, space, scoring = SEARCHES[name]
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(estimator, space, cv=KFold(3), scoring=scoring, refit=False).fit(X, y).cv_results_
        ours = ho.Tuned(estimator, space, validation=KFold(3), loss=scoring, jobs=1).fit(X, y).cv_results_
    assert list(ours) == list(theirs)
    assert repr(ours["params"]) == repr(theirs["params"])
    for key in theirs:
        if key == "params" or key.endswith("_time"):
            continue
        assert type(ours[key]) is type(theirs[key]), key
        assert ours[key].dtype == theirs[key].dtype, key
        if key.startswith("param_"):
            assert np.array_equal(np.ma.getmaskarray(ours[key]), np.ma.getmaskarray(theirs[key]))
            assert repr(ours[key].tolist()) == repr(theirs[key].tolist())
        else:
            np.testing.assert_array_equal(ours[key], theirs[key], err_msg=key)


def test_families_have_a_column_of_their_own():
    X, y = load_diabetes(return_X_y=True)
    learner = ho.Tuned({"a": (Ridge(), {"alpha": [1.0]}), "b": (DecisionTreeRegressor(random_state=0), None)}, jobs=1)
    results = learner.fit(X[:60], y[:60]).cv_results_
    assert results["family"].tolist() == ["a", "b"]
    assert np.ma.getmaskarray(results["param_alpha"]).tolist() == [False, True]


def test_a_perfect_score_is_zero_and_not_minus_zero():
    search = ho.Tuned(Ridge(), {"alpha": [1.0]}).as_search(seed=0)
    table = PanelTable.empty(range(1), range(2), 1, sizes=[1, 1])
    table.losses[:] = 0.0
    assert not np.signbit(as_cv_results(search, table)["mean_test_score"]).any()


def test_row_losses_of_all_candidates_come_as_one_matrix_or_not_at_all():
    tables = opened(range(2, 4), range(2), sizes=(2, 1))
    rows = (np.array([[1.0, 2.0, 3.0]]),)
    tables.put(Answer(panel="panel", candidates=(3,), parts=range(2), losses=np.zeros((1, 2, 1)), rows=rows))
    assert tables["panel"].row_matrix(0) is None
    for part, own in ((0, [4.0, 5.0]), (1, [6.0])):
        tables.put(cell(2, part, rows=(own,)))
    assert tables["panel"].row_matrix(0).tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]


def test_row_losses_put_one_by_one_and_many_at_once_are_the_same():
    one, many = opened(losses=2), opened(losses=2)
    losses = np.arange(6.0).reshape(3, 1, 2)
    for part, size in ((2, 3), (3, 2)):
        rows = np.arange(3.0 * size).reshape(3, size) + part
        for place, candidate in enumerate(range(4, 7)):
            one.put(cell(candidate, part, *losses[place, 0], rows=(rows[place], None)))
        parts = range(part, part + 1)
        many.put(Answer(panel="panel", candidates=(4, 5, 6), parts=parts, losses=losses, rows=(rows, None)))
    for table in (one["panel"], many["panel"]):
        assert table.complete
        assert table.row_losses(6, 3)[0].tolist() == [7.0, 8.0]
        assert table.row_losses(6, 3)[1] is None
        assert table.row_matrix(0).tolist() == [[2, 3, 4, 3, 4], [5, 6, 7, 5, 6], [8, 9, 10, 7, 8]]
        assert table.row_matrix(1) is None
    assert one["panel"].losses.tolist() == many["panel"].losses.tolist()


def test_a_cell_without_rows_leaves_the_matrix_incomplete():
    tables = opened(range(2), range(1), sizes=(2,))
    tables.put(cell(0, 0, rows=(np.ones(2),)))
    tables.put(cell(1, 0, failure=FAILURE))
    assert tables["panel"].row_losses(1, 0) is None
    assert tables["panel"].row_matrix(0) is None


def test_many_single_cells_are_kept_as_columns_and_not_as_objects():
    """Leave-one-out of 20,000 rows and 17 candidates is 340,000 cells."""
    candidates, parts = range(5), range(2_000)
    tracemalloc.start()
    try:
        tables = opened(candidates, parts, sizes=np.ones(len(parts), dtype=int))
        for candidate in candidates:
            for part in parts:
                tables.put(cell(candidate, part, rows=([1.0],)))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tables["panel"].row_matrix(0).sum() == len(candidates) * len(parts)
    assert taken < 64 * len(candidates) * len(parts)
