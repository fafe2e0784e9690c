"""Forward: always later rows, as scikit-learn's TimeSeriesSplit where times are distinct."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Forward


@pytest.mark.parametrize(("n", "k"), [(12, 3), (23, 5), (7, 6), (10, 2)])
def test_equals_sklearn_time_series_split(make_task, n, k):
    task = make_task(n, time=np.arange(n))
    splits = Forward(k).draw(task, task.all_rows, seed=0)
    for i, (train, held) in enumerate(sk.TimeSeriesSplit(k).split(task.X)):
        np.testing.assert_array_equal(splits.train_rows(i), train)
        np.testing.assert_array_equal(splits.held_rows(i), held)


def test_order_is_that_of_time_not_of_rows(make_task):
    days = np.array(["2024-01-04", "2024-01-01", "2024-01-03", "2024-01-02"], dtype="datetime64[D]")
    splits = Forward(3).draw(make_task(4, time=days), np.arange(4), seed=0)
    assert [splits.held_rows(i).tolist() for i in range(3)] == [[3], [2], [0]]
    assert splits.train_rows(2).tolist() == [1, 2, 3]
    assert (splits.recipe.kind, splits.recipe.timed, splits.recipe.partition) == ("forward", True, False)


def test_ties_go_wholly_to_one_side_and_every_block_has_rows(make_task):
    time = np.array([0] * 10 + [1, 2, 3, 4, 5])
    splits = Forward(5).draw(make_task(15, time=time), np.arange(15), seed=0)
    assert splits.held_sizes.tolist() == [1] * 5
    assert splits.train_rows(0).tolist() == list(range(10))


def test_refusals(make_task):
    with pytest.raises(SplitError, match=r"Forward\(5\) needs time, but the task has none. Pass time=…, or use KFold"):
        Forward(5).draw(make_task(9), np.arange(9), seed=0)
    with pytest.raises(SplitError, match=r"^Forward\(3\) keeps groups .* there are 2 at this level. Use a smaller k.$"):
        Forward(3).draw(make_task(9, time=np.arange(9), groups=np.arange(9) % 2), np.arange(9), seed=0)
    with pytest.raises(SplitError, match="needs at least 6 rows, but there are 5"):
        Forward(5).draw(make_task(5, time=np.arange(5)), np.arange(5), seed=0)
    with pytest.raises(SplitError, match="needs at least 4 distinct times, but there are 3"):
        Forward(3).draw(make_task(9, time=np.repeat([0, 1, 2], 3)), np.arange(9), seed=0)
    with pytest.raises(SplitError, match="blocks k of Forward must be at least 1"):
        Forward(0)


def test_it_is_a_value():
    assert Forward() == Forward(5)
    assert repr(Forward(3)) == "Forward(3)"
    assert hash(Forward(3)) == hash(Forward(3))
