"""Confidence intervals, one method a file; each declares which records it accepts."""

from heldout.risk.intervals.clopper_pearson import CLOPPER_PEARSON
from heldout.risk.intervals.corrected_t import CORRECTED_T
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.student import STUDENT

METHODS: dict[str, Method] = {method.key: method for method in (CLOPPER_PEARSON, CORRECTED_T, STUDENT)}

__all__ = ["METHODS", "Method"]
