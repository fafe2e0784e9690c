"""Leave-one-out of generalised linear models, approximated from the one fit on all rows. Only where it is asked for."""

from heldout.kernels.approximate.kernel import KERNEL

__all__ = ["KERNEL"]
