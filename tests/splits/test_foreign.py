"""Splits made elsewhere: numbers, scikit-learn's splitters, own splitters, pairs of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk

from heldout.base.errors import SplitError
from heldout.splits import Holdout, KFold, SharedBlocks, as_strategy
from heldout.splits.foreign import Foreign, Pairs


def test_an_int_is_a_number_of_folds_and_our_strategies_pass():
    assert as_strategy(7) == as_strategy(np.int64(7)) == KFold(7)
    for strategy in (KFold(3), Holdout(0.1), SharedBlocks(), Foreign(sk.KFold())):
        assert as_strategy(strategy) is strategy


@pytest.mark.parametrize(
    "splitter",
    [
        sk.KFold(4),
        sk.KFold(4, shuffle=True, random_state=3),
        sk.StratifiedKFold(4, shuffle=True, random_state=3),
        sk.ShuffleSplit(3, test_size=0.3, random_state=3),
        sk.RepeatedKFold(n_splits=3, n_repeats=2, random_state=3),
        sk.TimeSeriesSplit(3),
        sk.LeaveOneOut(),
    ],
)
def test_a_sklearn_splitter_gives_its_own_rows_in_its_own_order(make_task, splitter):
    task = make_task(40, y=np.tile([0, 1], 20))
    rows = np.arange(5, 35)
    splits = as_strategy(splitter).draw(task, rows, seed=0)
    pairs = list(splitter.split(task.X[rows], task.y[rows]))
    assert len(splits) == len(pairs)
    for i, (train, held) in enumerate(pairs):
        np.testing.assert_array_equal(splits.train_rows(i), rows[train])
        np.testing.assert_array_equal(splits.held_rows(i), rows[held])


def test_group_splitters_get_the_groups(make_task):
    groups = np.array(["c", "a", "b", "a", "c", "b"])
    task = make_task(6, groups=groups)
    splits = as_strategy(sk.LeaveOneGroupOut()).draw(task, task.all_rows, seed=0)
    assert [splits.held_rows(i).tolist() for i in range(3)] == [[1, 3], [2, 5], [0, 4]]
    assert splits.recipe.grouped


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(1)])
def test_chance_is_pinned_by_the_seed_or_by_a_copy_of_the_users_state(make_task, random_state):
    task = make_task(30)
    splitter = sk.KFold(3, shuffle=True, random_state=random_state)
    first, again, other = (as_strategy(splitter).draw(task, task.all_rows, seed=s) for s in (1, 1, 2))
    assert first.fingerprint == again.fingerprint
    assert (first.fingerprint == other.fingerprint) == (random_state is not None)
    assert splitter.random_state is random_state
    assert first.recipe.drawn
    assert not as_strategy(sk.KFold(3)).draw(task, task.all_rows, seed=0).recipe.drawn


def test_what_the_rows_show_is_in_the_recipe(make_task):
    task = make_task(12)
    repeated = as_strategy(sk.RepeatedKFold(n_splits=3, n_repeats=2)).draw(task, task.all_rows, seed=0).recipe
    assert (repeated.kind, repeated.partition, repeated.repeats) == ("foreign", True, 2)
    assert not as_strategy(sk.ShuffleSplit(3)).draw(task, task.all_rows, seed=0).recipe.partition
    plain = as_strategy(sk.KFold(3)).draw(task, task.all_rows, seed=0)
    assert plain.train is None
    assert plain.recipe.words == "KFold(n_splits=3, random_state=None, shuffle=False)"


class Own:
    """A splitter that looks at what it is given, and answers as it was told."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def split(self, X, y=None, groups=None):
        Own.seen = (X, y, groups)
        yield from self.pairs

    def __repr__(self):
        return "Own()"


def test_an_own_splitter_sees_the_rows_and_the_groups_by_name(make_task):
    task = make_task(6, groups=["a", "b", "b", "c", "c", "d"])
    splits = as_strategy(Own(([2, 0, 2], [1]))).draw(task, np.array([0, 3, 5]), seed=0)
    X, y, groups = Own.seen
    np.testing.assert_array_equal(X, task.X[[0, 3, 5]])
    np.testing.assert_array_equal(y, task.y[[0, 3, 5]])
    assert groups.tolist() == ["a", "c", "d"]
    assert splits.train_rows(0).tolist() == [5, 0, 5]  # order and repeats kept
    assert splits.held_rows(0).tolist() == [3]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([([0, 1], [1, 2])], "part 0 has row 1 both in training and held out"),
        ([([0, 1], [2]), ([0, 1], [])], "part 1 holds out no rows"),
        ([([], [2])], "part 0 has no training rows"),
        ([([0], [2, 2])], "part 0 holds out row 2 twice"),
        ([([0], [6])], "names row 6, but was asked to split 6 rows"),
        ([([-1], [2])], "names row -1"),
        ([], "gives no parts at all"),
        ([[1, 2, 3]], r"must give pairs of training rows and held-out rows, but gave \[1, 2, 3\]"),
        ([([0.5], [1])], "must be whole numbers or a boolean mask"),
    ],
)
def test_an_own_splitter_that_answers_nonsense_is_refused(make_task, pairs, message):
    task = make_task(6)
    with pytest.raises(SplitError, match=rf"Own\(\).*{message}"):
        as_strategy(Own(*pairs)).draw(task, task.all_rows, seed=0)


