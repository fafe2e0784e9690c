"""Partial least squares from sums of products: every training set is a difference, every count comes from one run."""

from heldout.kernels.pls.kernel import KERNEL

__all__ = ["KERNEL"]
