"""Partial least squares from sums over rows: one run on the Gram matrix gives every number of components."""
