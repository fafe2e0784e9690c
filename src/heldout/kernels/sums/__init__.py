"""Sums over rows that describe training sets: how they are made, and how far rounding errors may have gone in them."""
