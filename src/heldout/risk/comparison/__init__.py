"""Compares learners by their recorded losses: pure functions that use no learner.

Two records of the same drawn splits give a record of differences (:func:`paired_rows.difference_record`), and the
interval of a difference is computed like the interval of a risk. On plain arrays, as a simulation has them:

- losses ``a`` and ``b`` of rows: ``spread_of_rows(a - b)`` has the ``interval`` and the ``p``, the default over folds;
- fold losses ``a`` and ``b`` of K-fold cross-validation (J numbers each, ``ratio`` = held-out rows / training rows):
  ``corrected_t_p(a - b, test_ratio=ratio)`` is the p-value, ``corrected_t(a - b, test_ratio=ratio, level=0.95)`` the
  interval, ``correlated_t(a - b, test_ratio=ratio, rope=0.01)`` the posterior;
- fold losses of 2-fold cross-validation repeated 5 times, ten numbers in the order of the splits:
  ``five_by_two_mean(a - b)`` (dual to the interval "5x2") and ``five_by_two_f(a - b)``;
- fold losses of repeats and resamples: ``cautious_t_p`` and ``cautious_t`` instead of the corrected t;
- zero-one losses of the rows of one test set: ``mcnemar(a, b)``;
- bounded losses of the rows of one test set: ``betting_p((1 + (a - b) / width) / 2, level=0.95)``;
- several learners, from losses to sentences: ``compare_records({"a": record_a, "b": record_b}, level=0.95)``;
- losses on several datasets (datasets × learners): ``friedman(losses)``, ``nemenyi(losses)``, and
  ``signed_rank(a - b, rope=0.01, seed=0)`` for two of its columns.

If two learners are exchangeable, a test at level α must not reject more often than α.
"""
