"""Bounds that races drop candidates by: pure functions of the losses of the parts that a candidate has run."""

from heldout.risk.races.bernstein import bernstein_low
from heldout.risk.races.exact import exact_low
from heldout.risk.races.hoeffding import hoeffding_low
from heldout.risk.races.paired import FEWEST, surely_worse

__all__ = ["FEWEST", "bernstein_low", "exact_low", "hoeffding_low", "surely_worse"]
