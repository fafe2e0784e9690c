"""How many rows a question needs, before there are any losses: the bounds of the interval methods, turned round.

Losses lie in a range of length `loss_range`; δ = 1 − level is the probability to miss.
"""

from __future__ import annotations

from math import ceil, inf, log, sqrt

from scipy.special import ndtri

from heldout.base.errors import OptionError

MOST = 2**53  # rows: past it the last digit of a float is more than one


def dev_gap(rows: int, *, candidates: int, level: float = 0.95, loss_range: float = 1.0) -> float:
    """How much worse the candidate chosen on a development set may be than the best one.

    ℓ(θ̂) ≤ ℓ(θ*) + √(2 ln(2|Θ|/δ)/n): Chernoff–Hoeffding and the union bound, for candidates fixed beforehand.

    >>> round(dev_gap(1000, candidates=17), 3)
    0.114
    """
    _check(rows=rows, candidates=candidates, level=level, loss_range=loss_range)
    return loss_range * sqrt(2 * log(2 * candidates / (1 - level)) / rows)


def rows_for_gap(gap: float, *, candidates: int, level: float = 0.95, loss_range: float = 1.0) -> int:
    """How many development rows keep that gap: the smallest number whose :func:`dev_gap` is at most `gap`.

    >>> rows_for_gap(0.05, candidates=17)
    5218
    """
    _check(gap=gap, candidates=candidates, level=level, loss_range=loss_range)
    rows = _rows(2 * log(2 * candidates / (1 - level)), loss_range / gap)
    while rows > 1 and dev_gap(rows - 1, candidates=candidates, level=level, loss_range=loss_range) <= gap:
        rows -= 1  # the last bit of a ceiling
    while dev_gap(rows, candidates=candidates, level=level, loss_range=loss_range) > gap:
        rows += 1
    return rows


def hoeffding_width(rows: int, *, level: float = 0.95, loss_range: float = 1.0) -> float:
    """The width of Hoeffding's interval on a test set, 2√(ln(2/δ)/2n): whatever the losses, no interval need be wider.

    >>> round(hoeffding_width(738), 4)
    0.1
    """
    _check(rows=rows, level=level, loss_range=loss_range)
    return 2 * loss_range * sqrt(log(2 / (1 - level)) / (2 * rows))


def rows_for_width(width: float, *, level: float = 0.95, loss_range: float = 1.0) -> int:
    """How many test rows give an interval at most this wide, whatever the losses.

    >>> [rows_for_width(width) for width in (0.1, 0.04, 0.02)]
    [738, 4612, 18445]
    """
    _check(width=width, level=level, loss_range=loss_range)
    return _rows(2 * log(2 / (1 - level)), loss_range / width)


def rows_by_normal(width: float, *, sd: float, level: float = 0.95) -> int:
    """How many test rows give an interval about this wide, if single losses have this standard deviation.

    >>> rows_by_normal(0.04, sd=0.3)  # errors of one row in ten
    865
    """
    _check(width=width, level=level)
    if not 0 <= sd < inf:
        raise OptionError(f"sd is the standard deviation of the loss of one row, at least 0, but it is {sd!r}.")
    return _rows(1.0, 2 * float(ndtri(0.5 + level / 2)) * sd / width)


def _rows(times: float, ratio: float) -> int:
    """times·ratio², rounded up; refused where that is more than anyone can count."""
    rows = times * ratio * ratio
    if rows > MOST:
        raise OptionError(f"That would take {rows:.2g} rows. Ask for a wider interval, or a larger gap.")
    return max(1, ceil(rows))


def _check(**given: float) -> None:
    """Refuse what makes no sense, by name."""
    if "level" in given and not 0 < given["level"] < 1:
        raise OptionError(f"level is a probability between 0 and 1, but it is {given['level']!r}.")
    for name in ("rows", "candidates"):
        if name in given and not 1 <= given[name] < inf:
            raise OptionError(f"{name} counts {name}, at least 1, but it is {given[name]!r}.")
    for name in ("gap", "width", "loss_range"):
        if name in given and not 0 < given[name] < inf:
            raise OptionError(f"{name} is a number above 0, but it is {given[name]!r}.")
