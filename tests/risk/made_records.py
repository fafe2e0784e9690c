"""Records made by hand, and for each interval method the records that it accepts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from heldout.risk.record import Record

finite = st.one_of(st.floats(-1e300, 1e300), st.sampled_from([0.0, -0.0, 1e-300, 1e300, -1e300, 1.0]))
units = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-300]))
levels = st.one_of(st.floats(0.01, 0.9999), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))


def one_test_set(rows, **changed):
    rows = np.asarray(rows, dtype=float)
    plain = {"loss": "squared", "sign": 1, "low": -np.inf, "high": np.inf, "kind": "holdout", "drawn": True}
    weights = changed.get("weights")
    return Record(
        fold_losses=np.array([np.average(rows, weights=None if weights is None else weights[0])]),
        row_losses=(rows,),
        train_sizes=np.array([4 * len(rows)]),
        held_sizes=np.array([len(rows)]),
        **{**plain, **changed},
    )


def zero_one(rows, **changed):
    return one_test_set(rows, **{"loss": "zero_one", "low": 0.0, "high": 1.0, **changed})


def grouped(rows, groups, **changed):
    return one_test_set(rows, grouped=True, groups=(np.asarray(groups),), **changed)


def folds(losses, *, held=10, train=90, **changed):
    """Parts of which only the mean losses are known."""
    losses = np.asarray(losses, dtype=float)
    plain = {"loss": "squared", "sign": 1, "low": -np.inf, "high": np.inf, "kind": "kfold", "row_losses": None}
    return Record(
        fold_losses=losses,
        train_sizes=np.full(len(losses), train),
        held_sizes=np.full(len(losses), held),
        **{**plain, "partition": True, "drawn": True, **changed},
    )


def folds_of_rows(parts, **changed):
    """Folds with the losses of their rows, each trained on all the others."""
    rows = tuple(np.asarray(part, dtype=float) for part in parts)
    sizes = np.array([len(part) for part in rows])
    made = folds([part.mean() for part in rows], **{"row_losses": rows, **changed})
    return replace(made, train_sizes=sizes.sum() - sizes, held_sizes=sizes)


def in_halves(losses, *, parts=2):
    """Parts that lie in disjoint halves, `parts` in each."""
    halves = np.repeat(np.arange(len(losses) // parts), parts)
    return folds(losses, kind="foreign", partition=False, halves=halves)


def _with_weights(pairs):
    rows, weights = zip(*pairs, strict=True)
    return one_test_set(rows, weights=(np.array(weights, dtype=float),))


def _with_groups(pairs):
    rows, groups = zip(*pairs, strict=True)
    return grouped(rows, groups)


def _lists(values, least, most=40):
    return st.lists(values, min_size=least, max_size=most)


counted = st.one_of(
    _lists(st.booleans(), 1).map(zero_one),
    _lists(st.booleans(), 1).map(lambda r: zero_one(np.array(r) - 1.0, loss="accuracy", low=-1.0, high=0.0)),
)
bounded = st.one_of(
    counted,
    _lists(units, 1).map(zero_one),
    _lists(units, 1).map(lambda r: one_test_set(8 * np.array(r) - 3, low=-3.0, high=5.0)),
    st.lists(st.tuples(units, units), min_size=1, max_size=15).map(
        lambda pairs: grouped(np.ravel(pairs), np.repeat(np.arange(len(pairs)), 2), low=0.0, high=1.0)
    ),
)
plain = _lists(finite, 2).map(one_test_set)
many = st.one_of(_lists(finite, 20).map(one_test_set), _lists(units, 20).map(zero_one))
weighted = st.one_of(
    st.lists(st.tuples(finite, st.floats(0.1, 10)), min_size=5, max_size=30).map(_with_weights),
    st.lists(st.tuples(finite, st.integers(0, 5)), min_size=5, max_size=30).map(_with_groups),
)
means = st.one_of(_lists(finite, 2).map(folds), _lists(finite, 10, 10).map(lambda x: folds(x, repeats=5)))
rows_of_folds = st.lists(_lists(finite, 2, 6), min_size=2, max_size=8).map(folds_of_rows)

counts_of_folds = st.lists(_lists(st.booleans(), 2, 6), min_size=2, max_size=8).map(
    lambda parts: folds_of_rows(parts, loss="zero_one", low=0.0, high=1.0)
)
shares_of_folds = st.lists(_lists(units, 2, 6), min_size=2, max_size=8).map(
    lambda parts: folds_of_rows(parts, loss="brier", low=0.0, high=1.0)
)
positive_folds = st.lists(_lists(st.floats(0, 1e100), 2, 6), min_size=2, max_size=8).map(
    lambda parts: folds_of_rows(parts, low=0.0)
)
in_time = _lists(finite, 50, 60).map(lambda rows: one_test_set(rows, timed=True))

# What each method accepts, or nearly always accepts.
ACCEPTED = {
    "rows": st.one_of(rows_of_folds, counts_of_folds, shares_of_folds, positive_folds, plain, weighted),
    "batch-means": in_time,
    "clopper-pearson": counted,
    "wilson": counted,
    "betting": bounded,
    "maurer-pontil": bounded,
    "hoeffding": bounded,
    "bootstrap-t": many,
    "bca": many,
    "student": st.one_of(plain, bounded),
    "cluster-t": st.one_of(weighted, plain),
    "corrected-t": means,
    "cautious-t": means,
    "bayle": rows_of_folds,
    "bayle-within": rows_of_folds,
    "conservative-z": _lists(finite, 20, 20).map(in_halves),
    "5x2": _lists(finite, 10, 10).map(lambda x: folds(x, repeats=5)),
    "5x2-t": _lists(finite, 10, 10).map(lambda x: folds(x, repeats=5)),
}
any_record = st.one_of(*ACCEPTED.values())


def in_another_order(record, seed):
    """The same record with its rows, its parts and its repeats in another order."""
    rng = np.random.default_rng(seed)
    if record.parts == 1:
        order = rng.permutation(len(record.row_losses[0]))
        roles = {name: getattr(record, name) for name in ("row_losses", "weights", "groups")}
        return replace(record, **{name: each and (each[0][order],) for name, each in roles.items()})
    if record.halves is not None:
        pairs = len(np.unique(record.halves)) // 2
    else:
        pairs = record.repeats
    blocks = [rng.permutation(block) for block in np.split(np.arange(record.parts), pairs)]
    order = np.concatenate([blocks[i] for i in rng.permutation(pairs)])
    rows = record.row_losses and tuple(rng.permutation(record.row_losses[part]) for part in order)
    halves = record.halves
    if halves is not None:  # within a pair, parts are shuffled with the half they belong to
        halves = np.repeat(2 * np.arange(pairs), record.parts // pairs) + record.halves[order] % 2
    return replace(
        record,
        fold_losses=record.fold_losses[order],
        row_losses=rows,
        train_sizes=record.train_sizes[order],
        held_sizes=record.held_sizes[order],
        halves=halves,
    )
