"""Ridge regression and its kin from sums over rows: every training set is a difference of sums."""
