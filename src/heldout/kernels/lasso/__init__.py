"""Lasso and elastic nets on products of columns: descent, or exchanges of active columns where that crawls."""

from heldout.kernels.lasso.kernel import KERNEL

__all__ = ["KERNEL"]
