"""Naive Bayes, computed from sums over the rows of each class."""
