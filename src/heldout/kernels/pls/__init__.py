"""Partial least squares from sums over rows: all numbers of components from one run on products of columns."""

from heldout.kernels.driver.driver import Driver
from heldout.kernels.pls.kernel import PLSKernel

KERNEL = Driver(PLSKernel())

__all__ = ["KERNEL"]
