"""Lasso and elastic nets: coordinate descent on products of columns, and Newton steps where it crawls."""

from heldout.kernels.lasso.kernel import KERNEL

__all__ = ["KERNEL"]
