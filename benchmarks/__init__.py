"""Benchmarks: every speed that heldout claims is printed here, beside its peer, in one run."""
