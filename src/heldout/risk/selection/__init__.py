"""What choosing among candidates does to a number: how optimistic the best one is, and what can be said instead."""

from heldout.risk.selection.bbc import bbc
from heldout.risk.selection.correction import Correction
from heldout.risk.selection.development import Development, development_bounds, simultaneous_intervals
from heldout.risk.selection.tibshirani import tibshirani

__all__ = [
    "Correction",
    "Development",
    "bbc",
    "development_bounds",
    "simultaneous_intervals",
    "tibshirani",
]
