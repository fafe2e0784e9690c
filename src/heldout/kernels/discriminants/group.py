"""The candidates of one form, and all that answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heldout.kernels.discriminants.forms import Form
from heldout.kernels.discriminants.recognise import methods_asked
from heldout.kernels.ridge.bank import Bank
from heldout.kernels.ridge.design import Design, Floats, Shift, class_codes, column_shift, matrix_of
from heldout.kernels.step import Work
from heldout.kernels.threads import Spread

KEY = "discriminants"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form, and all that answers them."""

    form: Form
    candidates: tuple[int, ...]
    shrinkages: Floats
    design: Design
    bank: Bank
    work: Work
    spread: Spread
    asked: Mapping[str, frozenset[str]]  # response methods, by level

    @property
    def classes(self) -> int:
        return self.design.strata_count

    @property
    def zero_matters(self) -> bool:
        """Whether decision values are asked for whose zero is where the columns are zero."""
        wanted = any("decision_function" in methods for methods in self.asked.values())
        return wanted and self.classes > 2 and not self.form.quadratic

    @property
    def numbers(self) -> int:
        """Numbers for each row and candidate."""
        if self.form.quadratic:
            return self.classes
        return 1 if self.classes == 2 else self.classes + self.zero_matters


def make_group(form: Form, members: dict[int, float], work: Work, spread: Spread) -> Group:
    """A group with its products: those of an earlier step where they are kept."""
    if KEY not in work.products:
        if "ridge/matrix" not in work.products:
            work.products["ridge/matrix"] = matrix_of(work.task)
        X = work.products["ridge/matrix"]
        assert work.task.classes is not None, "discriminants are claimed for single-output classification only"
        work.products[KEY] = Design(
            X=X,
            Y=np.empty((len(X), 0)),
            shift=Shift(x=column_shift(X, None), y=np.zeros(0)),
            weight=None,
            strata=class_codes(work.task),
            strata_count=len(work.task.classes),
        )
    design: Design = work.products[KEY]
    return Group(
        form=form,
        candidates=tuple(members),
        shrinkages=np.array(list(members.values())),
        design=design,
        bank=Bank(work, design, KEY, spread),
        work=work,
        spread=spread,
        asked={level: methods_asked(losses) for level, losses in work.losses.items()},
    )
