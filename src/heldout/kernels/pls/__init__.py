"""Partial least squares from sums over rows: all numbers of components from one run on products of columns."""
