"""Candidates: grids, random samples, and which of them is simpler."""
