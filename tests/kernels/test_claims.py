"""What a glance at a family tells of all its candidates."""

from __future__ import annotations

import pytest
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.kernels.claims import last_type
from heldout.study.search import Family
from heldout.study.space import build_candidates

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
