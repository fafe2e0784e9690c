"""Lasso and elastic nets: scikit-learn's own coordinate descent, on products of columns that training sets share."""

from heldout.kernels.driver.driver import Driver
from heldout.kernels.lasso.kernel import LassoKernel

KERNEL = Driver(LassoKernel())

__all__ = ["KERNEL"]
