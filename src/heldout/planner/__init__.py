"""From a study to a plan: rules, one list of passes, and a check of the plan after each pass."""
