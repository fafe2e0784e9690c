"""Discriminant analysis from sums over the rows of each class."""

from heldout.kernels.discriminants.kernel import DiscriminantKernel
from heldout.kernels.driver.driver import Driver

KERNEL = Driver(DiscriminantKernel())

__all__ = ["KERNEL"]
