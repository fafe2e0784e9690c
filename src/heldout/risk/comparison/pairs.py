"""Every pair of several learners: difference, interval, p-value, probabilities, verdict and sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from heldout.risk.choose import NoInterval, choose_method
from heldout.risk.comparison.correlated_t import Probabilities, correlated_t
from heldout.risk.comparison.differences import ROUNDING, difference_record, has_no_spread
from heldout.risk.comparison.holm import holm
from heldout.risk.comparison.mcnemar import mcnemar
from heldout.risk.comparison.p_values import p_of_method
from heldout.risk.comparison.sentences import Verdict, judge, pair_sentence
from heldout.risk.estimands import Sizes, risk_words, rows_words
from heldout.risk.estimate import Estimate
from heldout.risk.estimates import estimate_risk, failed_parts, inside_value
from heldout.risk.intervals import METHODS, Method
from heldout.risk.intervals.draws import refuse_dependent_test_rows
from heldout.risk.record import Record, zero_one_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two learners compared, in the user's own sign: the difference is the first less the second."""

    first: str
    second: str
    difference: Estimate  # its level is that of this one interval, its `family_level` that of all of them together
    family_level: float
    p: float | None
    p_method: str | None
    p_holm: float | None
    probabilities: Probabilities | None  # left: the first is better
    rope: float | None
    verdict: Verdict
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    pool: bool | None
    interval: str | None


