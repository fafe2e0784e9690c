"""Discriminant analysis from sums over the rows of each class."""
