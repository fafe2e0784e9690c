"""Checks for what makes a risk look better than it is: a function of the table each, which `run_checks` calls."""
