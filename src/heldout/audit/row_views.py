"""Views of test rows: hashed so that rows are recognised in another order, on another scale or beside other columns.

A view is a set of tokens: 64-bit hashes of the cells of a row. A set does not depend on the order of rows, and a token
is a sum over columns, which does not depend on their order. The views of one test set differ in two ways:

* The scale of a cell: the value as it is, or its position between the smallest and largest value of the column, up to
  its sign, so that no a·x + b changes it. These extremes are those of the table in one view, and those of the test rows
  in another, which therefore stays the same if training rows are dropped. Scaled cells are kept to 16 bits, and also to
  7 bits for tables that were rounded.
* The columns of a token: all; all but one, for each column that may have been added, dropped or changed; and, for
  tables that share only a few columns, those of few values, and pairs of measured columns whose values seldom repeat.

Independent test sets of one population share tokens by chance, and many if columns have few values. A view therefore
stores how often two different rows have the same token. Only tokens beyond that number count as shared rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows, mix
from heldout.task.arrays import column as frame_column
from heldout.task.arrays import container_kind, is_frame, is_sparse
from heldout.task.hashing import NUMBER_KINDS, Numbers, cell_digests, row_hashes, series_content

Tokens = NDArray[np.uint64]
Values = NDArray[np.float64] | Tokens  # numbers, or digests of what is no number

EXACT = "exact"
_FINE, _COARSE = 16, 7  # bits of a cell
_SCALES = {"raw": (_FINE,), "table": (_FINE, _COARSE), "test": (_FINE, _COARSE)}
_SORTED = {"table, sorted": (_FINE,), "test, sorted": (_FINE,)}  # columns of few values in the order of their means
_MOST_TOKENS = 4096  # of a view; of more, those with the smallest hashes are kept, which are the same in any table
_MOST_COLUMNS = {_FINE: 24, _COARSE: 8}  # of a token, of either kind; rounding changes some of many cells
_MOST_PAIRED = 8  # columns that are paired
_MOST_SPARSE = 64  # columns of a sparse table, those with the most entries
_SAMPLE = 1024  # rows of the table that tell how often tokens repeat
_FEW_VALUES = 32  # a column with more of them is measured: its values tell columns apart
_SELDOM = 0.01  # chance that two rows have the same value in a column that is paired
_NEVER = 2.0**-40  # that chance for numbers of many digits and for texts, where none was seen twice
_DEPENDENT = 2 / 3  # columns depend on each other: together they tell this share of what they would alone
_NEGLIGIBLE = 1e-4  # shared tokens that chance explains, below which a single one is no chance
_STEP = np.uint64(0x9E3779B97F4A7C15)  # between the places of two columns
_OFF_GRID = 0.5772  # added before rounding down, so that values of few digits lie away from the edges of cells


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The tokens of a test set under one scale and one choice of columns."""

    scale: str
    columns: int  # that each token is made of
    copies: int  # tokens a row
    rows: int
    tokens: Tokens  # ascending
    share: float  # of all tokens that are kept
    rate: float  # tokens that two different rows of the table share, on average
    sample: int  # rows of the table that `rate` was found from

    @property
    def kind(self) -> tuple[str, int]:
        """The scale and the number of columns: views of another kind have no tokens in common."""
        return self.scale, self.columns

    def shared_with(self, other: View) -> int:
        """Estimate how many rows two test sets share; 0 if chance may explain their common tokens."""
        if self.kind != other.kind:
            return 0
        share = min(self.share, other.share)
        some, others = _kept(self.tokens, share), _kept(other.tokens, share)
        first = np.searchsorted(others, some)  # both ascend
        common = some[first < len(others)] == others[first[first < len(others)]]
        if not common.any():
            return 0
        equal = int(np.sum(np.searchsorted(others, some, side="right") - first))  # pairs of one token each
        chance = share * self.rows * other.rows * self._rate_with(other)
        if equal <= 2 * chance + 6 * sqrt(chance) + (0 if chance < _NEGLIGIBLE else 2):
            return 0
        return max(1, min(round((equal - chance) / share), self.rows, other.rows))

    def _rate_with(self, other: View) -> float:
        if self.copies == other.copies:
            return max((self.sample, self.rate), (other.sample, other.rate))[1]
        few, many = sorted((self, other), key=lambda view: view.copies)
        return min(few.rate * many.copies / few.copies, many.rate)


