"""`chance`: exact p-values against scikit-learn's own definition, what is exchanged, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.api.chance import exchange_of
from heldout.base.errors import OptionError, RoleError
from heldout.task import declare

DIABETES = load_diabetes(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def test_a_learner_that_learns_beats_chance():
    found = ho.chance(KNeighborsClassifier(5), *IRIS, permutations=39)
    assert found.p == 1 / 40
    assert found.beats_chance
    assert found.sentence.startswith("The learner does better than chance (p = 0.025): zero_one 0.0")
    assert found.result.risk == ho.evaluate(KNeighborsClassifier(5), *IRIS).risk
    assert np.mean(found.shuffled) == pytest.approx(2 / 3, abs=0.03)


def test_scores_keep_their_sign():
    found = ho.chance(Ridge(), *DIABETES, loss="r2", permutations=19)
    assert found.p == 0.05
    assert found.beats_chance
    assert found.shuffled.max() < found.result.risk.value


def test_nothing_to_learn_is_not_shown_to_be_learned():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    found = ho.chance(Ridge(), X, y, permutations=19)
    assert not found.beats_chance
    assert found.sentence.startswith("It is not shown that the learner does better than chance")


def test_a_learner_that_ignores_the_features_ties_with_its_shuffles_on_one_partition():
    X, y = (part[:30] for part in DIABETES)
    found = ho.chance(DummyRegressor(), X, y, permutations=5, test=ho.LeaveOneOut())
    assert found.p == 1.0


def test_p_values_are_uniform_or_more_careful_where_there_is_nothing_to_learn():
    rng = np.random.default_rng(1)
    p = []
    for _ in range(40):
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        p.append(ho.chance(Ridge(), X, y, permutations=4, test=ho.KFold(2), progress=False).p)
    share = np.mean(np.array(p) <= 0.2)
    assert share <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 40)
    assert share > 0


def test_the_same_seed_shuffles_the_same():
    one, two = (ho.chance(Ridge(), *DIABETES, permutations=3, seed=4) for _ in range(2))
    assert one.shuffled.tolist() == two.shuffled.tolist()
    assert one.shuffled.tolist() != ho.chance(Ridge(), *DIABETES, permutations=3, seed=5).shuffled.tolist()


def shuffled_targets(y, **roles):
    y = np.asarray(y)
    task = declare(np.zeros((len(y), 1)), y, classification=False, **roles)
    exchange = exchange_of(task)
    return exchange.words, [y[exchange.rows(np.random.default_rng(seed))] for seed in range(20)]


def test_strata_keep_their_targets():
    strata = np.array([0, 1] * 6)
    y = np.arange(12.0)
    words, targets = shuffled_targets(y, strata=strata)
    assert words == "rows within each stratum"
    for target in targets:
        assert sorted(target[strata == 1]) == sorted(y[strata == 1])
    assert len({tuple(target) for target in targets}) > 10


def test_groups_with_one_target_each_exchange_it_whole():
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 3])
    y = np.array([5.0, 5, 5, 6, 7, 7, 8, 8])
    words, targets = shuffled_targets(y, groups=groups)
    assert words == "whole groups"
    for target in targets:
        by_group = [set(target[groups == group]) for group in range(4)]
        assert all(len(one) == 1 for one in by_group)
        assert set.union(*by_group) == {5.0, 6.0, 7.0, 8.0}


def test_groups_of_equal_size_take_each_others_targets_in_random_order_where_these_vary():
    groups = np.repeat(np.arange(6), 5)
    y = np.arange(30.0)
    words, targets = shuffled_targets(y, groups=groups)
    assert words == "groups of about the same size, and rows within each group"
    sets = {frozenset(y[groups == group]) for group in range(6)}
    moved = 0
    for target in targets:
        assert {frozenset(target[groups == group]) for group in range(6)} == sets
        moved += sum(set(target[groups == group]) != set(y[groups == group]) for group in range(6))
    assert moved > 0.7 * 6 * len(targets)
    assert any((np.diff(target[groups == 0]) < 0).any() for target in targets)


def test_groups_of_any_size_and_strata_use_every_target_once():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(14), rng.integers(1, 30, 14)))
    y, strata = np.arange(len(groups)) * 1.0, rng.integers(0, 3, len(groups))
    for roles in ({"groups": groups}, {"groups": groups, "strata": strata}):
        for target in shuffled_targets(y, **roles)[1]:
            assert sorted(target) == sorted(y)
            if "strata" in roles:
                assert all(sorted(target[strata == one]) == sorted(y[strata == one]) for one in range(3))


def grouped(seed, *, signal):
    """Twenty groups of three to nine rows with features in common; targets that groups have in common, and noise."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(20), rng.integers(3, 10, 20))
    shared = rng.normal(size=(20, 2))
    y = (signal * shared[:, 0] + rng.normal(size=20))[groups] + rng.normal(size=len(groups))
    return {"X": shared[groups], "y": y, "groups": groups, "test": ho.KFold(4), "progress": False, "jobs": 1}


def test_the_level_of_chance_is_that_of_features_that_tell_nothing():
    found = ho.chance(Ridge(), permutations=39, **grouped(0, signal=2.0))
    level = np.mean(found.shuffled)
    assert found.p == 1 / 40
    assert level > 1.8 * found.result.risk.value  # shuffling within groups alone gave the risk itself
    assert level > 0.9 * np.var(grouped(0, signal=2.0)["y"])


def test_with_groups_p_values_are_uniform_where_there_is_nothing_to_learn():
    p = np.array([ho.chance(Ridge(), permutations=9, **grouped(seed, signal=0.0)).p for seed in range(60)])
    for share in (0.1, 0.5):
        assert abs(np.mean(p <= share + 1e-9) - share) <= 3 * np.sqrt(share * (1 - share) / 60)


def test_exchanges_that_cannot_be_are_refused():
    with pytest.raises(RoleError, match="Shuffling changes nothing"):
        shuffled_targets([1.0, 1.0, 2.0, 2.0], strata=[0, 0, 1, 1])
    with pytest.raises(RoleError, match="a group lies in several strata"):
        shuffled_targets([1.0, 1.0, 2.0, 2.0], groups=[0, 0, 1, 1], strata=[0, 1, 0, 1])


def test_groups_through_the_front_door():
    X, y = DIABETES
    groups = np.arange(len(y)) // 4
    found = ho.chance(Ridge(), X, y[groups * 4], groups=groups, permutations=19)
    assert found.exchanged == "whole groups"


@pytest.mark.parametrize("permutations", [0, -3, 1.5, True, "many"])
def test_permutations_are_a_whole_number(permutations):
    with pytest.raises(OptionError, match="permutations="):
        ho.chance(Ridge(), *DIABETES, permutations=permutations)


class FailsWhenShuffled(RegressorMixin, BaseEstimator):
    """Works on the target as it is, fails on most others."""

    def fit(self, X, y):
        if np.corrcoef(X[:, 2], y)[0, 1] < 0.4:
            raise RuntimeError("nothing to see")
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_shuffles_that_fail_count_against_the_learner():
    found = ho.chance(FailsWhenShuffled(), *DIABETES, permutations=9)
    assert np.isnan(found.shuffled).all()
    assert found.p == 1.0
    assert "9 without a value" in str(found)
    json.dumps(found.summary(), allow_nan=False)


def test_an_interval_that_moves_the_estimate_is_refused():
    with pytest.raises(OptionError, match="compares plain estimates"):
        ho.chance(Ridge(), *DIABETES, permutations=3, test=ho.KFold(5), options=ho.Options(interval="bht"))
