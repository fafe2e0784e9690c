"""100,000 candidates × 5 folds of a fast learner with a journal: memory over the run, and how soon a kill is made good.

Run ``python -m benchmarks many``. The study runs in a process of its own that tells its memory as it goes. It is killed
(SIGKILL) when six tenths are done, started again, left to end, and asked once more. Flat means that from the first
hundredth of the run, when all room is taken, to its last cell it grew by no more than a twentieth.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import psutil

import heldout as ho
from benchmarks.timed import Timed

CANDIDATES, FOLDS, ROWS = 100_000, 5, 60
KILLED_AT = 0.6
MOST_GROWTH, MOST_SECONDS = 0.05, 30.0  # "in seconds": reading what is known, before the first new fit


def main(candidates: int = CANDIDATES) -> None:
    """Print the memory along the run, and the seconds until a killed run computes again."""
    print(__doc__)
    with tempfile.TemporaryDirectory(prefix="heldout-many-") as folder:
        journal = Path(folder, "study.db")
        told = [_run(journal, candidates, kill_at=KILLED_AT)]
        kept = journal.stat().st_size
        told += [_run(journal, candidates), _run(journal, candidates)]
        size = journal.stat().st_size
    first, second, third = told
    _show_memory(first, second)
    print(f"journal {kept / 1e6:.1f} MB when it was killed, {size / 1e6:.1f} MB at the end")
    again = second[0]
    print(f"killed at {first[-1]['cells']:,} cells; started again:")
    print(f"  {second[-1]['recalled']:,} cells from the journal, {second[-1]['computed']:,} computed")
    print(
        f"  {again['seconds']:.1f} s to the first new fits ({again['processor']:.1f} s of the processor), "
        f"{again['began']:.1f} s of it until Python and the study had started   "
        f"{_verdict(again['seconds'] <= MOST_SECONDS)}"
    )
    print(f"with its result at the end {second[-1]['memory'] / 1e6:.1f} MB")
    print(
        f"asked again: {third[-1]['seconds']:.1f} s ({third[-1]['processor']:.1f} s of the processor), "
        f"{third[-1]['computed']:,} computed"
    )


def _show_memory(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    print(f"{'run':>8}{'cells':>10}{'seconds':>10}{'memory':>12}")
    for run, lines in (("first", first), ("resumed", second)):
        for line in lines[:: max(1, len(lines) // 10)]:
            print(f"{run:>8}{line['cells']:>10,}{line['seconds']:>10.1f}{line['memory'] / 1e6:>9.1f} MB")
    for run, lines in (("first", first), ("resumed", second[:-1])):  # the last line is told when the result is made
        low, high = lines[1]["memory"], max(line["memory"] for line in lines)
        growth = high / low - 1.0
        print(
            f"{run} run: {low / 1e6:.1f} MB after the first hundredth, at most {high / 1e6:.1f} MB later: "
            f"{growth:+.1%}   {_verdict(growth <= MOST_GROWTH)}"
        )


def _run(journal: Path, candidates: int, *, kill_at: float = 2.0) -> list[dict[str, Any]]:
    """What a run tells, line by line; it is killed once this share of the cells is done."""
    command = [sys.executable, "-m", "benchmarks.many", str(journal), str(candidates), str(perf_counter())]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        for text in program.stdout:
            lines.append(json.loads(text))
            if lines[-1]["cells"] >= kill_at * candidates * FOLDS:
                program.send_signal(signal.SIGKILL)
                break
    return lines


def _study(journal: str, candidates: int, launched: float) -> None:
    """The study of one process, which prints a line a hundredth."""
    me, every = psutil.Process(), candidates * FOLDS // 100
    random = np.random.default_rng(0)
    X, y = random.normal(size=(ROWS, 3)), random.normal(size=ROWS) + 3.0
    began, last = 0.0, -1

    def clocks() -> dict[str, float]:
        return {"seconds": perf_counter() - launched, "processor": process_time()}

    def tell(event: Any) -> None:
        nonlocal began, last
        if event.kind == "study started":
            began = perf_counter() - launched
        if event.kind == "step done" and (last < 0 or event.done - last >= every):
            _say(cells=event.done, memory=me.memory_info().rss, began=began, **clocks())
            last = event.done

    space = {"shrink": np.linspace(0.0, 0.5, candidates)}
    learner = ho.Tuned(Timed(), space, validation=ho.KFold(FOLDS))
    how: dict[str, Any] = {"jobs": 1, "backend": "inline", "journal": journal, "progress": False}
    result = ho.evaluate(learner, X, y, test=ho.Holdout(0.2), options=ho.Options(on_event=tell), **how)
    use = result.journal
    assert use is not None
    _say(
        cells=use.recalled + use.computed,
        memory=me.memory_info().rss,
        began=began,
        recalled=use.recalled,
        computed=use.computed,
        **clocks(),
    )


def _say(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def _verdict(good: bool) -> str:
    return "ok" if good else "NOT MET"


if __name__ == "__main__":
    _study(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])) if len(sys.argv) > 2 else main()
