"""Linear and quadratic discriminant analysis, computed from sums over the rows of each class."""
