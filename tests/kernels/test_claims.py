"""What a glance at a family tells of all its candidates."""

from __future__ import annotations

import pytest
from lightgbm import LGBMRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.kernels.brute import make_candidate
from heldout.kernels.claims import candidates_of, last_type
from heldout.search.search import Family, Search, build_candidates

CHAIN = make_pipeline(StandardScaler(), Lasso())
INSIDE = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), Lasso()))


@pytest.mark.parametrize(
    ("estimator", "space", "kind"),
    [
        (Lasso(), {"alpha": [1.0]}, Lasso),
        (CHAIN, {"lasso__alpha": [1.0], "standardscaler__with_mean": [True]}, Lasso),
        (CHAIN, {"lasso": [Ridge()]}, None),
        (CHAIN, {"standardscaler": ["passthrough"]}, None),
        (CHAIN, {"steps": [[("ridge", Ridge())]]}, None),
        (INSIDE, {"pipeline__lasso__alpha": [1.0]}, Lasso),
        (INSIDE, {"pipeline__lasso": [Ridge()]}, None),
        (INSIDE, {"pipeline": [Ridge()]}, None),
    ],
)
def test_the_last_step_has_one_type_where_nothing_replaces_a_step(estimator, space, kind):
    assert last_type(Family(name="one", estimator=estimator, candidates=build_candidates(space, seed=0))) is kind


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (Lasso(), {"alpha": [0.1, 1.0], "max_iter": [10, 20]}),
        (CHAIN, {"lasso__alpha": [0.1, 1.0], "standardscaler__with_mean": [True, False]}),
        (INSIDE, {"pipeline__lasso__alpha": [0.1, 1.0], "standardscaler__with_std": [True, False]}),
        (CHAIN, {"lasso": [Ridge(), Lasso()], "standardscaler": ["passthrough", None]}),
        (CHAIN, {"memory": [None, "somewhere"], "lasso__alpha": [0.1, 1.0]}),
        (BaggingRegressor(Ridge()), {"estimator__alpha": [0.1, 1.0], "n_estimators": [2, 3]}),
        (Lasso(), {}),
        (make_pipeline(StandardScaler(), LGBMRegressor()), {"standardscaler__with_mean": [True, False]}),
        (BaggingRegressor(LGBMRegressor()), {"n_estimators": [2, 3]}),
    ],
)
def test_candidates_to_look_at_are_those_to_fit_and_the_learner_stays_as_it_was(estimator, space):
    before = repr(estimator.get_params(deep=True))
    search = Search(
        families=(Family(name="one", estimator=estimator, candidates=build_candidates(space, seed=0)),),
        losses=(),
        seed=0,
    )
    looked = list(candidates_of(search))
    assert [number for number, _ in looked] == list(range(len(search)))
    for number, one in looked:
        assert type(one) is type(estimator)
        assert repr(one.get_params(deep=True)) == repr(make_candidate(search, number).get_params(deep=True))
    assert repr(estimator.get_params(deep=True)) == before