def exact_tokens(X: Any) -> Tokens:
    """Return a hash of each row of X, without y. The values and the order of the columns count."""
    return row_hashes(X, np.zeros(X.shape[0]))[:, 0]


def column_values(X: Any) -> list[Values]:
    """Return the columns of X as numbers or digests; of a sparse table, only the columns with the most entries."""
    if container_kind(X) == "objects":
        return [cell_digests(X.tolist())[:, 0]]
    if is_sparse(X):
        entries = np.bincount(X.indices, minlength=X.shape[1])
        most = np.argsort(-entries, kind="stable")[:_MOST_SPARSE]
        X = X[:, np.sort(most)].toarray()
    if is_frame(X):
        return [_values_of(series_content(frame_column(X, position))) for position in range(X.shape[1])]
    return [_values_of_array(X[:, position]) for position in range(X.shape[1])]


def views_of(X: Any, y: NDArray[Any], rows: Rows) -> tuple[View, ...]:
    """Return the views of these rows. The first has a token for every row, from the exact cells of X alone.

    In the other views, a measured target is treated as one more column; classes are not.
    """
    texts = container_kind(X) == "objects"
    columns = [_Column.of(values, detailed=texts) for values in column_values(X)]
    outputs = y if y.ndim == 2 else y[:, None]
    targets = [_Column.of(_values_of_array(output)) for output in (outputs.T if y.dtype.kind in "iuf" else ())]
    sample = _evenly(len(y))
    tokens = exact_tokens(X)
    rates = [_repeat_rate(column, column.values[sample]) for column in columns]
    width = X.shape[1] if len(X.shape) > 1 else 1
    views = [_view(EXACT, width, tokens[rows, None], tokens[sample, None], floor=_joint(rates), most=len(rows))]
    measured_targets = [target for target in targets if target.measured]
    known = [column for column in (*columns, *measured_targets) if column.varies]
    if known:
        scales = _SCALES if all(column.measured for column in known) else _SCALES | _SORTED
        for scale, grains in scales.items():
            among = rows if scale.startswith("test") else slice(None)
            scaled = [column.scaled(column.values[among]) for column in known]
            for bits in grains:
                chosen = _most_even(scaled, _MOST_COLUMNS[bits])
                views += _Scaled(scale=scale, bits=bits, columns=chosen, rows=rows, sample=sample).views()
    return tuple(views)


