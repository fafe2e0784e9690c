"""Ridge regression and its kin from sums over rows: every training set is a difference of sums."""

from heldout.kernels.driver.driver import Driver
from heldout.kernels.ridge.kernel import RidgeKernel

KERNEL = Driver(RidgeKernel())

__all__ = ["KERNEL"]
