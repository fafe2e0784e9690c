"""Ridge, RidgeClassifier and least squares from sums over rows; a training set's sums are a difference of sums."""
