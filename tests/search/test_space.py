from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.model_selection import ParameterGrid, ParameterSampler

from heldout.base.errors import SpaceError
from heldout.search.search import Sample, build_candidates, log_grid

VALUES = st.lists(st.integers(0, 9), min_size=1, max_size=4)
GRIDS = st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1, max_size=3)


@settings(deadline=None, max_examples=50)
@given(st.lists(GRIDS, min_size=1, max_size=3))
def test_candidates_are_those_of_scikit_learn_in_its_order(grids):
    candidates = build_candidates(grids, seed=0)
    expected = list(ParameterGrid(grids))
    assert list(candidates) == expected
    assert [list(one) for one in candidates] == [list(one) for one in expected]
    assert len(candidates) == len(expected)
    assert candidates[-1] == expected[-1]
    assert candidates[1:] == expected[1:]
    with pytest.raises(IndexError):
        candidates[len(expected)]


@pytest.mark.parametrize("space", [None, {}, [], ()])
def test_no_space_is_the_learner_as_it_is(space):
    assert list(build_candidates(space, seed=0)) == [{}]


def test_an_array_gives_plain_numbers():
    (one,) = build_candidates({"alpha": np.array([0.5])}, seed=0)
    assert type(one["alpha"]) is float


def test_values_may_be_tuples_of_several_lengths():
    space = {"hidden_layer_sizes": [(10,), (10, 10)]}
    assert [one["hidden_layer_sizes"] for one in build_candidates(space, seed=0)] == [(10,), (10, 10)]


def test_a_candidate_can_be_written_into_without_changing_the_space():
    candidates = build_candidates({"a": [1, 2]}, seed=0)
    candidates[0]["a"] = 99
    assert candidates[0] == {"a": 1}


def test_candidates_travel():
    candidates = build_candidates([{"a": [1, 2]}, {"b": [3]}], seed=0)
    again = pickle.loads(pickle.dumps(candidates))
    assert list(again) == list(candidates)
    assert again.names == ("a", "b")


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ({"alpha": 1.0}, r"'alpha' needs a list of values, not 1.0. For one value write \[1.0\]"),
        ({"kernel": "rbf"}, "For one value write"),
        ({"alpha": []}, "'alpha' has no values"),
        ({"alpha": np.ones((2, 2))}, r"not shape \(2, 2\)"),
        ({"alpha": loguniform(1, 2)}, r"wrap the space in Sample\(n, …\)"),
        ({1: [2]}, "Parameter names are strings, not 1"),
        (5, "not int"),
        ([{"a": [1]}, 5], "not int"),
    ],
)
def test_a_space_that_cannot_be_is_refused(space, words):
    with pytest.raises(SpaceError, match=words):
        build_candidates(space, seed=0)


def test_a_huge_grid_is_refused_by_its_count_without_being_built():
    with pytest.raises(SpaceError, match="1,000,000,000,000,000,000 candidates"):
        build_candidates({name: range(1_000_000) for name in "abc"}, seed=0)


def test_a_sample_is_drawn_by_its_seed_alone():
    space = Sample(6, {"alpha": loguniform(1e-3, 1e3), "kind": ["a", "b"]})
    first, again, other = (list(build_candidates(space, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert first == list(ParameterSampler(space.space, 6, random_state=1))


def test_a_sample_as_large_as_the_grid_is_the_grid():
    space = {"a": [1, 2], "b": [3, 4, 5]}
    assert list(build_candidates(Sample(100, space), seed=0)) == list(ParameterGrid(space))
    few = list(build_candidates(Sample(4, space), seed=0))
    assert len(few) == 4
    assert len({tuple(one.values()) for one in few}) == 4


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "5"])
def test_a_sample_of_no_whole_number_is_refused(n):
    with pytest.raises(SpaceError, match="whole number of candidates"):
        Sample(n, {"a": [1]})


@pytest.mark.parametrize("space", [{}, 5, {"a": 1.0}, {"a": "text"}])
def test_a_sample_of_nothing_to_draw_from_is_refused(space):
    with pytest.raises(SpaceError):
        build_candidates(Sample(3, space), seed=0)


def test_log_grid_is_even_on_the_log_scale():
    grid = log_grid(-6, 2, 17)
    assert len(grid) == 17
    assert grid[0] == 1e-6
    assert grid[-1] == 100.0
    np.testing.assert_allclose(np.diff(np.log10(grid)), 0.5)


@pytest.mark.parametrize("arguments", [(0, 1, 0), (0, 1, 2.5), (0, 1, True), (np.inf, 1, 2), (0, np.nan, 2)])
def test_a_log_grid_that_cannot_be_is_refused(arguments):
    with pytest.raises(SpaceError, match="log_grid needs"):
        log_grid(*arguments)


@settings(deadline=None, max_examples=50)
@given(st.lists(GRIDS, min_size=1, max_size=2))
def test_candidates_that_surely_differ_do(grids):
    candidates = build_candidates(grids, seed=0)
    every = [tuple(sorted(one.items())) for one in candidates]
    if candidates.surely_differ:
        assert len(set(every)) == len(every)
    elif len(grids) == 1:
        assert len(set(every)) < len(every)


def test_whether_candidates_differ_is_not_told_of_objects_and_draws():
    assert build_candidates({"a": [1, 1.0, True, "1", None]}, seed=0).surely_differ
    assert not build_candidates({"a": [(1,), (2,)]}, seed=0).surely_differ
    assert not build_candidates(Sample(3, {"a": loguniform(1, 2)}), seed=0).surely_differ
