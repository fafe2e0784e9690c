"""Sample sizes: how many rows give a wanted interval width or gap, by solving the bounds of the methods for n.

Losses lie in a range of length `loss_range`; δ = 1 − level is the probability that a bound fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, log, sqrt
from numbers import Integral

import numpy as np
from scipy.special import ndtri

from heldout.base.errors import OptionError

MOST = 2**53  # rows: above it not every whole number is a float


def dev_gap(rows: int, *, candidates: int, level: float = 0.95, loss_range: float = 1.0) -> float:
    """Return how much worse the candidate chosen on `rows` development rows may be than the best one.

    ℓ(θ̂) ≤ ℓ(θ*) + √(2 ln(2|Θ|/δ)/n): Chernoff–Hoeffding and the union bound, for candidates fixed beforehand.

    >>> round(dev_gap(1000, candidates=17), 3)
    0.114
    """
    return loss_range * sqrt(2 * log(2 * candidates / (1 - level)) / rows)


def rows_for_gap(gap: float, *, candidates: int, level: float = 0.95, loss_range: float = 1.0) -> int:
    """Return the smallest number of development rows whose :func:`dev_gap` is at most `gap`.

    >>> rows_for_gap(0.05, candidates=17)
    5218
    """
    rows = _rows(2 * log(2 * candidates / (1 - level)), loss_range / gap)
    while rows > 1 and dev_gap(rows - 1, candidates=candidates, level=level, loss_range=loss_range) <= gap:
        rows -= 1  # rounding may have made the ceiling one too large
    while dev_gap(rows, candidates=candidates, level=level, loss_range=loss_range) > gap:
        rows += 1
    return rows


def hoeffding_width(rows: int, *, level: float = 0.95, loss_range: float = 1.0) -> float:
    """Return the width of Hoeffding's interval on a test set, 2√(ln(2/δ)/2n) times the range; it fits all losses.

    >>> round(hoeffding_width(738), 4)
    0.1
    """
    return 2 * loss_range * sqrt(log(2 / (1 - level)) / (2 * rows))


def rows_for_width(width: float, *, level: float = 0.95, loss_range: float = 1.0) -> int:
    """Return how many test rows give an interval at most this wide, whatever the losses (Hoeffding).

    >>> [rows_for_width(width) for width in (0.1, 0.04, 0.02)]
    [738, 4612, 18445]
    """
    return _rows(2 * log(2 / (1 - level)), loss_range / width)


def rows_by_normal(width: float, *, sd: float, level: float = 0.95) -> int:
    """Return how many test rows give an interval about this wide if row losses have the standard deviation `sd`.

    >>> rows_by_normal(0.04, sd=0.3)  # errors of one row in ten
    865
    """
    return _rows(1.0, 2 * float(ndtri(0.5 + level / 2)) * sd / width)


def _rows(times: float, ratio: float) -> int:
    """Return times·ratio², rounded up; raise an error if it exceeds MOST."""
    rows = times * ratio * ratio
    if rows > MOST:
        raise OptionError(f"That would take {rows:.2g} rows. Ask for a wider interval, or a larger gap.")
    return max(1, ceil(rows))


PART = 0.1  # of the range of the loss: the default width and gap
SPREADS = 0.2  # standard deviations of the loss of a row: the default width for a loss without a range


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """Holds the wanted gap and interval width, the level, and the range and spread of the losses."""

    candidates: int = 1
    gap: float | None = None
    width: float | None = None
    level: float = 0.95
    loss_range: float | None = 1.0  # None: the loss has no bounds
    spread: float | None = None  # a guess of the standard deviation of the loss of a row

    @property
    def dev_rows(self) -> int | None:
        """Development rows for the gap, by the bound; None without a gap, with one candidate, or without a range."""
        if self.gap is None or self.loss_range is None or self.candidates == 1:
            return None
        return rows_for_gap(self.gap, candidates=self.candidates, level=self.level, loss_range=self.loss_range)

    @property
    def test_rows_by_bound(self) -> int | None:
        """Test rows for the width, whatever the losses; None without a width or a range."""
        if self.width is None or self.loss_range is None:
            return None
        return rows_for_width(self.width, level=self.level, loss_range=self.loss_range)

    @property
    def test_rows_by_normal(self) -> int | None:
        """Test rows for the width if the standard deviation is as guessed; None without a width or a guess."""
        if self.width is None or self.spread is None:
            return None
        return rows_by_normal(self.width, sd=self.spread, level=self.level)

    @property
    def test_rows(self) -> int:
        """Test rows to plan with: by the guessed spread, else by the bound, else for 0.2 standard deviations."""
        rows = self.test_rows_by_normal or self.test_rows_by_bound
        return rows or rows_by_normal(SPREADS, sd=1.0, level=self.level)

    def gap_at(self, rows: int) -> float | None:
        """Return the gap to the best candidate on this many development rows; None if no bound applies."""
        if self.loss_range is None or self.candidates == 1 or rows < 1:
            return None
        return dev_gap(rows, candidates=self.candidates, level=self.level, loss_range=self.loss_range)

    def width_at(self, rows: int) -> float | None:
        """Return the width of Hoeffding's interval on this many test rows; None if it does not apply."""
        if self.loss_range is None or rows < 1:
            return None
        return hoeffding_width(rows, level=self.level, loss_range=self.loss_range)


def aim(
    *,
    candidates: int = 1,
    gap: float | None = None,
    width: float | None = None,
    level: float = 0.95,
    loss_range: float | None = 1.0,
    sd: float | None = None,
    error_rate: float | None = None,
) -> Aims:
    """Check the wanted gap and width, and fill in the defaults.

    >>> aim(width=0.04, error_rate=0.1).test_rows_by_normal
    865
    """
    check_count("candidates", candidates)
    check_number("level", level, most=1.0)
    for name, value in {"gap": gap, "width": width, "loss_range": loss_range, "sd": sd}.items():
        if value is not None:
            check_number(name, value)
    spread = sd
    if error_rate is not None:
        if sd is not None:
            raise OptionError("sd and error_rate are two guesses of the same spread. Pass one of them.")
        check_number("error_rate", error_rate, most=1.0)
        spread = sqrt(error_rate * (1 - error_rate))
    if gap is not None and loss_range is None:
        raise OptionError("A gap has a bound only for a loss with a range. Pass loss_range=…, or leave gap out.")
    if spread is not None and loss_range is not None and spread > loss_range / 2:
        raise OptionError(f"sd is at most half the range of the loss, {loss_range / 2:g}, but it is {spread!r}.")
    if loss_range is not None:
        gap = PART * loss_range if gap is None else gap
        width = PART * loss_range if width is None else width
    elif width is None and spread is not None:
        width = SPREADS * spread
    return Aims(candidates=candidates, gap=gap, width=width, level=level, loss_range=loss_range, spread=spread)


def check_count(name: str, value: object) -> None:
    """Raise an error if the value is not a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise OptionError(f"{name} is a whole number of at least 1, but it is {value!r}.")


def check_number(name: str, value: object, *, most: float | None = None) -> None:
    """Raise an error if the value is not a finite number above 0, or not below `most` (None: no limit)."""
    if isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool):
        number = float(value)
        if isfinite(number) and number > 0 and (most is None or number < most):
            return
    between = "above 0" if most is None else f"between 0 and {most:g}"
    raise OptionError(f"{name} is a number {between}, but it is {value!r}.")
