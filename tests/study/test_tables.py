from __future__ import annotations

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
from heldout.study.cv_results import as_cv_results
from heldout.study.tables import BlockAnswer, CellAnswer, Failure, FitWarning, PanelTable, Tables

FAILURE = Failure(kind="ValueError", message="no", traceback="", stage="fit")


def opened(candidates=range(4, 7), parts=range(2, 4), losses=1):
    tables = Tables()
    tables.open("panel", candidates, parts, losses)
    return tables


def cell(candidate, part, *losses, **kept):
    return CellAnswer(panel="panel", candidate=candidate, part=part, losses=losses or (1.0,), **kept)


def test_a_table_is_complete_when_every_cell_is_answered():
    tables = opened()
    cells = [(c, p) for c in range(4, 7) for p in range(2, 4)]
    for c, p in cells:
        assert not tables["panel"].complete
        tables.put(cell(c, p, 10.0 * c + p))
    assert tables["panel"].complete
    assert tables["panel"].losses[:, :, 0].tolist() == [[42, 43], [52, 53], [62, 63]]


def test_opening_again_keeps_what_is_there():
    tables = opened()
    tables.put(cell(4, 2))
    tables.open("panel", range(4, 7), range(2, 4), 1)
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
    tables.put(cell(5, 3, np.nan, failure=FAILURE))
    tables.put(cell(5, 3, 2.0))
    assert tables.failures() == []
    assert tables["panel"].losses[1, 1, 0] == 2.0


def test_forgotten_cells_are_as_if_never_answered():
    """As when a kernel did not pass its check, and time is up before brute force takes over."""
    tables = opened()
    told = FitWarning(category="A", message="said twice")
    rows = (np.arange(3.0),)
    tables.put(cell(4, 2, 1.0, rows=rows, warnings=(told,)))
    tables.put(cell(5, 2, np.nan, failure=FAILURE, warnings=(told,)))
    block = np.full((2, 1, 1), 7.0), (np.full((2, 3), 7.0),)
    tables.put(
        BlockAnswer(
            panel="panel", candidates=(5, 6), parts=range(3, 4), losses=block[0], cuts=np.array([0, 3]), rows=block[1]
        )
    )
    tables.forget((5, 6), [("panel", 2), ("panel", 3)])
    table = tables["panel"]
    assert table.answered.tolist() == [[True, False], [False, False], [False, False]]
    assert np.isnan(table.losses[1:]).all()
    assert table.row_losses(5, 3) is None
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
    """Two of the candidates, not neighbours, on both parts of three and two rows."""
    tables = opened()
    rows = np.arange(10.0).reshape(2, 5)
    losses = np.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    responses = tuple(Responses(predict=row + 100) for row in rows)
    block = BlockAnswer(
        panel="panel",
        candidates=(6, 4),
        parts=range(2, 4),
        losses=losses,
        cuts=np.array([0, 3, 5]),
        rows=(rows, None),
        responses=responses,
        seconds=8.0,
    )
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


def test_rows_and_responses_of_a_cell_are_given_back():
    tables = opened()
    rows, responses = (np.ones(3),), Responses(predict=np.zeros(3))
    tables.put(cell(5, 3, rows=rows, responses=responses))
    (found,) = tables["panel"].row_losses(5, 3)
    assert found.tolist() == [1.0, 1.0, 1.0]
    assert tables["panel"].responses(5, 3) is responses
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
    table = PanelTable.empty(range(1), range(2), 1)
    table.losses[:] = 0.0
    assert not np.signbit(as_cv_results(search, table)["mean_test_score"]).any()


def test_row_losses_of_all_candidates_come_as_one_matrix_or_not_at_all():
    table = PanelTable.empty(range(2, 4), range(2), 1)
    sizes = np.array([2, 1])
    block = BlockAnswer(
        panel="p",
        candidates=(3,),
        parts=range(2),
        losses=np.zeros((1, 2, 1)),
        cuts=np.array([0, 2, 3]),
        rows=(np.array([[1.0, 2.0, 3.0]]),),
    )
    table.put(block)
    assert table.row_matrix(0, sizes) is None
    for part, rows in ((0, [4.0, 5.0]), (1, [6.0])):
        table.put(CellAnswer(panel="p", candidate=2, part=part, losses=(0.0,), rows=(np.array(rows),)))
    assert table.row_matrix(0, sizes).tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]


@pytest.mark.parametrize("sizes", [None, np.array([3, 2])])
def test_row_losses_put_one_by_one_and_many_at_once_are_the_same(sizes):
    one, many = Tables(), Tables()
    for tables in (one, many):
        tables.open("panel", range(4, 7), range(2, 4), 2, sizes=sizes)
    losses, seconds = np.arange(6.0).reshape(3, 2), (np.ones(3), np.zeros(3))
    for part, size in ((2, 3), (3, 2)):
        rows = np.arange(3.0 * size).reshape(3, size) + part
        for place, candidate in enumerate(range(4, 7)):
            one.put(cell(candidate, part, *losses[place], rows=(rows[place], None), fit_seconds=1.0))
        many["panel"].put_cells(np.arange(4, 7), part, losses, (rows, None), seconds=seconds)
    for table in (one["panel"], many["panel"]):
        assert table.complete
        assert table.row_losses(6, 3)[0].tolist() == [7.0, 8.0]
        assert table.row_losses(6, 3)[1] is None
        assert table.row_matrix(0, np.array([3, 2])).tolist() == [[2, 3, 4, 3, 4], [5, 6, 7, 5, 6], [8, 9, 10, 7, 8]]
        assert table.row_matrix(1, np.array([3, 2])) is None
    assert one["panel"].losses.tolist() == many["panel"].losses.tolist()


def test_a_cell_without_rows_leaves_the_matrix_incomplete():
    tables = opened(range(2), range(1))
    tables.put(cell(0, 0, rows=(np.ones(2),)))
    tables.put(cell(1, 0, failure=FAILURE))
    assert tables["panel"].row_losses(1, 0) is None
    assert tables["panel"].row_matrix(0, np.array([2])) is None
