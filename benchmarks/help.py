"""How long `heldout --help` takes beside `python -c "import sklearn"`. Run it with ``python -m benchmarks.help``.

The two are started in turns, each in a process of its own, and the medians are compared.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

TIMES = 15
PROGRAMS = {
    "heldout --help": ["-m", "heldout", "--help"],
    "heldout evaluate --help": ["-m", "heldout", "evaluate", "--help"],
    "import sklearn": ["-c", "import sklearn"],
    "python alone": ["-c", "pass"],
}


def main() -> None:
    """Print the medians, and the ratios to importing scikit-learn."""
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for turn in range(TIMES + 1):
        for name, words in PROGRAMS.items():
            began = perf_counter()
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
            if turn:  # the first turn fills the disk cache
                seconds[name].append(perf_counter() - began)
    whole = median(seconds["import sklearn"])
    for name, found in seconds.items():
        print(f"{name:<24} {median(found) * 1000:7.0f} ms   {median(found) / whole:.2f} × import sklearn")


if __name__ == "__main__":
    main()
