"""Studies on a Dask cluster: the same steps, done by the same worker program, wherever Dask finds room."""
