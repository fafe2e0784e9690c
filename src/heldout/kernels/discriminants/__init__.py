"""Linear and quadratic discriminant analysis from sums over the rows of each class."""

from heldout.kernels.discriminants.kernel import KERNEL

__all__ = ["KERNEL"]
