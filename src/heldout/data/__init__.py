"""Reads data files as frames, and opens files and frames that are read as streams."""
