"""Parses strategies as the command line writes them: `kfold:5`, `holdout:0.2`, `resample:20:0.2`, `loo`."""

from __future__ import annotations

from collections.abc import Callable

from heldout.base.errors import SplitError, did_you_mean
from heldout.splits.forward import Forward
from heldout.splits.holdout import Holdout
from heldout.splits.kfold import KFold
from heldout.splits.leave_one_out import LeaveOneOut
from heldout.splits.resample import Resample
from heldout.splits.shared_blocks import SharedBlocks
from heldout.splits.strategy import Strategy


def parse(text: str) -> Strategy:
    """Return the strategy that a text stands for.

    Examples
    --------
    >>> parse("kfold:5x3"), parse("holdout:0.2"), parse("holdout:100")
    (KFold(5, repeats=3), Holdout(0.2), Holdout(rows=100))
    """
    name, *arguments = text.strip().lower().split(":")
    if name not in _READERS:
        raise SplitError(f"Unknown splits {text!r}. {did_you_mean(name, _READERS)}")
    form, most, read = _READERS[name]
    if len(arguments) > most:
        raise SplitError(f"{text!r} says too much. Write it as {form}.")
    try:
        return read(arguments)
    except SplitError:
        raise
    except ValueError:
        raise SplitError(f"{text!r} cannot be read. Write it as {form}.") from None


def _kfold(arguments: list[str]) -> Strategy:
    if not arguments:
        return KFold()
    k, _, repeats = arguments[0].partition("x")
    if len(arguments) == 1:
        return KFold(int(k), repeats=int(repeats) if repeats else 1)
    if arguments[1] != "contiguous" or repeats:
        raise ValueError(arguments)
    return KFold(int(k), shuffle=False, stratify=False)


def _holdout(arguments: list[str]) -> Strategy:
    if not arguments:
        return Holdout()
    amount = _amount(arguments[0])
    return Holdout(rows=amount) if isinstance(amount, int) else Holdout(amount)


def _resample(arguments: list[str]) -> Strategy:
    if not arguments:
        raise ValueError(arguments)
    return Resample(int(arguments[0]), *map(_amount, arguments[1:]))


def _amount(text: str) -> int | float:
    """Read a number of rows if it is a whole number, else a share."""
    return int(text) if text.isdecimal() else float(text)


_READERS: dict[str, tuple[str, int, Callable[[list[str]], Strategy]]] = {
    "kfold": ("kfold:5, kfold:5x3 (three repeats) or kfold:5:contiguous", 2, _kfold),
    "holdout": ("holdout:0.2 (a share) or holdout:100 (rows)", 1, _holdout),
    "resample": ("resample:20:0.2", 2, _resample),
    "forward": ("forward:5", 1, lambda arguments: Forward(*map(int, arguments))),
    "loo": ("loo", 0, lambda _: LeaveOneOut()),
    "shared": ("shared", 0, lambda _: SharedBlocks()),
}
