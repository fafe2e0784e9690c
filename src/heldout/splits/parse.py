"""Parses strategies as the command line writes them: `kfold:5`, `holdout:0.2`, `resample:20:0.2`, `loo`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
    >>> parse("kfold:5x3"), parse("10"), parse("holdout:0.2"), parse("holdout:100")
    (KFold(5, repeats=3), KFold(10), Holdout(0.2), Holdout(rows=100))
    """
    name, *arguments = text.strip().lower().split(":")
    if name.isdecimal() and not arguments:
        name, arguments = "kfold", [name]
    if name not in _READERS:
        ours = our_splits(text)
        near = did_you_mean(name, _READERS) if ours is None else f"Write {ours}."
        raise SplitError(f"Unknown splits {text!r}. {near}")
    form, most, read = _READERS[name]
    if len(arguments) > most:
        raise SplitError(f"{text!r} says too much. Write it as {form}.")
    try:
        return read(arguments)
    except SplitError:
        raise
    except ValueError:
        raise SplitError(f"{text!r} cannot be read. Write it as {form}.") from None


# What other libraries call a way to hold rows out: in lower case, without blanks, "_", "-" and brackets.
_CALLED: Mapping[str, str] = {
    **dict.fromkeys(("cv", "k", "folds", "crossval", "crossvalidation"), "kfold"),
    **dict.fromkeys(("stratified", "stratifiedkfold", "skf"), "kfold"),  # KFold is stratified by itself
    **dict.fromkeys(("groupkfold", "grouped", "group", "stratifiedgroupkfold"), "kfold"),  # with groups declared
    **dict.fromkeys(("repeated", "repeatedkfold", "repeatedstratifiedkfold", "rkf"), "kfold:5x3"),
    **dict.fromkeys(("loocv", "leaveoneout", "jackknife"), "loo"),
    **dict.fromkeys(("split", "traintestsplit", "traintest", "testsize"), "holdout"),
    **dict.fromkeys(("shufflesplit", "stratifiedshufflesplit", "montecarlo", "mccv"), "resample:20:0.2"),
    **dict.fromkeys(("timeseries", "timeseriessplit", "tscv", "rolling", "walkforward"), "forward"),
}


def our_splits(text: str) -> str | None:
    """Return our word for splits as other libraries call them, or the text itself if it is ours; else None.

    >>> our_splits("cv:10"), our_splits("TimeSeriesSplit(5)"), our_splits("loo"), our_splits("rf")
    ('kfold:10', 'forward:5', 'loo', None)
    """
    name, _, rest = re.sub(r"[\s_()-]", "", text.lower().replace("(", ":")).partition(":")
    if name in _READERS:
        return text
    ours = _CALLED.get(name)
    return f"{ours}:{rest}" if ours is not None and ":" not in ours and re.fullmatch(r"[\d.]+", rest) else ours


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
