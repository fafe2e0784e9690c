"""Identity by content: stable across processes, told by values, code and libraries, refused where there is none."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import heldout as ho
from heldout.base.errors import IdentityError
from heldout.journal.identity import identify


def halve(X: Any) -> Any:
    return X / 2


def key(value: Any) -> bytes:
    return identify(value, "the learner").key


THINGS: dict[str, Any] = {
    "pipeline": make_pipeline(StandardScaler(), Ridge(alpha=2.0)),
    "scorer": make_scorer(f1_score, average="macro"),
    "name": get_scorer("roc_auc"),
    "splitter": ho.KFold(4),
    "tuned": ho.Tuned(SVC(), {"C": [1, 2]}, validation=ho.KFold(3)),
    "frozen": FrozenEstimator(RandomForestRegressor(3, random_state=0).fit(np.eye(4), np.arange(4.0))),
    "numpy": FunctionTransformer(np.log1p),
    "arrays": LogisticRegression(class_weight={0: 1.5, "b": np.float32(2)}),
    "state": RandomForestRegressor(random_state=np.random.RandomState(3)),
    "frame": FunctionTransformer(kw_args={"table": pd.DataFrame({"a": [1, 2], "b": ["x", None]})}),
    "sparse": FunctionTransformer(kw_args={"table": sparse.csr_array(np.eye(3))}),
    "set": FunctionTransformer(kw_args={"words": {"these", "come", "in", "any", "order"}}),
    "partial": FunctionTransformer(partial(np.clip, a_min=0, a_max=1)),
}

PROGRAM = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("things", {str(Path(__file__))!r})
module = importlib.util.module_from_spec(spec); sys.modules["things"] = module; spec.loader.exec_module(module)
print({{name: module.key(value).hex() for name, value in module.THINGS.items()}})
"""


def test_keys_are_the_same_in_another_process():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == repr({name: key(value).hex() for name, value in THINGS.items()})


def test_things_that_differ_have_different_keys():
    assert len({key(value) for value in THINGS.values()}) == len(THINGS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Ridge(1), Ridge(1.0)),
        (Ridge(alpha=0.0), Ridge(alpha=-0.0)),
        (Ridge(np.array([1, 2])), Ridge(np.array([1.0, 2.0]))),
        (Ridge(np.array([1.0, 2.0])), Ridge(np.array([[1.0, 2.0]]))),
        (make_pipeline(StandardScaler(), Ridge()), make_pipeline(Ridge())),
        (FunctionTransformer(np.log1p), FunctionTransformer(np.log)),
        (np.random.RandomState(0), np.random.RandomState(1)),
        (
            FrozenEstimator(Ridge().fit(np.eye(2), [0, 1])),
            FrozenEstimator(Ridge().fit(np.eye(2), [0, 2])),
        ),
    ],
)
def test_a_small_difference_counts(one: Any, other: Any):
    assert key(one) != key(other)


def test_the_order_of_a_dict_does_not_count():
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})


def test_libraries_are_named_with_their_version():
    import sklearn

    assert dict(identify(Ridge(), "it").libraries) == {"scikit-learn": sklearn.__version__}


SOURCE = """
from sklearn.base import BaseEstimator
FACTOR = 2
def scale(x):
    return x * FACTOR
class Own(BaseEstimator):
    def fit(self, X, y):
        self.mean_ = scale(y.mean())
        return self
"""


def own(tmp_path: Path, source: str, name: str) -> Any:
    """A learner from a module of the user's own, written anew."""
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("own_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_module"] = module
    spec.loader.exec_module(module)
    return module.Own()


@pytest.mark.parametrize(
    "edit",
    [("self.mean_ =", "self.mean_ = 1 +"), ("x * FACTOR", "x + FACTOR"), ("FACTOR = 2", "FACTOR = 3")],
    ids=["the class", "a function that it calls", "a constant of that"],
)
def test_own_code_counts_by_its_source(tmp_path: Path, edit: tuple[str, str]):
    before = identify(own(tmp_path, SOURCE, "before"), "it")
    same = identify(own(tmp_path, SOURCE, "same"), "it")
    after = identify(own(tmp_path, SOURCE.replace(*edit), "after"), "it")
    assert before.key == same.key != after.key
    assert before.structure == after.structure
    assert before.code.keys() == {"own_module.Own", "own_module.scale"}


def closure() -> Any:
    step = 2

    def shift(X: Any) -> Any:
        return X + step

    return shift


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (make_pipeline(FunctionTransformer(lambda X: X)), r"steps\[0\]\[1\].func is a lambda"),
        (FunctionTransformer(closure()), "the learner.func is 'closure.<locals>.shift', a closure over 'step'"),
        (FunctionTransformer(kw_args={"lock": Lock()}), r"the learner.kw_args\['lock'\] is a lock"),
    ],
)
def test_what_has_no_identity_is_refused_by_name_with_the_way_out(thing: Any, words: str):
    with pytest.raises(IdentityError, match=words) as refusal:
        identify(thing, "the learner")
    assert "ass journal=None" in str(refusal.value)


def test_functions_at_the_top_of_a_module_are_fine():
    assert f"{halve.__module__}.halve" in identify(FunctionTransformer(halve), "it").code
