"""Where the steps of a plan are done: inline, on worker processes, on a Dask cluster."""
