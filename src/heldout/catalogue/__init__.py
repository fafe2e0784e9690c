"""Learners by name: entries, how columns are prepared, which values are searched."""
