"""Sums over rows that describe training sets: how they are computed, and how large their rounding errors may be."""
