"""Logistic, Poisson, Gamma and Tweedie regression by Newton steps, many training sets at once, warm along C."""

from heldout.kernels.glm.kernel import KERNEL

__all__ = ["KERNEL"]
