"""Lasso and elastic nets: scikit-learn's own coordinate descent, on products of columns that training sets share."""
