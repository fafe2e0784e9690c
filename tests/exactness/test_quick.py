"""A drawn part of `make exactness`: some studies of each family, whose kernels must claim and answer them."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # where the study modules find each other

import suite
from compare import Comparison, recorded_calls

STUDIES = 18  # of each family

family = cache(suite.family)
drawn = cache(lambda name: family(name).drawn(STUDIES))


@pytest.mark.parametrize("name", suite.families())
def test_labels_are_unique_and_expectations_name_studies_that_exist(name: str) -> None:
    labels = [label for label, _ in family(name).studies()]
    assert len(set(labels)) == len(labels)
    assert (family(name).refused | set(family(name).answered)) - set(labels) == set()
    assert len(family(name).refused) < len(labels) / 4, "nearly all of a family is there to be answered by its kernel"


@pytest.mark.parametrize("number", range(STUDIES))
@pytest.mark.parametrize("name", suite.families())
def test_a_study_is_answered_by_its_kernel_as_brute_force_answers_it(name: str, number: int) -> None:
    label, build = drawn(name)[number]
    assert family(name).faults(family(name).compared(label, build)) == [], label


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"claimed": False}, "the kernel refused it"),
        ({"checks_passed": False}, "brute force was compared with itself"),
        ({"fallback_fits": 80}, "the kernel answered 20% of 100 fits"),
        ({"examined": 0}, "no fit of the kernel was seen"),
        ({"difference": 1e-8}, "difference 1e-08, allowed 1e-09"),
        ({"same_choices": False}, "choices or failures differ"),
    ],
)
def test_what_makes_a_difference_of_zero_say_nothing_is_a_fault(change: dict[str, Any], words: str) -> None:
    good = Comparison(
        label="some study",
        claimed=True,
        brute_fits=100,
        fallback_fits=3,
        checks_passed=True,
        difference=0.0,
        allowed=1e-9,
        same_choices=True,
        refusals=(),
        examined=97,
    )
    assert family("ridge").faults(good) == []
    (fault,) = family("ridge").faults(replace(good, **change))
    assert words in fault


def test_a_function_that_is_recorded_must_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_function"), recorded_calls(suite, "no_such_function"):
        pass
