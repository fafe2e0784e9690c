"""Naive Bayes from sums over the rows of each class."""

from heldout.kernels.bayes.kernel import BayesKernel
from heldout.kernels.driver.driver import Driver

KERNEL = Driver(BayesKernel())

__all__ = ["KERNEL"]