def compare_records(
    records: Mapping[str, Record],
    *,
    level: float = 0.95,
    rope: float | None = None,
    pool: bool | None = None,
    interval: str | None = None,
) -> tuple[Pair, ...]:
    """Compare every two of several learners that were tested on the same splits.

    The intervals hold together: with m pairs each has the level 1 − (1 − level)/m (Bonferroni), so that the chance
    that any of them misses is at most 1 − level, as far as the method keeps its own promise. p-values are adjusted
    by Holm. A learner is called better where Holm's p is at most 1 − level; by how much is said only where the
    interval leaves 0 out as well.

    Parameters
    ----------
    records : dict of Record
        The losses of each learner, by its name.
    level : float
        Of all intervals together.
    rope : float, optional
        Half the width of the region of practical equivalence, in the unit of the loss.
    pool : bool
        Take means over all held-out rows, not means of the means of the parts.
    interval : str, optional
        The interval method, as "5x2", where it takes differences; elsewhere, and when left out, the one that suits.
    """
    options = _Options(pool=pool, interval=interval)
    able = sum(inside_value(record, pool=pool) is not None for record in records.values())
    family = max(1, able * (able - 1) // 2)
    each = 1 - (1 - level) / family
    pairs = [_compare(two, records, each, rope, options) for two in combinations(records, 2)]
    tested = [index for index, pair in enumerate(pairs) if pair.p is not None]
    adjusted = holm([p for pair in pairs if (p := pair.p) is not None])
    for index, p_holm in zip(tested, adjusted, strict=True):
        pairs[index] = replace(pairs[index], p_holm=p_holm)
    return tuple(_judged(replace(pair, family_level=level)) for pair in pairs)


def _compare(
    names: tuple[str, str], records: Mapping[str, Record], level: float, rope: float | None, options: _Options
) -> Pair:
    """A pair before its p-value is adjusted."""
    first, second = (records[name] for name in names)
    record = difference_record(first, second)
    reason = _reason_of_no_value(names, (first, second), record)
    method = _method(record, options.interval) if reason is None else NoInterval(reason=reason)
    difference = estimate_risk(
        record,
        name="difference",
        estimand=_estimand(names, (first, second), record),
        level=level,
        interval=None if isinstance(method, NoInterval) else method.key,
        pool=options.pool,
        reason=method.reason if isinstance(method, NoInterval) else None,
    )
    if reason:
        difference = replace(difference, value=None)
    if difference.value is not None and abs(difference.value) <= ROUNDING * float(np.max(np.abs(record.fold_losses))):
        difference = replace(difference, value=0.0)  # differences that cancel leave rounding behind
    p, p_method = (None, None) if reason else _p_value((first, second, record), difference, method, pool=options.pool)
    return Pair(
        first=names[0],
        second=names[1],
        difference=difference,
        family_level=level,
        p=p,
        p_method=p_method,
        p_holm=None,
        probabilities=_posterior(record, rope) if difference.low is not None else None,
        rope=rope,
        verdict=Verdict.NONE,
        sentence="",
    )


def _judged(pair: Pair) -> Pair:
    verdict = judge(pair.difference, pair.p_holm, level=pair.family_level, rope=pair.rope)
    sentence = pair_sentence(
        (pair.first, pair.second), pair.difference, verdict, p=pair.p, p_holm=pair.p_holm, rope=pair.rope
    )
    return replace(pair, verdict=verdict, sentence=sentence)


def _reason_of_no_value(names: tuple[str, str], records: tuple[Record, Record], record: Record) -> str | None:
    failed = [
        f"{name!r}: {failed_parts(one)}"
        for name, one in zip(names, records, strict=True)
        if np.isnan(one.fold_losses).any()
    ]
    if failed:
        return " ".join(failed)
    if not np.isfinite(record.fold_losses).all():
        return "No value: a loss is infinite, or the difference of two losses is."
    return None


def _reason_of_no_spread(record: Record) -> str | None:
    """Differences that are all the same would make an interval of no width, which no data can justify."""
    if record.parts > 1:
        sample, what = record.fold_losses, f"{record.parts} parts"
    elif record.row_losses is not None and np.isinf(record.high):
        sample, what = record.row_losses[0], f"{len(record.row_losses[0])} rows"
    else:
        return None
    if len(sample) < 2 or not has_no_spread(sample):
        return None
    if not sample.any():
        return f"No interval: the two lost the same on all {what}."
    return f"No interval: the difference is the same on all {what}, so that nothing tells how it would vary."


def _p_value(
    records: tuple[Record, Record, Record], difference: Estimate, method: Method | NoInterval, *, pool: bool | None
) -> tuple[float | None, str | None]:
    first, second, record = records
    if difference.low is None or isinstance(method, NoInterval):
        same = not record.fold_losses.any() and (record.parts > 1 or _same_rows(record))
        return (1.0, "no difference in any part") if same and not record.leaves_one_out else (None, None)
    if record.parts == 1 and refuse_dependent_test_rows(record) is None:
        wrong = zero_one_errors(first), zero_one_errors(second)
        if wrong[0] is not None and wrong[1] is not None:
            return mcnemar(wrong[0], wrong[1]).p, "exact McNemar"
    value = inside_value(record, pool=pool)
    assert value is not None
    return p_of_method(method, record, value, difference.level), method.name


def _method(record: Record, asked: str | None) -> Method | NoInterval:
    """The method for a record of differences: the one asked for where it takes them, else the one that suits.

    Over one partition into folds that is the corrected t. Repeats and resamples move together more than it allows for
    (learners that are alike were told apart in up to 9 % of studies), so there its degrees of freedom are capped.
    """
    if (no_spread := _reason_of_no_spread(record)) is not None:
        return NoInterval(reason=no_spread)
    if asked in METHODS and METHODS[asked].belongs_to is None and METHODS[asked].refusal(record) is None:
        return METHODS[asked]
    if record.parts == 1:
        chosen = choose_method(record)
        # Differences lean neither way, and their tails are heavy: there Student keeps its level, and the bootstrap-t
        # told learners that are alike apart in 8 % of studies.
        by_rows = METHODS["student"]
        return by_rows if chosen is METHODS["bootstrap-t"] and by_rows.refusal(record) is None else chosen
    method = METHODS["corrected-t" if record.partition and record.repeats == 1 else "cautious-t"]
    refusal = method.refusal(record)
    return method if refusal is None else NoInterval(reason=f"No interval: {refusal}.")


def _same_rows(record: Record) -> bool:
    return record.row_losses is not None and not record.row_losses[0].any()


def _posterior(record: Record, rope: float | None) -> Probabilities | None:
    """The correlated t is for splits that share training rows; one test set has no such posterior."""
    if METHODS["corrected-t"].refusal(record) is not None:
        return None
    ratio = float(np.sum(record.held_sizes) / np.sum(record.train_sizes))
    return correlated_t(record.fold_losses, test_ratio=ratio, rope=rope or 0.0)


def _estimand(names: tuple[str, str], records: tuple[Record, Record], record: Record) -> str:
    quantity = risk_words(record.loss, record.sign)
    first, second = (Sizes.of(one.train_sizes) for one in records)
    if record.parts == 1 or first is None or second is None:
        return f"{quantity} of the predictor {names[0]!r} less that of {names[1]!r}"
    words = rows_words(first) if first == second else f"{rows_words(first)} and {rows_words(second)}"
    return f"expected {quantity} of {names[0]!r} less that of {names[1]!r}, trained on {words}"
