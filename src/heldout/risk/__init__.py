"""Pure functions that turn recorded losses into estimates and intervals; they use no learner and no plan."""