def _view(scale: str, columns: int, tokens: Tokens, sample: Tokens, *, floor: float, most: int = _MOST_TOKENS) -> View:
    """Make the view of these tokens. There is a row of tokens for each test row and for each row of the sample."""
    found = np.sort(_once_a_row(tokens))
    share = min(1.0, most / max(1, len(found)))
    pairs = max(1, len(sample) * (len(sample) - 1) // 2)
    repeats = equal_pairs(_once_a_row(sample))
    most_likely = repeats + 2 * sqrt(repeats) + 3 if floor < 1 else pairs  # more would have been seen
    return View(
        scale=scale,
        columns=columns,
        copies=tokens.shape[1],
        rows=len(tokens),
        tokens=_kept(found, share),
        share=share,
        rate=max(repeats, min(floor * pairs, most_likely)) / pairs,
        sample=len(sample),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """Holds the values of a column and its scale: smallest value, range, and mean after scaling to [0, 1]."""

    values: Values
    measured: bool  # it has many values
    detailed: bool  # its values have so many digits that equal ones are no chance
    least: float = 0.0
    span: float = 1.0
    mean: float = 0.0  # of a measured column: of the distances from the middle

    @classmethod
    def of(cls, values: Values, *, detailed: bool = False) -> _Column:
        few = values[_evenly(len(values))]
        if values.dtype != np.uint64:
            with np.errstate(over="ignore"):
                detailed = bool(np.mean(np.round(few, 6) != few) > 0.5)
        return cls(values=values, measured=len(np.unique(few)) > min(_FEW_VALUES, len(few) / 2), detailed=detailed)

    @property
    def varies(self) -> bool:
        known = self.values if self.values.dtype == np.uint64 else self.values[np.isfinite(self.values)]
        return bool(known.size) and bool(np.any(known != known[0]))

    @property
    def unevenness(self) -> float:
        return abs(self.mean - 0.5)

    def scaled(self, among: Values) -> _Column:
        """Set the scale of the column from these of its values."""
        if among.dtype == np.uint64:
            return replace(self, span=2.0**64, mean=float(among.astype(np.float64).mean()) / 2**64)
        finite = among[np.isfinite(among)]
        least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        span = most - least
        if not 0 < span < inf:
            return replace(self, least=least)
        part = (finite - least) / span
        mean = float(np.mean(np.abs(2 * part - 1) if self.measured else part))
        return replace(self, least=least, span=span, mean=mean)

    def words(self, rows: Rows, scale: str, bits: int) -> Tokens:
        """Encode the values of these rows as words, which are equal if the values are the same on this scale.

        The smallest and largest value of a measured column have the same scaled value in every table, so their original
        values are encoded instead.
        """
        values = self.values[rows]
        if values.dtype == np.uint64:
            return np.asarray(values, dtype=np.uint64)
        with np.errstate(all="ignore"):  # infinities, and numbers far outside the test rows
            part = (values - self.least) / self.span
            if scale == "raw":
                mantissa, exponent = np.frexp(np.abs(values))
                graded = np.copysign(np.ldexp(np.floor(mantissa * 2.0**bits + _OFF_GRID), exponent - bits), values)
            elif self.measured:
                graded = np.floor(np.abs(2 * part - 1) * 2.0**bits + _OFF_GRID)
                graded = np.where((part == 0) | (part == 1), values + 2.0 ** (bits + 1), graded)
            else:
                turned = 1 - part if scale in _SORTED and self.mean > 0.5 else part
                graded = np.floor(turned * 2.0**bits + _OFF_GRID)
        graded[~np.isfinite(values)] = np.nan
        return np.asarray(graded + 0.0, dtype=np.float64).view(np.uint64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scaled:
    """A table on one scale."""

    scale: str
    bits: int
    columns: Sequence[_Column]
    rows: Rows
    sample: Rows

    def views(self) -> list[View]:
        """Return the views by all columns, by all but one, by those of few values, and by pairs of measured columns."""
        # Columns of few values look alike, so their position among each other counts; that of measured ones does not.
        # A column turned round has 1 less its mean, and keeps its position.
        by_mean = self.scale in _SORTED
        columns = sorted(self.columns, key=lambda one: (not one.measured, min(one.mean, 1 - one.mean) * by_mean))
        at = np.concatenate([self.rows, self.sample])
        words = [column.words(at, self.scale, self.bits) for column in columns]
        rates = [_repeat_rate(column, own[len(self.rows) :]) for column, own in zip(columns, words, strict=True)]
        count, measured = len(columns), sum(column.measured for column in columns)
        hashes, total, rest = _placed(np.stack([mix(own) for own in words], axis=1), measured)
        views = [self._view(total[:, None], count, _joint(rates))]
        if count > 1:
            without = sum(_joint(rates[:position] + rates[position + 1 :]) for position in range(count))
            views.append(self._view(total[:, None] - hashes + rest, count - 1, without))
        if 0 < measured < count:
            few_values = hashes[:, measured:].sum(axis=1, dtype=np.uint64)
            views.append(self._view(few_values[:, None], count - measured, _joint(rates[measured:])))
        seldom = [position for position in range(measured) if rates[position] < _SELDOM]
        if self.bits == _FINE and count > 3 and len(seldom) > 1:
            seldom = sorted(seldom, key=lambda position: columns[position].unevenness)[:_MOST_PAIRED]
            pairs = list(combinations(seldom, 2))
            sums = np.stack([hashes[:, first] + hashes[:, second] for first, second in pairs], axis=1)
            mean = sum(rates[position] for position in seldom) / len(seldom)
            views.append(self._view(sums, 2, (len(pairs) * mean) ** (2 * _DEPENDENT)))
        return views

    def _view(self, sums: Tokens, columns: int, floor: float) -> View:
        tokens, count = mix(sums), len(self.rows)
        return _view(f"{self.scale}:{self.bits}", columns, tokens[:count], tokens[count:], floor=floor)


def _most_even(columns: Sequence[_Column], most: int) -> list[_Column]:
    """Select the measured columns, and those of few values, whose means are nearest to the middle, in their order.

    Such columns carry most information, and rounding, an extra row or other columns hardly change the selection.
    """
    chosen: list[int] = []
    for measured in (True, False):
        places = [position for position, column in enumerate(columns) if column.measured == measured]
        chosen += sorted(places, key=lambda position: columns[position].unevenness)[:most]
    return [columns[position] for position in sorted(chosen)]


def _placed(cells: Tokens, measured: int) -> tuple[Tokens, Tokens, Tokens]:
    """Hash cells with their column position; return the hashes, their sum, and its gain when a column is removed.

    Removing a column of few values moves each later one forward by one position.
    """
    places = np.maximum(np.arange(cells.shape[1]) - measured + 1, 0).astype(np.uint64)  # 0 where none counts
    hashes = np.where(places > 0, mix(cells + places * _STEP), cells)
    gains = np.where(places > 1, mix(cells + places * _STEP - _STEP) - hashes, np.uint64(0))
    behind = np.cumsum(gains[:, ::-1], axis=1, dtype=np.uint64)[:, ::-1] - gains
    return hashes, hashes.sum(axis=1, dtype=np.uint64), np.where(places > 0, behind, np.uint64(0))


def _values_of(content: Numbers | Tokens) -> Values:
    if not isinstance(content, Numbers):
        return content[:, 0]
    values = _values_of_array(content.values)
    if content.missing is not None:
        values[content.missing] = np.nan
    return values


def _values_of_array(array: NDArray[Any]) -> Values:
    if array.dtype.kind in "mM":
        values = array.astype(np.int64).astype(np.float64)
        values[np.isnat(array)] = np.nan
        return values
    if array.dtype.kind in NUMBER_KINDS or array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):  # texts among them
            pass
    return cell_digests(array.tolist())[:, 0]


def _evenly(rows: int) -> Rows:
    """Return some rows of a table, evenly spaced."""
    return np.unique(np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.intp))


def _repeat_rate(column: _Column, sample: Values) -> float:
    """Return the probability that two rows are equal in a column; 1 for running numbers, which any table may have."""
    if column.values.dtype != np.uint64 and _running(column.values[_evenly(len(column.values))]):
        return 1.0
    pairs = max(1, len(sample) * (len(sample) - 1) // 2)
    repeats = equal_pairs(sample)
    if repeats:
        return repeats / pairs
    as_they_are = sample.dtype == column.values.dtype  # scaled numbers are words
    return _NEVER if as_they_are and column.detailed else 0.5 / pairs


def _running(values: Values) -> bool:
    """Return whether nearly all values are evenly spaced, like row numbers or days."""
    ordered = np.unique(values)
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(ordered)
    if len(ordered) < len(values) or len(gaps) < 8 or not np.isfinite(gaps).all():
        return False
    step = float(np.median(gaps))
    return bool(np.mean(np.abs(gaps - step) <= 1e-6 * step) > 0.9)


def _joint(rates: Sequence[float]) -> float:
    """Return the probability that two rows are equal in several columns."""
    return float(np.prod(rates)) ** (_DEPENDENT if len(rates) > 1 else 1.0) if rates else 1.0


def _once_a_row(tokens: Tokens) -> Tokens:
    """Return all tokens, without repeats within a row."""
    if tokens.shape[1] == 1:
        return tokens[:, 0]
    ordered = np.sort(tokens, axis=1)
    fresh = np.ones(ordered.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return ordered[fresh]


def _kept(tokens: Tokens, share: float) -> Tokens:
    """Return the tokens in the lowest `share` of the hash range. The tokens must be sorted."""
    return tokens if share >= 1 else tokens[: int(np.searchsorted(tokens, np.uint64(share * 2.0**64)))]


def equal_pairs(values: Values) -> int:
    """Count the pairs of equal values."""
    _, counts = np.unique(values, return_counts=True)
    return int(np.sum(counts * (counts - 1) // 2))
