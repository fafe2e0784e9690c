"""Comparing learners by their recorded losses: pure functions, one method a file, no learner in sight.

Two records of the same drawn splits make a record of differences (:func:`differences.difference_record`), and the
interval of a difference is made as the interval of a risk is. On plain arrays, as a simulation has them:

- losses ``a`` and ``b`` of rows that were held out once: ``paired_rows(a - b, level=0.95)`` is the interval and
  ``paired_rows_p(a - b)`` the p-value, the default over folds; ``spread_of_rows`` knows rows that were held out often;
- fold losses ``a`` and ``b`` of K-fold cross-validation (J numbers each, ``ratio`` = held-out rows / training rows):
  ``corrected_t_p(a - b, test_ratio=ratio)`` is the p-value, ``corrected_t(a - b, test_ratio=ratio, level=0.95)`` the
  interval, ``correlated_t(a - b, test_ratio=ratio, rope=0.01)`` the posterior;
- fold losses of 2-fold cross-validation repeated 5 times, ten numbers in the order they were made:
  ``five_by_two_mean(a - b)`` (dual to the interval "5x2"), ``five_by_two_f(a - b)`` and ``five_by_two_t(a - b)``;
- of fold losses of repeats and resamples: ``cautious_t_p`` and ``cautious_t`` in the place of the corrected t;
- zero-one losses of the rows of one test set: ``mcnemar(a, b)``;
- bounded losses of the rows of one test set: ``betting_p((1 + (a - b) / width) / 2, level=0.95)``;
- several learners, from losses to sentences: ``compare_records({"a": record_a, "b": record_b}, level=0.95)``;
- losses on several datasets, a row a dataset and a column a learner: ``friedman(losses)``, ``nemenyi(losses)``, and
  ``signed_rank(a - b, rope=0.01, seed=0)`` for two of its columns.

Under a null hypothesis of exchangeable learners a p-value of level α must not reject more often than α.
"""

from heldout.risk.comparison.bayesian import Probabilities, correlated_t, signed_rank
from heldout.risk.comparison.differences import difference_record
from heldout.risk.comparison.over_datasets import critical_distance, friedman, nemenyi, permuted_ranks
from heldout.risk.comparison.p_values import holm, mcnemar, permutation_p
from heldout.risk.comparison.paired_rows import paired_rows, paired_rows_p, spread_of_rows
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Pair
from heldout.risk.intervals.betting import betting_p
from heldout.risk.intervals.five_by_two import five_by_two_f, five_by_two_mean, five_by_two_t
from heldout.risk.intervals.t_intervals import cautious_t_p, corrected_t_p, student_p

__all__ = [
    "Pair",
    "Probabilities",
    "betting_p",
    "cautious_t_p",
    "compare_records",
    "corrected_t_p",
    "correlated_t",
    "critical_distance",
    "difference_record",
    "five_by_two_f",
    "five_by_two_mean",
    "five_by_two_t",
    "friedman",
    "holm",
    "mcnemar",
    "nemenyi",
    "paired_rows",
    "paired_rows_p",
    "permutation_p",
    "permuted_ranks",
    "signed_rank",
    "spread_of_rows",
    "student_p",
]
