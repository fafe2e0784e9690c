"""Doing the plan: backends, progress and budgets. Clocks, files and processes live here and not below."""
