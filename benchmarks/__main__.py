"""Run the benchmarks: ``python -m benchmarks`` for all, ``python -m benchmarks nested pool`` for some."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "nested",
    "accelerated",
    "families",
    "races",
    "growth",
    "pool",
    "engine",
    "many",
    "fingerprint",
    "splits",
    "report",
    "first_screen",
)


def main(asked: list[str]) -> int:
    """Run each benchmark asked for, or all, and say which names there are when one is unknown."""
    unknown = [name for name in asked if name not in NAMES]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}. Known: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    for number, name in enumerate(asked or NAMES):
        print(("\n" if number else "") + f"== {name} ==", flush=True)
        sys.argv[1:] = []  # each reads its own arguments when it is run alone
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
