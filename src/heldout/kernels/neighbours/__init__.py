"""Nearest neighbours: one search answers every n_neighbors and weighting, and without a scaler every fold as well."""
