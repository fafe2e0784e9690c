"""Learners answered from statistics that are sums over rows, gathered cell by cell in one pass over the data."""
