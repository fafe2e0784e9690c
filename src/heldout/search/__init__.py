"""Candidates: grids, samples, and which of them is simpler."""
