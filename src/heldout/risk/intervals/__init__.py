"""Confidence intervals, one method a file; each declares which records it accepts."""

from heldout.risk.intervals.batch_means import BATCH_MEANS
from heldout.risk.intervals.bayle import BAYLE, BAYLE_WITHIN
from heldout.risk.intervals.bca import BCA
from heldout.risk.intervals.betting import BETTING
from heldout.risk.intervals.bootstrap_t import BOOTSTRAP_T
from heldout.risk.intervals.cautious_t import CAUTIOUS_T
from heldout.risk.intervals.clopper_pearson import CLOPPER_PEARSON
from heldout.risk.intervals.cluster_t import CLUSTER_T
from heldout.risk.intervals.conservative_z import CONSERVATIVE_Z
from heldout.risk.intervals.corrected_t import CORRECTED_T
from heldout.risk.intervals.five_by_two import COMBINED_F, FIVE_BY_TWO_T
from heldout.risk.intervals.hoeffding import HOEFFDING
from heldout.risk.intervals.maurer_pontil import MAURER_PONTIL
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.rows import ROWS
from heldout.risk.intervals.student import STUDENT
from heldout.risk.intervals.wilson import WILSON

_ONE_TEST_SET = (CLOPPER_PEARSON, WILSON, BETTING, MAURER_PONTIL, HOEFFDING, BOOTSTRAP_T, BCA, STUDENT, CLUSTER_T)
_SEVERAL_PARTS = (ROWS, BATCH_MEANS, CORRECTED_T, CAUTIOUS_T, BAYLE, BAYLE_WITHIN)
_OTHERS = (CONSERVATIVE_Z, COMBINED_F, FIVE_BY_TWO_T)

METHODS: dict[str, Method] = {method.key: method for method in (*_ONE_TEST_SET, *_SEVERAL_PARTS, *_OTHERS)}

__all__ = ["METHODS", "Method"]
