"""Naive Bayes from sums over the rows of each class."""
