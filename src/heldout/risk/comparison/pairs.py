"""Compares every pair of several learners: difference, interval, p-value, probabilities, verdict and sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.special import bdtr

from heldout.risk.comparison.paired_rows import PAIRED_ROWS, ROUNDING, contributions, difference_record, has_no_spread
from heldout.risk.comparison.sentences import Pair, Probabilities, correlated_t, judge, pair_sentence, t_posterior
from heldout.risk.estimands import Estimand, Sizes, Subject, risk_words, rows_words
from heldout.risk.estimate_risk import estimate_risk, failed_parts, first_that_accepts, record_value
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.method import Method, refuse_dependent_test_rows
from heldout.risk.intervals.t_intervals import held_to_trained
from heldout.risk.record import Floats, Record, zero_one_errors


def inverted_p(method: Method, record: Record, value: float) -> float:
    """Return 1 minus the largest level whose interval excludes 0, found by bisection; intervals must be nested.

    It is exact to 1e-6, or to 0.00025 for methods that resample, and rounded up.
    """
    low, high = 0.0, 1.0
    for _ in range(12 if method.resamples else 20):
        level = (low + high) / 2
        interval = method.interval(record, value, level)
        if interval.low <= 0 <= interval.high:
            high = level
        else:
            low = level
    return 1 - low


def p_of_method(method: Method, record: Record, value: float, level: float) -> float:
    """Return the p-value of a zero mean that matches the intervals of a method."""
    if method.spread is not None:
        return method.spread(record).p(value=value)
    return inverted_p(method, record, value) if method.p is None else method.p(record, value, level)


def mcnemar(first: Floats, second: Floats) -> float:
    """Return the two-sided p-value of McNemar's exact test for zero-one losses on the same independent rows.

    If both predictors err equally often, each row that only one of them got wrong is the first's error with probability
    one half. This gives a binomial test, valid for any number of rows and slightly conservative as counts are discrete.

    >>> mcnemar(np.array([1.0, 1, 1, 1, 1, 1, 0, 1]), np.array([0.0, 0, 0, 0, 0, 0, 0, 1]))
    0.03125
    """
    only_first = int(np.sum((first != 0) & (second == 0)))
    only_second = int(np.sum((second != 0) & (first == 0)))
    fewer, both = min(only_first, only_second), only_first + only_second
    return min(1.0, 2 * float(bdtr(fewer, both, 0.5))) if both else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm: rejecting those of at most α makes any false rejection with probability ≤ α.

    The tests may depend on each other in any way. Holm rejects whatever Bonferroni rejects, and more.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]


def permutation_p(loss: float, shuffled: Floats) -> float:
    """Return the permutation p-value (1 + #)/(B + 1) of a loss, given the losses on B shuffled targets.

    # counts the shuffled losses that are as small, including ties within rounding and missing losses (NaN). Counting
    the loss itself as one of B + 1 makes the test exact for any B.

    >>> permutation_p(0.1, np.array([0.5, 0.4, 0.1, np.nan]))
    0.6
    """
    finite = shuffled[np.isfinite(shuffled)]
    tie = ROUNDING * max(abs(loss), float(np.max(np.abs(finite), initial=0.0)))
    beaten = np.sum(shuffled > loss + tie)
    return float((1 + len(shuffled) - beaten) / (len(shuffled) + 1))


BY_FOLDS = ("corrected-t", "cautious-t", "conservative-z", "5x2", "5x2-t")  # over several parts, on request
STRATIFIED = (
    "No interval: this score belongs to whole sets, and stratified folds have too little spread to tell how far their "
    "mean is off. KFold(…, stratify=False) gives an interval."
)


def compare_records(
    records: Mapping[str, Record],
    *,
    level: float = 0.95,
    rope: float | None = None,
    pool: bool | None = None,
    interval: str | None = None,
) -> tuple[Pair, ...]:
    """Compare every pair of several learners that were tested on the same splits.

    The intervals hold simultaneously: with m pairs each has the level 1 − (1 − level)/m (Bonferroni), so any of them
    misses with probability 1 − level at most, if the method keeps its own level. p-values are adjusted by Holm. A
    learner is called better if Holm's p is at most 1 − level; the sentence says by how much only if the interval also
    excludes 0.

    `rope` is half the width of the region of practical equivalence, in the unit of the loss (None: no region). `pool`
    takes means over all held-out rows (True), means of part means (False), or the default of the loss (None).
    `interval` is the key of a method, such as "corrected-t" or "5x2". With None, or if that method does not accept
    differences, the default is used: paired rows over several parts.
    """
    able = sum(record_value(record, pool=pool) is not None for record in records.values())
    family = max(1, able * (able - 1) // 2)
    each = 1 - (1 - level) / family
    pairs = [
        _compare(two, records, level=each, rope=rope, pool=pool, interval=interval) for two in combinations(records, 2)
    ]
    adjusted = iter(holm([pair.p for pair in pairs if pair.p is not None]))
    return tuple(_judged(pair, None if pair.p is None else next(adjusted), level) for pair in pairs)


def _compare(
    names: tuple[str, str],
    records: Mapping[str, Record],
    *,
    level: float,
    rope: float | None,
    pool: bool | None,
    interval: str | None,
) -> Pair:
    """Return the comparison of a pair, before its p-value is adjusted and its verdict is set."""
    first, second = both = records[names[0]], records[names[1]]
    record = difference_record(first, second)
    no_value = _reason_of_no_value(names, both, record, pool=pool)
    method = no_value or _method(record, interval)
    difference = estimate_risk(
        record,
        name="difference",
        estimand=_estimand(names, both, record),
        level=level,
        interval=None if isinstance(method, str) else method,
        pool=pool,
        reason=method if isinstance(method, str) else None,
    )
    if no_value:
        difference = replace(difference, value=None)
    elif abs(difference.value or 0.0) <= ROUNDING * float(np.max(np.abs(record.fold_losses))):
        difference = replace(difference, value=0.0)  # differences that cancel leave rounding behind
    used = None if difference.low is None or isinstance(method, str) else method
    p, p_method = (None, None) if no_value else _p_value(both, record, used, level=level, pool=pool)
    return Pair(
        first=names[0],
        second=names[1],
        difference=difference,
        family_level=level,
        p=p,
        p_method=p_method,
        probabilities=None if used is None else _posterior(record, used, rope, pool=pool),
        rope=rope,
    )


def _judged(pair: Pair, p_holm: float | None, level: float) -> Pair:
    verdict = judge(pair.difference, p_holm, level=level, rope=pair.rope)
    pair = replace(pair, p_holm=p_holm, family_level=level, verdict=verdict)
    return replace(pair, sentence=pair_sentence(pair))


def _reason_of_no_value(
    names: tuple[str, str], records: tuple[Record, Record], record: Record, *, pool: bool | None
) -> str | None:
    failed = [
        f"{name!r}: {failed_parts(each)}"
        for name, each in zip(names, records, strict=True)
        if np.isnan(each.fold_losses).any() and record_value(each, pool=pool) is None
    ]
    if failed:
        return " ".join(failed)
    value = record_value(record, pool=pool)
    if any(np.isinf(each.fold_losses).any() for each in (*records, record)) or value in (np.inf, -np.inf):
        return "No value: a loss is infinite, or the difference of two losses is."
    return "No value: the score of all held-out rows together could not be taken." if value is None else None


def _reason_of_no_spread(record: Record) -> str | None:
    """Return why differences that are all equal give no interval, since it would have no width; None if they vary.

    Differences of ±1 from right and wrong are the exception: an interval of counts has a width if any row differs.
    """
    sample, what = _sample(record)
    if sample is None or len(sample) < 2 or not has_no_spread(sample):
        return None
    if not sample.any() and not np.nan_to_num(record.fold_losses).any():
        return f"No interval: the two lost the same on all {len(sample)} {what}."
    if np.isfinite(record.high) and what == "rows" and abs(float(sample[0])) == record.high:
        return None  # one is right and the other wrong on every row: an interval of counts still has a width
    return (
        f"No interval: the difference is the same on all {len(sample)} {what}, so that nothing tells how it would vary."
    )


def _sample(record: Record) -> tuple[Floats | None, str]:
    """Return the differences that the interval is computed from (None if not needed or unknown), and their name."""
    rows = contributions(record)
    if record.parts == 1 and np.isfinite(record.high) and record.row_losses is not None:
        return None, "rows"  # the range of the loss makes an interval where rows do not vary
    if rows is None:
        return (record.fold_losses if record.parts > 1 else None), "parts"
    return np.concatenate(rows), "rows"


def _p_value(
    records: tuple[Record, Record], record: Record, method: Method | None, *, level: float, pool: bool | None
) -> tuple[float | None, str | None]:
    """Return the p-value and the name of its test; without a method, 1 if no loss differs, else None."""
    if method is None:
        rows = contributions(record)
        known = rows is not None or record.parts > 1
        differs = record.fold_losses.any() or any(part.any() for part in rows or ())
        return (1.0, "no difference in any part") if known and not differs else (None, None)
    if record.parts == 1 and refuse_dependent_test_rows(record) is None:
        first, second = (zero_one_errors(one) for one in records)
        if first is not None and second is not None:
            return mcnemar(first, second), "exact McNemar"
    value = record_value(record, pool=pool)
    assert value is not None
    return p_of_method(method, record, value, level), method.name


def _method(record: Record, asked: str | None) -> Method | str:
    """Return the interval method for a record of differences, or the reason why there is none.

    It is the asked method if that accepts differences. The default over several parts is paired rows, or batch means
    for rows in time. Set scores without influences of rows have only fold means, and those of stratified folds vary too
    little for an interval.
    """
    if (no_spread := _reason_of_no_spread(record)) is not None:
        return no_spread
    if asked in METHODS and (record.parts == 1 or asked in BY_FOLDS):
        method = METHODS[asked]
        if method.belongs_to is None and method.refusal(record) is None:
            return method
    if record.timed:
        return first_that_accepts(record, ["batch-means"])
    if record.parts == 1 and record.row_losses is not None:
        # Differences are nearly symmetric with heavy tails. Student keeps its level there, but the bootstrap-t told
        # equal learners apart in 8 % of studies.
        return first_that_accepts(record, ["betting", "student", "cluster-t"])
    if record.parts == 1 or contributions(record) is not None:
        return first_that_accepts(record, [PAIRED_ROWS])
    by_means = first_that_accepts(record, ["corrected-t" if record.partition and record.repeats == 1 else "cautious-t"])
    return STRATIFIED if record.stratified and isinstance(by_means, Method) else by_means


def _posterior(record: Record, method: Method, rope: float | None, *, pool: bool | None) -> Probabilities | None:
    """Return the posterior probabilities by the standard error of the interval; None for methods without one."""
    if method.spread is not None:
        spread, value = method.spread(record), record_value(record, pool=pool)
        assert value is not None
        return t_posterior(spread.shrink * value, spread.error, spread.freedom, rope=rope or 0.0)
    if METHODS["corrected-t"].refusal(record) is not None:
        return None
    return correlated_t(record.fold_losses, test_ratio=held_to_trained(record), rope=rope or 0.0)


def _estimand(names: tuple[str, str], records: tuple[Record, Record], record: Record) -> Estimand:
    quantity = risk_words(record.loss, record.sign)
    first, second = (Sizes.of(each.train_sizes) for each in records)
    if record.parts == 1 or first is None or second is None:
        return Estimand(f"{quantity} of the predictor {names[0]!r} less that of {names[1]!r}", Subject.PREDICTOR)
    words = rows_words(first) if first == second else f"{rows_words(first)} and {rows_words(second)}"
    return Estimand(
        f"expected {quantity} of {names[0]!r} less that of {names[1]!r}, trained on {words}: of the learners, not of "
        f"these {record.parts} pairs of fits",
        Subject.LEARNER,
    )
