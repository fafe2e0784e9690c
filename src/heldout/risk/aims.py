"""What a plan aims at: a gap, a width and a confidence, checked, with the numbers of rows they need."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from numbers import Integral

import numpy as np

from heldout.base.errors import OptionError
from heldout.risk.planning import dev_gap, hoeffding_width, rows_by_normal, rows_for_gap, rows_for_width

PART = 0.1  # of the range of the loss: the width and the gap aimed at when none is asked for
SPREADS = 0.2  # standard deviations of the loss of a row: the width aimed at for a loss without a range


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """A gap and a width to be had with this confidence, for losses of this range and spread."""

    candidates: int = 1
    gap: float | None = None
    width: float | None = None
    level: float = 0.95
    loss_range: float | None = 1.0  # None: the loss has no bounds
    spread: float | None = None  # a guess of the standard deviation of the loss of a row

    @property
    def dev_rows(self) -> int | None:
        """Development rows for the gap, by bound; None where nothing is chosen, or the loss has no range."""
        if self.gap is None or self.loss_range is None or self.candidates == 1:
            return None
        return rows_for_gap(self.gap, candidates=self.candidates, level=self.level, loss_range=self.loss_range)

    @property
    def test_rows_by_bound(self) -> int | None:
        """Test rows for the width, whatever the losses; None for a loss without a range."""
        if self.width is None or self.loss_range is None:
            return None
        return rows_for_width(self.width, level=self.level, loss_range=self.loss_range)

    @property
    def test_rows_by_normal(self) -> int | None:
        """Test rows for the width if the losses spread as guessed; None without a guess."""
        if self.width is None or self.spread is None:
            return None
        return rows_by_normal(self.width, sd=self.spread, level=self.level)

    @property
    def test_rows(self) -> int:
        """Test rows to plan with: by the guess where there is one, else by bound, else by the spread's own scale."""
        found = self.test_rows_by_normal or self.test_rows_by_bound
        return found or rows_by_normal(SPREADS, sd=1.0, level=self.level)

    def gap_at(self, rows: int) -> float | None:
        """How much worse than the best candidate the one chosen on these development rows may be."""
        if self.loss_range is None or self.candidates == 1 or rows < 1:
            return None
        return dev_gap(rows, candidates=self.candidates, level=self.level, loss_range=self.loss_range)

    def width_at(self, rows: int) -> float | None:
        """The width of Hoeffding's interval on these test rows."""
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
    """Checked aims, with the defaults filled in.

    >>> aim(width=0.04, error_rate=0.1).test_rows_by_normal
    865
    """
    check_count("candidates", candidates)
    check_number("level", level, most=1.0)
    for name, value in (("gap", gap), ("width", width), ("loss_range", loss_range), ("sd", sd)):
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


def check_count(name: str, value: object, *, least: int = 1) -> None:
    """Refuse what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OptionError(f"{name} is a whole number of at least {least}, but it is {value!r}.")


def check_number(name: str, value: object, *, most: float | None = None) -> None:
    """Refuse what is no number above 0, and below `most` where that is given."""
    if isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool):
        number = float(value)
        if isfinite(number) and number > 0 and (most is None or number < most):
            return
    between = "above 0" if most is None else f"between 0 and {most:g}"
    raise OptionError(f"{name} is a number {between}, but it is {value!r}.")