def test_a_splitter_that_cuts_a_group_is_refused_by_name(make_task):
    task = make_task(6, groups=["ann", "ann", "bob", "bob", "cy", "cy"])
    with pytest.raises(SplitError, match=r"KFold\(.*in part 2 group 'cy' is both in training and held out"):
        as_strategy(sk.KFold(4)).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="in part 0 group 'ann'"):
        as_strategy(Own(([0, 2], [1, 4]))).draw(task, task.all_rows, seed=0)


def test_sklearn_refusals_say_who_and_the_way_out(make_task):
    task = make_task(6)
    with pytest.raises(
        SplitError, match=r"GroupKFold needs groups, but the task has none. Pass groups=…, or use KFold"
    ):
        as_strategy(sk.GroupKFold(2)).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match=r"KFold\(n_splits=9.*could not split 6 rows"):
        as_strategy(sk.KFold(9)).draw(task, task.all_rows, seed=0)
    with pytest.raises(SplitError, match="serves at the outer level only"):
        as_strategy(sk.PredefinedSplit([0, 0, 1, 1, 2, 2])).draw(task, np.arange(3), seed=0)


def test_rare_classes_do_not_warn(make_task):
    task = make_task(22, y=[0] * 20 + [1] * 2)
    assert len(as_strategy(sk.StratifiedKFold(5)).draw(task, task.all_rows, seed=0)) == 5


def test_pairs_keep_their_order_and_are_read_once(make_task):
    task = make_task(6)
    strategy = as_strategy((train, held) for train, held in [([3, 1, 1], [5, 0]), ([0, 1, 2, 3], [4, 5])])
    splits = strategy.draw(task, task.all_rows, seed=0)
    assert splits.train_rows(0).tolist() == [3, 1, 1]
    assert splits.held_rows(0).tolist() == [5, 0]
    assert splits.train_rows(1).tolist() == [0, 1, 2, 3]
    assert strategy.draw(task, task.all_rows, seed=1).fingerprint == splits.fingerprint
    assert (repr(strategy), strategy.inner_ok_under_partition) == ("<2 pairs of rows>", False)
    assert isinstance(strategy, Pairs)
    assert hash(strategy) == hash(as_strategy([([3, 1, 1], [5, 0]), ([0, 1, 2, 3], [4, 5])]))


def test_pairs_of_masks(make_task):
    task = make_task(4)
    held = np.array([True, False, False, True])
    splits = as_strategy([(~held, held)]).draw(task, task.all_rows, seed=0)
    assert (splits.held_rows(0).tolist(), splits.train) == ([0, 3], None)
    with pytest.raises(SplitError, match="the boolean mask has 4 entries, but the task has 5 rows"):
        as_strategy([(~held, held)]).draw(make_task(5), np.arange(5), seed=0)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([([0, 1], [1])], "part 0 has row 1 both in training and held out"),
        ([([0, 1], [9])], "part 0 names row 9, which is not among the 6 rows"),
        ([([0, 1], [2]), ([0, 7], [1])], "part 1 names row 7"),
        ([([0, 1, 2, 3], [-1, 4])], "part 0 names row -1"),
        ([([0, 1], [])], "part 0 holds out no rows"),
    ],
)
def test_pairs_that_cannot_be_are_refused(make_task, pairs, message):
    task = make_task(6)
    with pytest.raises(SplitError, match=message):
        as_strategy(pairs).draw(task, task.all_rows, seed=0)


def test_pairs_are_refused_inside_another_level(make_task):
    with pytest.raises(SplitError, match="row numbers are those of the whole task"):
        as_strategy([([0, 1], [2])]).draw(make_task(6), np.arange(5), seed=0)


@pytest.mark.parametrize("value", [2.5, True, None, {"k": 5}])
def test_what_is_no_strategy_is_refused(value):
    with pytest.raises(SplitError, match=r"is not a (way to hold rows out|number of folds)\. Pass a number of folds"):
        as_strategy(value)


def test_other_refusals():
    with pytest.raises(SplitError, match="at least 2, but is 1"):
        as_strategy(1)
    for kind in (sk.KFold, KFold):
        with pytest.raises(
            SplitError, match=r"KFold is a class, not a splitter. Pass one made from it, such as KFold\(5\)"
        ):
            as_strategy(kind)
    with pytest.raises(SplitError, match="The splits are empty"):
        as_strategy([])
    with pytest.raises(SplitError, match="Part 0 of the splits is not a pair"):
        as_strategy([1, 2])
