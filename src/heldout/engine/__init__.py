"""Runs a plan: the loop, progress and time limits. Clocks, files and processes are used here, not in lower rooms."""
