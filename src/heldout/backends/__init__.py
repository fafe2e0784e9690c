"""Backends that compute the steps of a plan: inline, on worker processes, on a Dask cluster."""
