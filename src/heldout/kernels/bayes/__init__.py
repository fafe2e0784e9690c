"""Naive Bayes from sums over the rows of each class: every training set is a difference of sums."""

from heldout.kernels.bayes.kernel import KERNEL

__all__ = ["KERNEL"]
