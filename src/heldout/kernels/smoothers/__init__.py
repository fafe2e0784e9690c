"""Kernel ridge regression and Gaussian processes with a fixed kernel: every training set from one Gram matrix."""
