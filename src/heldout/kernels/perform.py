"""Performs a step of a plan: finds its kernel by name and runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import sklearn

from heldout.base.errors import HeldoutError
from heldout.base.options import RULES_VARIABLE
from heldout.kernels.approximate import KERNEL as APPROXIMATE
from heldout.kernels.bayes.kernel import KERNEL as BAYES
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import AcrossKernel
from heldout.kernels.discriminants.kernel import KERNEL as DISCRIMINANTS
from heldout.kernels.glm.kernel import KERNEL as GLM
from heldout.kernels.lasso.kernel import KERNEL as LASSO
from heldout.kernels.neighbours.kernel import KERNEL as NEIGHBOURS
from heldout.kernels.pls.kernel import KERNEL as PLS
from heldout.kernels.ridge.kernel import KERNEL as RIDGE
from heldout.kernels.smoothers.kernel import KERNEL as SMOOTHERS
from heldout.kernels.step import Step, Work
from heldout.kernels.vectors.kernel import KERNEL as VECTORS
from heldout.kernels.within import answer_within
from heldout.search.search import Search
from heldout.study.answers import Answer
from heldout.task.task import Task

Kernel = Callable[[Step, Work], Iterator[Answer]]

# Kernels that answer many training sets at once, in the order in which they may claim.
ACROSS: tuple[AcrossKernel, ...] = (
    RIDGE,
    NEIGHBOURS,
    APPROXIMATE,
    GLM,
    VECTORS,
    LASSO,
    PLS,
    BAYES,
    DISCRIMINANTS,
    SMOOTHERS,
)

# By kernel: whether a candidate's responses stay the same if a constant is added to a column.
IGNORES_ORIGIN: Mapping[str, Callable[[Search, Task, int], bool]] = {
    kernel.name: kernel.ignores_origin for kernel in ACROSS
}

# Kernels that fit every candidate, so that their work is counted in fits and they may take part in races.
FITS_EACH = frozenset(kernel.name for kernel in ACROSS if kernel.fits_each)

# Kernels named like the rule that uses them; users switch off the rule by this name.
SWITCHED = frozenset({"within", *(kernel.name for kernel in ACROSS)})

KERNELS: Mapping[str, Kernel] = {
    "brute": answer_by_brute_force,
    "within": answer_within,
    **{kernel.name: kernel.answer for kernel in ACROSS},
}


def perform(step: Step, work: Work) -> list[Answer]:
    """Return all answers of one step, computed under the scikit-learn configuration with which the study was asked."""
    with sklearn.config_context(**work.config), naming_the_way_out(step.kernel):
        return list(KERNELS[step.kernel](step, work))


@contextmanager
def naming_the_way_out(kernel: str) -> Iterator[None]:
    """Add a note to an unexpected error of a kernel that says how to switch this kernel off."""
    try:
        yield
    except HeldoutError:
        raise
    except Exception as error:
        if kernel in SWITCHED:
            error.add_note(
                f"This came out of heldout's rule {kernel!r}. To go without it: Options(rules={{{kernel!r}: False}}), "
                f"or {RULES_VARIABLE}={kernel}=off in the environment."
            )
        raise
