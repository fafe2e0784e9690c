"""The candidates of one form, and all that answers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.kernels.ridge.bank import Bank
from heldout.kernels.ridge.design import Design, Floats, make_design, matrix_of, numeric_type
from heldout.kernels.ridge.forms import Form
from heldout.kernels.step import Work
from heldout.kernels.threads import Spread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form, and all that answers them."""

    form: Form
    candidates: tuple[int, ...]
    alphas: Floats
    design: Design
    dtype: np.dtype[Any]
    bank: Bank
    work: Work
    spread: Spread


def make_group(form: Form, members: dict[int, float], work: Work, spread: Spread) -> Group:
    """A group with its products: those of an earlier step where they are kept."""
    key = ("ridge", form.weighting)
    if "ridge/matrix" not in work.products:
        work.products["ridge/matrix"] = matrix_of(work.task)
    if key not in work.products:
        work.products[key] = make_design(work.task, form, work.products["ridge/matrix"])
    design = work.products[key]
    return Group(
        form=form,
        candidates=tuple(members),
        alphas=np.array(list(members.values())),
        design=design,
        dtype=numeric_type(work.task, form),
        bank=Bank(work, design, key, spread),
        work=work,
        spread=spread,
    )
