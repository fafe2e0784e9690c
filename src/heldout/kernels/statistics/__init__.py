"""Learners answered from sums over rows, which one pass over a stream collects cell by cell."""
