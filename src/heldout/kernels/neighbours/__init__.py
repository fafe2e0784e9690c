"""Nearest neighbours: one search answers every n_neighbors and weighting, and without preprocessing every fold."""
