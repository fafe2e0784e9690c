from __future__ import annotations

import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from heldout.search.search import Family, Search, build_candidates


def search(**families):
    made = [
        Family(name=name, estimator=estimator, candidates=build_candidates(space, seed=0))
        for name, (estimator, space) in families.items()
    ]
    return Search(families=tuple(made), losses=(), seed=0)


def test_candidates_are_numbered_through_the_families():
    both = search(
        ridge=(Ridge(), {"alpha": [1.0, 2.0]}), plain=(Ridge(), None), knn=(KNeighborsRegressor(), {"n_neighbors": [3]})
    )
    assert len(both) == 4
    assert [both.family_of(c).name for c in range(4)] == ["ridge", "ridge", "plain", "knn"]
    assert [both.params_of(c) for c in range(4)] == [{"alpha": 1.0}, {"alpha": 2.0}, {}, {"n_neighbors": 3}]
    assert [both.describe(c) for c in range(4)] == ["ridge(alpha=1)", "ridge(alpha=2)", "plain", "knn(n_neighbors=3)"]


def test_an_only_family_goes_without_saying():
    assert search(ridge=(Ridge(), {"alpha": [0.123456789]})).describe(0) == "alpha=0.123457"
    assert search(Ridge=(Ridge(), None)).describe(0) == "Ridge"


def test_long_values_are_cut():
    words = search(ridge=(Ridge(), {"solver": ["x" * 500]})).describe(0)
    assert len(words) < 80
    assert words.endswith("…")


@pytest.mark.parametrize(("validation", "tuned"), [(None, False), (5, True)])
def test_what_validates_is_tuned(validation, tuned):
    assert Search(families=(), losses=(), seed=0, validation=validation).tuned is tuned
