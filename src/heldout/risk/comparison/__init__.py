"""Comparing learners by their recorded losses: pure functions, one method a file, no learner in sight.

Two records of the same drawn splits make a record of differences (:func:`differences.difference_record`), and the
interval of a difference is made as the interval of a risk is. On plain arrays, as a simulation has them:

- losses ``a`` and ``b`` of rows: ``spread_of_rows(a - b)`` has the ``interval`` and the ``p``, the default over folds;
- fold losses ``a`` and ``b`` of K-fold cross-validation (J numbers each, ``ratio`` = held-out rows / training rows):
  ``corrected_t_p(a - b, test_ratio=ratio)`` is the p-value, ``corrected_t(a - b, test_ratio=ratio, level=0.95)`` the
  interval, ``correlated_t(a - b, test_ratio=ratio, rope=0.01)`` the posterior;
- fold losses of 2-fold cross-validation repeated 5 times, ten numbers in the order they were made:
  ``five_by_two_mean(a - b)`` (dual to the interval "5x2") and ``five_by_two_f(a - b)``;
- of fold losses of repeats and resamples: ``cautious_t_p`` and ``cautious_t`` in the place of the corrected t;
- zero-one losses of the rows of one test set: ``mcnemar(a, b)``;
- bounded losses of the rows of one test set: ``betting_p((1 + (a - b) / width) / 2, level=0.95)``;
- several learners, from losses to sentences: ``compare_records({"a": record_a, "b": record_b}, level=0.95)``;
- losses on several datasets, a row a dataset and a column a learner: ``friedman(losses)``, ``nemenyi(losses)``, and
  ``signed_rank(a - b, rope=0.01, seed=0)`` for two of its columns.

Under a null hypothesis of exchangeable learners a p-value of level α must not reject more often than α.
"""
