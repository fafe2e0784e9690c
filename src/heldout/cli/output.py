"""What programs read: JSON on stdout, and results in files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import OptionError, StoredError

if TYPE_CHECKING:
    from heldout.planner.account import Account


def echo_json(facts: Mapping[str, Any]) -> None:
    """Plain values as JSON; no character in it can act on a terminal."""
    click.echo(json.dumps(facts, indent=2, ensure_ascii=True, allow_nan=False))


def plan_facts(account: Account) -> dict[str, Any]:
    """The plan as plain values, with its totals."""
    totals = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before}
    return {**asdict(account), **totals}


def check_writable(path: str | None, *, read: Sequence[str] = (), option: str = "--save") -> None:
    """Refuse a file that cannot be written, or that is itself read, before anything is computed for it."""
    if path is None:
        return
    place = Path(path)
    folder = place.absolute().parent
    if not folder.is_dir():
        raise OptionError(f"{option} {path}: there is no folder {str(folder)!r}. Make it first.")
    if place.is_dir():
        raise OptionError(f"{option} {path}: this is a folder. Name a file in it.")
    if place.exists() and any(Path(one).exists() and place.samefile(one) for one in read):
        raise OptionError(f"{option} {path}: this file is read, and would be lost. Name another one.")
    if not os.access(folder, os.W_OK) or (place.exists() and not os.access(place, os.W_OK)):
        raise OptionError(f"{option} {path}: it cannot be written there. Name a file in a folder of your own.")


def save_result(save: Callable[[str], None], path: str) -> None:
    """Save, and say it plainly if the disk refuses."""
    try:
        save(path)
    except OSError as error:
        raise StoredError(f"--save {path}: the result was not written: {error.strerror or error}.") from error
