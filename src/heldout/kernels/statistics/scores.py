"""Which losses follow from statistics alone, which need the rows to pass again, and which need all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

from heldout.base.errors import LossError
from heldout.losses import Loss
from heldout.losses.rows import squared_rows
from heldout.losses.scorers import scorer_parts

# From the sum of squared errors, the sum of squares of y about its mean, and the number of rows.
FromSquares = Callable[[float, float, int], float]


def _mean_square(errors: float, spread: float, count: int) -> float:
    return errors / count


def _root_mean_square(errors: float, spread: float, count: int) -> float:
    return sqrt(max(errors, 0.0) / count)


def _minus_r2(errors: float, spread: float, count: int) -> float:
    return errors / spread - 1.0 if spread > 0 else float("nan")


_BY_SCORER: dict[str, tuple[int, FromSquares]] = {
    "mean_squared_error": (-1, _mean_square),
    "root_mean_squared_error": (-1, _root_mean_square),
    "r2_score": (1, _minus_r2),
}
# The sum of squared errors again, from the value, the sum of squares of y about its mean, and the number of rows.
_BACK: dict[FromSquares, FromSquares] = {
    _mean_square: lambda value, spread, count: value * count,
    _root_mean_square: lambda value, spread, count: value * value * count,
    _minus_r2: lambda value, spread, count: (value + 1.0) * spread,
}


def from_squares(loss: Loss) -> FromSquares | None:
    """Return the function that computes the loss from the sum of squared errors, or None if that does not give it.

    >>> from heldout.losses import SQUARED
    >>> from_squares(SQUARED)(6.0, 9.0, 3)
    2.0
    """
    if loss.scorer is None:
        return _mean_square if loss.rows is squared_rows else None
    parts = scorer_parts(loss.scorer)
    if parts is None or parts.options or parts.known_name is None:
        return None
    sign, found = _BY_SCORER.get(parts.known_name, (0, None))
    return found if sign == parts.sign else None


def pool_squares(loss: Loss, parts: Sequence[tuple[float, float, int]], spread: float) -> float | None:
    """Return the loss of all parts together, or None if sums of squared errors do not give it.

    Each part gives its loss, the sum of squares of its y about their own mean, and its number of rows. `spread` is the
    sum of squares of all y about their common mean.

    >>> from heldout.losses import SQUARED
    >>> pool_squares(SQUARED, [(2.0, 9.0, 3), (5.0, 9.0, 1)], 20.0)
    2.75
    """
    take = from_squares(loss)
    if take is None:
        return None
    errors = sum(_BACK[take](value, own, count) for value, own, count in parts)
    return take(errors, spread, sum(count for _, _, count in parts))


def converted(loss: Loss, other: Loss) -> FromSquares | None:
    """Return the function that turns a value of one loss into that of another, by the sum of squared errors.

    It takes the value, the sum of squares of y about its mean, and the number of rows. None if a sum of squares does
    not give both.
    """
    first, second = from_squares(loss), from_squares(other)
    if first is None or second is None:
        return None
    return lambda value, spread, count: second(_BACK[first](value, spread, count), spread, count)


def all_from_squares(losses: Sequence[Loss], *, classification: bool) -> bool:
    """Return whether these losses need no second pass over the rows."""
    return not classification and all(from_squares(loss) is not None for loss in losses)


def check_streamable(losses: Sequence[Loss]) -> None:
    """Raise LossError for a loss that needs all responses of a set at once, which a stream cannot hold."""
    for loss in losses:
        if loss.asks_predictor or (loss.rows is None and from_squares(loss) is None):
            raise LossError(
                f"{loss.name!r} needs all responses of a held-out part at once, and a stream gives rows in passing. "
                "Use a loss of single rows ('squared', 'absolute', 'zero_one', 'log'), or 'r2', or load the data."
            )
