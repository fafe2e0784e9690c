"""Lasso and ElasticNet: scikit-learn's own coordinate descent, on Gram matrices whose sums training sets share."""
