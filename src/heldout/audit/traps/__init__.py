"""Checks for what makes a risk look too good: one function of the table each, called by `run_checks`."""
