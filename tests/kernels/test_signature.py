"""When unfitted estimators count as the same."""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif

from heldout.kernels.within.signature import signature


def test_clones_are_the_same_and_a_parameter_makes_a_difference():
    selector = SelectKBest(f_classif, k=3)
    assert signature(selector) == signature(clone(selector))
    assert signature(selector) != signature(clone(selector).set_params(k=4))
    assert signature(selector, without=["k"]) == signature(clone(selector).set_params(k=4), without=["k"])


def test_a_partial_function_is_its_function_and_what_it_is_given():
    one = SelectKBest(partial(mutual_info_classif, random_state=0))
    assert signature(one) == signature(clone(one))
    assert clone(one).score_func is not one.score_func
    for other in (partial(mutual_info_classif, random_state=1), partial(f_classif), mutual_info_classif):
        assert signature(one) != signature(SelectKBest(other))


def test_what_cannot_be_compared_is_the_same_as_itself_alone():
    class Odd:
        pass

    odd = Odd()
    assert signature(odd) == signature(odd)
    assert signature(odd) != signature(Odd())


def test_numbers_of_different_types_differ_and_all_nan_are_one():
    assert signature(1) != signature(1.0) != signature(True)
    assert signature(float("nan")) == signature(float("nan"))
    assert signature(np.float32(1)) != signature(np.float64(1))
