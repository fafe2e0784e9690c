"""`make exactness`: every rule and kernel against brute force, on generated studies, with a table of what was seen."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from suite import EXPECTED, Comparison, Family, expected_of, families, family


def main() -> int:
    """Run the study modules named, or all; exit 1 when a study passes its tier or its kernel did not answer it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="study modules, such as within or ridge; all when left out")
    parser.add_argument("--only", default="", help="studies whose label contains this")
    parser.add_argument("--record", action="store_true", help=f"write what was seen to {EXPECTED.name}")
    asked = parser.parse_args()
    if asked.record and asked.only:
        parser.error("--record needs all studies of a module, so it goes without --only")
    failed = 0
    for name in families():
        if not asked.names or name in asked.names:
            failed += _run_family(family(name), asked.only, record=asked.record)
    sys.stdout.write(f"{failed} failed\n")
    return 1 if failed else 0


def _run_family(own: Family, only: str, *, record: bool) -> int:
    found = [own.compared(label, build) for label, build in own.studies() if only in label]
    if not found:
        return 0
    claimed = [one for one in found if one.claimed]
    bad = {one.label: faults for one in found if (faults := own.faults(one))}
    if not only and (faults := own.faults_of_all(found)):
        bad["the whole family"] = faults
    brute, left = sum(one.brute_fits for one in claimed), sum(one.fallback_fits for one in claimed)
    sys.stdout.write(
        f"{own.name}: rule {own.module.RULE}, tier {own.module.TIER}: kernel used in {len(claimed)} of {len(found)} "
        f"studies, {max(0, brute - left)} of {brute} fits answered without a fit, largest difference "
        f"{max((one.difference for one in found), default=0.0):.2g}, {len(bad)} not as expected\n"
    )
    for reason, times in Counter(reason for one in found for reason in one.refusals).most_common():
        sys.stdout.write(f"    refused {times}×: {reason}\n")
    for label, faults in bad.items():
        sys.stdout.write(f"    FAILED {label}: {'; '.join(faults)}\n")
    sys.stdout.flush()
    if record:
        _record(own.name, found)
    return len(bad)


def _record(name: str, found: list[Comparison]) -> None:
    everything = json.loads(EXPECTED.read_text(encoding="utf-8")) | {name: expected_of(found)}
    EXPECTED.write_text(json.dumps(everything, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
