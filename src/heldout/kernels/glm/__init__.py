"""Logistic, Poisson, gamma and Tweedie regression: scikit-learn's own L-BFGS steps, for all penalties in lock-step."""
