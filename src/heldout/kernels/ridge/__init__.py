"""Ridge regression and its kin from sufficient statistics: every training set is a difference of sums."""

from heldout.kernels.ridge.kernel import KERNEL

__all__ = ["KERNEL"]
