"""Confidence intervals; each method declares which records it accepts."""

from heldout.risk.intervals.batch_means import BATCH_MEANS
from heldout.risk.intervals.bayle import BAYLE, BAYLE_WITHIN
from heldout.risk.intervals.betting import BETTING
from heldout.risk.intervals.binomial import CLOPPER_PEARSON, WILSON
from heldout.risk.intervals.bootstrap import BCA, BOOTSTRAP_T
from heldout.risk.intervals.bounded import HOEFFDING, MAURER_PONTIL
from heldout.risk.intervals.conservative_z import CONSERVATIVE_Z
from heldout.risk.intervals.five_by_two import COMBINED_F, FIVE_BY_TWO_T
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.rows import ROWS
from heldout.risk.intervals.t_intervals import CAUTIOUS_T, CLUSTER_T, CORRECTED_T, STUDENT

_ONE_TEST_SET = (CLOPPER_PEARSON, WILSON, BETTING, MAURER_PONTIL, HOEFFDING, BOOTSTRAP_T, BCA, STUDENT, CLUSTER_T)
_SEVERAL_PARTS = (ROWS, BATCH_MEANS, CORRECTED_T, CAUTIOUS_T, BAYLE, BAYLE_WITHIN)
_OTHERS = (CONSERVATIVE_Z, COMBINED_F, FIVE_BY_TWO_T)

METHODS: dict[str, Method] = {method.key: method for method in (*_ONE_TEST_SET, *_SEVERAL_PARTS, *_OTHERS)}

__all__ = ["METHODS", "Method"]
