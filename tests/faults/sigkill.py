"""Fault 6: a nested study is killed by SIGKILL at random moments and started again, until it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ground import cells_in, wait_for

PROGRAM = Path(__file__).with_name("nested_program.py")
LONGEST_RUN = 120  # seconds


def sigkill_resume(times: int, *, candidates: int = 24, seed: int = 0, folder: Path | None = None) -> dict[str, Any]:
    """Kill the study `times` times at random moments, then let it end, and compare it with one that nobody killed.

    Parameters
    ----------
    times : int
        How many kills.
    candidates : int
        Of the study: twenty fits each.
    seed : int
        Decides the moments, as far as the machine lets it.
    folder : Path, optional
        Where journal and results are left; a temporary one when left out.

    Returns
    -------
    dict
        kills: how many. unfinished: how many of them came before the study had ended. cells: of the study. fits:
        computed in all runs together. lost: computed, but not committed when the kill came. acknowledged_twice: cells
        that were in the journal and were computed again. same: whether both saved results are the same byte for byte
        apart from times. seconds: of the whole test.
    """
    place = Path(tempfile.mkdtemp()) if folder is None else folder
    started = time.monotonic()
    try:
        found = _kill_and_compare(_Trial(place, candidates), times, np.random.default_rng(seed))
        return {**found, "seconds": time.monotonic() - started}
    finally:
        if folder is None:
            shutil.rmtree(place)


def held_and_killed(folder: Path, *, times: int, candidates: int = 6) -> dict[str, Any]:
    """Kill the study so often while a fit waits for it and others are in the journal, then let it end, and compare.

    Nothing here depends on how fast the machine is.

    Returns
    -------
    dict
        cells: of the study. kept: cells in the journal after each kill. fits: computed in the last run.
        acknowledged_twice and same: as of :func:`sigkill_resume`.
    """
    trial = _Trial(folder, candidates)
    whole, resumed, journal = (folder / name for name in ("whole.heldout", "resumed.heldout", "study.db"))
    _end_well(trial.start("-", whole))
    cells, twice, kept = len(trial.marks()), 0, [set[float]()]
    each = cells // (times + 2)
    for number in range(times):
        process = trial.start(str(journal), resumed, hold_after=each)
        try:
            most = each * (number + 1)
            wait_for(lambda m=most, p=process: cells_in(journal) >= m or p.poll() is not None, "kept answers")
            if process.poll() is not None:
                raise AssertionError(f"the study ended by itself, with {process.returncode}")
        finally:
            process.kill()
            process.wait(LONGEST_RUN)
        twice += sum(mark in kept[-1] for mark in trial.marks())
        kept.append(acknowledged(journal))
    _end_well(trial.start(str(journal), resumed))
    twice += sum(mark in kept[-1] for mark in trial.marks())
    return {
        "cells": cells,
        "kept": [len(one) for one in kept[1:]],
        "fits": len(trial.marks()),
        "acknowledged_twice": twice,
        "same": timeless(whole) == timeless(resumed),
    }


@dataclass(frozen=True)
class _Trial:
    """Where a study runs, and how large it is."""

    place: Path
    candidates: int

    def start(self, journal: str, saved: Path, *, hold_after: int | None = None) -> subprocess.Popen[bytes]:
        (self.place / "fits").write_text("")
        environment = {**os.environ, "HELDOUT_FITS": str(self.place / "fits")}
        if hold_after is not None:
            environment["HELDOUT_HOLD_AFTER"] = str(hold_after)
        command = [sys.executable, str(PROGRAM), journal, str(saved), str(self.candidates)]
        return subprocess.Popen(command, env=environment)

    def marks(self) -> list[float]:
        """What the fits of the last run wrote; a line that the kill tore is of a fit that did not end."""
        lines = (self.place / "fits").read_text().split("\n")
        return [float.fromhex(line) for line in lines[:-1]]

    def wait(self, process: subprocess.Popen[bytes], *, beyond: float, startup: float) -> None:
        """Until `beyond` seconds after the first fit of this run; every fifth run is not left the time to begin one."""
        deadline = time.monotonic() + LONGEST_RUN
        if startup < 0.4:
            time.sleep(startup)
            return
        while not (self.place / "fits").stat().st_size and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(beyond)


def _kill_and_compare(trial: _Trial, times: int, rng: np.random.Generator) -> dict[str, Any]:
    whole, resumed, journal = (trial.place / name for name in ("whole.heldout", "resumed.heldout", "study.db"))
    _end_well(trial.start("-", whole))
    cells = len(trial.marks())
    spacing = cells * 0.012 / (times + 1)  # seconds of computing between two kills: all of the study in all
    fits = twice = unfinished = 0
    for _ in range(times):
        before = acknowledged(journal)
        process = trial.start(str(journal), resumed)
        trial.wait(process, beyond=float(rng.uniform(0, 2 * spacing)), startup=float(rng.uniform(0.2, 1.2)))
        unfinished += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(LONGEST_RUN)
        fits += len(trial.marks())
        twice += sum(mark in before for mark in trial.marks())
    before = acknowledged(journal)
    _end_well(trial.start(str(journal), resumed))
    fits += len(trial.marks())
    twice += sum(mark in before for mark in trial.marks())
    return {
        "kills": times,
        "unfinished": unfinished,
        "cells": cells,
        "fits": fits,
        "lost": fits - cells,
        "acknowledged_twice": twice,
        "same": timeless(whole) == timeless(resumed),
    }


def _end_well(process: subprocess.Popen[bytes]) -> None:
    if process.wait(LONGEST_RUN) != 0:
        raise AssertionError("a run that nobody killed did not end well")


def acknowledged(journal: Path) -> set[float]:
    """The marks of the fits whose answers are in the journal."""
    from heldout.journal import open_journal
    from heldout.journal.records import decode

    found: set[float] = set()
    if not journal.exists():
        return found
    with open_journal(journal) as store:
        for _, content in store.all_rows("cells"):
            responses = decode(content)["responses"]
            stacked = responses["predict"] if isinstance(responses, dict) else [one["predict"] for one in responses]
            found.update(float(one[0]) for one in stacked)
    return found


def timeless(saved: Path) -> dict[str, Any]:
    """Everything in a saved result but times."""
    with zipfile.ZipFile(saved) as file:
        content = {name: file.read(name) for name in file.namelist()}
    facts = json.loads(content.pop("result.json"), object_pairs_hook=_without_times)
    return {**content, "result.json": json.dumps(facts).encode()}


def _without_times(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if name != "seconds" and not name.endswith("_seconds")}


if __name__ == "__main__":
    found = sigkill_resume(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.exit(0 if found["same"] and not found["acknowledged_twice"] else 1)
