"""`make faults`: each fault that a study must survive, made for real, and what the user saw.

Each case runs in a process of its own with a time limit. ``python tests/faults/run.py crash hang`` runs some.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault, and the function that makes it."""

    number: int
    fault: str
    module: str
    name: str
    seconds: float = 300.0
    mounts: bool = False
    quick: bool = False  # pytest runs it too


CASES = (
    Case(number=1, fault="a worker is killed", module="worker_cases", name="worker_killed", quick=True),
    Case(number=2, fault="a fit takes too much memory", module="worker_cases", name="memory_limit", quick=True),
    Case(number=2, fault="the system refuses memory", module="worker_cases", name="memory_refused"),
    Case(number=3, fault="a fit crashes the interpreter", module="worker_cases", name="crash"),
    Case(number=4, fault="a fit hangs", module="worker_cases", name="hang", quick=True),
    Case(number=5, fault="a fit kills every worker it meets", module="worker_cases", name="poison"),
    Case(number=6, fault="the program is killed (SIGKILL)", module="journal_cases", name="program_killed", seconds=900),
    Case(number=6, fault="it is killed at random", module="journal_cases", name="killed_at_random", quick=True),
    Case(number=6, fault="it is killed in a fit", module="journal_cases", name="killed_and_resumed", quick=True),
    Case(number=7, fault="Ctrl-C in a fit", module="worker_cases", name="interrupt_held", quick=True),
    Case(number=7, fault="Ctrl-C, once and twice", module="worker_cases", name="interrupt", seconds=600),
    Case(number=8, fault="disk full", module="journal_cases", name="disk_full", mounts=True),
    Case(number=9, fault="read-only folder", module="journal_cases", name="readonly_folder", mounts=True),
    Case(number=10, fault="two programs on one journal", module="journal_cases", name="two_programs", quick=True),
    Case(number=11, fault="a flipped byte in the journal", module="journal_cases", name="flipped_byte"),
    Case(number=11, fault="a torn journal", module="journal_cases", name="torn_tail"),
    Case(number=12, fault="a journal of another version", module="journal_cases", name="other_version"),
    Case(number=13, fault="data or code changed since", module="journal_cases", name="changed_since"),
    Case(number=14, fault="a Dask worker is killed", module="dask_cases", name="dask_worker_killed", seconds=600),
    Case(number=14, fault="its scheduler is killed", module="dask_cases", name="dask_scheduler_killed", seconds=600),
    Case(number=14, fault="a fit kills every Dask worker", module="dask_cases", name="dask_poison", seconds=600),
    Case(number=15, fault="the same answer twice", module="journal_cases", name="same_answer_twice"),
    Case(number=16, fault="too little room for data", module="worker_cases", name="small_temporary_space", mounts=True),
)


def main(asked: list[str]) -> int:
    """Run the cases asked for, or all, and print a table; 1 where a user saw something else than was promised."""
    cases = [case for case in CASES if not asked or case.name in asked]
    unknown = set(asked) - {case.name for case in cases}
    if unknown:
        known = ", ".join(case.name for case in CASES)
        sys.stderr.write(f"There is no case {sorted(unknown)[0]!r}. Known: {known}.\n")
        return 2
    failed = 0
    for case in cases:
        started = time.monotonic()
        good, saw = run_case(case)
        failed += not good
        verdict = "as promised" if good else "NOT AS PROMISED"
        sys.stdout.write(f"{case.number:>2}  {case.fault}  ({verdict}, {time.monotonic() - started:.1f} s)\n")
        sys.stdout.write(textwrap.fill(saw, 112, initial_indent="      ", subsequent_indent="      ") + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(cases) - failed} of {len(cases)} cases as promised\n")
    return 1 if failed else 0


def run_case(case: Case) -> tuple[bool, str]:
    """Whether the user saw what was promised, and what it was."""
    command = [sys.executable, str(HERE / "run.py"), "--alone", case.module, case.name]
    if case.mounts and os.geteuid() != 0:
        command = ["unshare", "--user", "--map-root-user", "--mount", *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=case.seconds, env=environment)
    except subprocess.TimeoutExpired:
        return False, f"it did not end within {case.seconds:.0f} s"
    except OSError as error:
        return False, f"it could not be started: {error}"
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        return False, " / ".join(ended.stderr.strip().splitlines()[-6:])
    return True, " ".join(str(json.loads(lines[-1])).split())


def _alone(module: str, name: str) -> None:
    """One case, in this process; a case of our own is given a folder that goes with it."""
    case = getattr(import_module(module), name)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        saw = case() if module == "dask_cases" else case(Path(folder))
    sys.stdout.write(json.dumps(saw) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        _alone(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
