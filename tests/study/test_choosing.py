from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from heldout.base.errors import OptionError, SpaceError
from heldout.losses import resolve_losses
from heldout.search.search import Family, Search, build_candidates
from heldout.search.simplicity import simplicity
from heldout.study.answers import PanelTable
from heldout.study.choose import choose


def made(losses, *, space=None, start=0, **how):
    """A search and its answered validation table, candidates by parts, whose numbers may begin anywhere."""
    losses = np.array(losses, dtype=float)
    space = {"alpha": list(range(1, len(losses) + 1))} if space is None else space
    family = Family(name="Ridge", estimator=Ridge(), candidates=build_candidates(space, seed=0))
    search = Search(families=(family,), losses=resolve_losses("squared", classification=False), seed=0, **how)
    parts = range(losses.shape[1])
    table = PanelTable.empty(range(start, start + len(losses)), parts, 1, sizes=np.ones(len(parts)))
    table.losses[:, :, 0] = losses
    table.answered[:] = True
    return search, table


def test_the_smallest_mean_is_chosen():
    chosen = choose(*made([[3, 3], [1, 2], [2, 2]]))
    assert (chosen.candidate, chosen.inside, chosen.tied, chosen.failed) == (1, 1.5, 1, 0)


def test_of_exact_ties_the_first_is_chosen_and_they_are_counted():
    chosen = choose(*made([[9, 9], [1, 3], [3, 1], [2, 2]]))
    assert (chosen.candidate, chosen.tied) == (1, 3)


def test_a_candidate_with_a_failed_cell_cannot_be_chosen():
    chosen = choose(*made([[0, np.nan], [5, 5], [np.nan, np.nan]]))
    assert (chosen.candidate, chosen.failed) == (1, 2)


def test_an_infinite_loss_cannot_be_chosen():
    assert choose(*made([[np.inf, 0], [5, 5]])).candidate == 1


def test_where_all_fail_nothing_is_chosen():
    chosen = choose(*made([[np.nan, 1], [1, np.nan]]))
    assert (chosen.candidate, chosen.inside, chosen.failed) == (None, None, 2)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.one_of(st.just(np.nan), st.floats(0, 10)), min_size=3, max_size=3), min_size=1, max_size=6))
def test_nothing_usable_is_better_than_the_choice(losses):
    chosen = choose(*made(losses))
    means = np.mean(losses, axis=1)
    if chosen.candidate is None:
        assert np.isnan(means).all()
    else:
        assert means[chosen.candidate] == np.nanmin(means)


def test_one_se_takes_the_simplest_within_a_standard_error_of_the_best():
    # The best has mean 2 and standard error 1 / sqrt(3): alpha 2 and 3 are near, 4 is not; the largest is simplest.
    losses = [[1, 2, 3], [1.2, 2.2, 3.2], [1.5, 2.5, 3.5], [2, 3, 4]]
    assert choose(*made(losses, choose="one_se")).candidate == 2
    assert choose(*made(losses, choose="one_se")).inside == 2.5
    smaller = choose(*made(losses, choose="one_se", simplest={"alpha": "smaller"}))
    assert smaller.candidate == 0


def test_one_se_passes_over_failed_candidates():
    losses = [[1, 2, 3], [1.2, 2.2, 3.2], [1, np.nan, 3]]
    assert choose(*made(losses, choose="one_se")).candidate == 1


def test_one_se_takes_the_better_of_equally_simple_ones():
    losses = [[1.1, 2.1, 3.1], [1, 2, 3], [1, 2, 3]]
    equal = choose(*made(losses, choose="one_se", simplest=lambda params: 0))
    assert equal.candidate == 1


def test_a_function_chooses_from_cv_results():
    seen = {}

    def second(results):
        seen.update(results)
        return np.int64(1)

    chosen = choose(*made([[1, 1], [2, 2]], choose=second))
    assert (chosen.candidate, chosen.inside) == (1, 2.0)
    assert seen["mean_test_score"].tolist() == [-1, -2]  # greater is better, as scikit-learn's are
    assert seen["param_alpha"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (2, "returned candidate 2, but there are 2"),
        (-1, "returned candidate -1"),
        (0.5, "must return the number of a candidate, not 0.5"),
        ("best", "must return the number"),
        (0, "returned candidate 0, but a fit of it failed"),
    ],
)
def test_a_function_that_answers_nonsense_is_refused(answer, words):
    with pytest.raises(OptionError, match=words):
        choose(*made([[np.nan, 1], [2, 2]], choose=lambda results: answer))


def test_an_unknown_way_to_choose_is_refused():
    with pytest.raises(OptionError, match="'worst'"):
        choose(*made([[1, 1]], choose="worst"))


def one_se(estimator, space, simplest=None):
    """What one_se chooses where all candidates are equally good: the simplest."""
    family = Family(name="family", estimator=estimator, candidates=build_candidates(space, seed=0))
    losses = resolve_losses("squared", classification=False)
    search = Search(families=(family,), losses=losses, seed=0, choose="one_se", simplest=simplest)
    table = PanelTable.empty(range(len(search)), range(2), 1, sizes=[1, 1])
    table.losses[:] = 1.0
    table.answered[:] = True
    return search.params_of(choose(search, table).candidate)


