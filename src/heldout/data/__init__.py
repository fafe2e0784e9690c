"""Reads data files as data frames, and opens Parquet files and Dask data frames as streams."""
