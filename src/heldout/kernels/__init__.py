"""Computes the predictions of a plan: by brute force, or by a fast exact kernel for a learner family."""
