"""From recorded losses to estimates: pure functions that know no learner and no plan."""