def test_what_is_simple_is_known_for_plain_parameters():
    assert one_se(Ridge(), {"alpha": [1, 100, 10]}) == {"alpha": 100}
    assert one_se(KNeighborsRegressor(), {"n_neighbors": [1, 9, 5]}) == {"n_neighbors": 9}


def test_no_limit_is_the_least_simple():
    from sklearn.tree import DecisionTreeRegressor

    assert one_se(DecisionTreeRegressor(), {"max_depth": [None, 8, 2, 5]}) == {"max_depth": 2}
    assert one_se(DecisionTreeRegressor(), {"max_depth": [None, 50]}) == {"max_depth": 50}


def test_a_parameter_of_a_step_is_looked_up_in_its_step():
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline

    learner = make_pipeline(SelectKBest(), Ridge())
    assert one_se(learner, {"selectkbest__k": ["all", 3, 2]}) == {"selectkbest__k": 2}


def test_a_candidate_that_does_not_set_a_parameter_has_the_estimators_own():
    space = [{"fit_intercept": [True]}, {"alpha": [5.0, 0.1]}]
    assert one_se(Ridge(alpha=1.0), space, {"alpha": "larger"}) == {"alpha": 5.0}
    assert one_se(Ridge(alpha=9.0), space, {"alpha": "larger"}) == {"fit_intercept": True}


def test_the_first_parameter_named_weighs_most():
    space = {"alpha": [1, 2], "max_iter": [10, 20]}
    assert one_se(Ridge(), space, {"max_iter": "smaller", "alpha": "larger"}) == {"alpha": 2, "max_iter": 10}


@pytest.mark.parametrize(
    ("space", "simplest", "words"),
    [
        ({"solver": ["svd", "lsqr"]}, None, r'simplest=\{"solver": "smaller"\}'),
        ({"solver": ["svd", "lsqr"]}, {"solver": "smaller"}, "cannot order solver='"),
        ({"alpha": [1, 2]}, {"alhpa": "larger"}, "does not have. Did you mean 'alpha'"),
        ({"alpha": [1, 2]}, {"alpha": "bigger"}, '"smaller" or "larger"'),
        ({"alpha": [1, 2]}, "alpha", "is a function of a candidate's parameters, or a dict"),
    ],
)
def test_what_nobody_said_is_refused(space, simplest, words):
    with pytest.raises(SpaceError, match=words):
        one_se(Ridge(), space, simplest)


def test_families_need_a_function():
    families = tuple(
        Family(name=name, estimator=Ridge(), candidates=build_candidates({"alpha": [1]}, seed=0)) for name in "ab"
    )
    losses = resolve_losses("squared", classification=False)
    search = Search(families=families, losses=losses, seed=0, choose="one_se")
    table = PanelTable.empty(range(2), range(2), 1, sizes=[1, 1])
    table.losses[:] = 1.0
    with pytest.raises(SpaceError, match="which family is simplest"):
        choose(search, table)


def test_values_that_are_no_numbers_are_ordered_as_said():
    weights = {"weights": ["distance", "uniform"]}
    assert one_se(KNeighborsRegressor(), weights) == {"weights": "uniform"}
    assert one_se(KNeighborsRegressor(), weights, {"weights": ["distance", "uniform"]}) == {"weights": "distance"}
    with pytest.raises(SpaceError, match="a candidate has 'uniform'"):
        one_se(KNeighborsRegressor(), weights, {"weights": ["distance"]})


def test_few_columns_of_a_forest_are_fewer_than_a_share_of_them():
    from sklearn.ensemble import RandomForestRegressor

    assert one_se(RandomForestRegressor(), {"max_features": [1.0, 0.3, "sqrt"]}) == {"max_features": "sqrt"}
    assert one_se(RandomForestRegressor(), {"max_features": [None, 1.0]}) == {"max_features": 1.0}


def families_of(simplest):
    spaces = {"knn": (KNeighborsRegressor(), {"n_neighbors": [1, 9]}), "ridge": (Ridge(), {"alpha": [0.1, 10.0]})}
    families = tuple(
        Family(name=name, estimator=estimator, candidates=build_candidates(space, seed=0))
        for name, (estimator, space) in spaces.items()
    )
    losses = resolve_losses("squared", classification=False)
    return Search(families=families, losses=losses, seed=0, choose="one_se", simplest=simplest)


def test_families_may_be_listed_the_simplest_first():
    assert sorted(range(4), key=simplicity(families_of(["ridge", "knn"]))) == [3, 2, 1, 0]
    assert sorted(range(4), key=simplicity(families_of(["knn", "ridge"]))) == [1, 0, 3, 2]
    with pytest.raises(SpaceError, match="lists the families ridge, forest, but they are knn, ridge"):
        simplicity(families_of(["ridge", "forest"]))
