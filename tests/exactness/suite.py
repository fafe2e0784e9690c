"""The studies of all families, run one by one, and what is expected of each: that its kernel claims and answers it.

`expected.json` lists, by family, the studies that the kernel refuses ("refused"), and the share of fits that it
answers where that is less than half ("answered"). Every other study is claimed, and the kernel answers at least half
of its fits; of all fits in the studies that it claims it answers a share that is listed too ("share").
`run.py --record` writes the file anew; read the difference before it is committed.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from compare import Build, Comparison, compare  # noqa: E402

EXPECTED = HERE / "expected.json"
USUAL_SHARE = 0.5  # of fits, that a kernel answers of a study that it claims
SLACK = 0.1  # of a share: rounding may decide a few fits otherwise on another machine


def families() -> list[str]:
    """The names of all study modules."""
    return sorted(path.stem.removesuffix("_studies") for path in HERE.glob("*_studies.py"))


@dataclass(frozen=True, slots=True)
class Family:
    """A module of studies, and what is expected of them."""

    name: str
    module: ModuleType
    refused: frozenset[str]
    answered: dict[str, float]
    share: float

    def studies(self) -> Iterator[tuple[str, Build]]:
        yield from self.module.studies()

    def drawn(self, count: int) -> list[tuple[str, Build]]:
        """So many studies, drawn by their labels: studies that are added or removed change no other draw."""
        return sorted(self.studies(), key=lambda study: blake2b(study[0].encode()).digest())[:count]

    def compared(self, label: str, build: Build) -> Comparison:
        """By responses, choices and validation losses; a module of the tier `solver` compares objectives itself."""
        module = self.module
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(module, "check"):
                own: Comparison = module.check(label, build)
                return own
            more: dict[str, Any] = {
                "reference": getattr(module, "reference", None),
                "counted": getattr(module, "COUNTED", None),
            }
            return compare(label, build, module.RULE, module.TIER, **more)

    def faults(self, one: Comparison) -> list[str]:
        """What is wrong with a comparison, in words; nothing where all is as expected."""
        found = []
        if not one.checks_passed:
            found.append("a spot check failed, so brute force was compared with itself")
        if one.difference > one.allowed:
            found.append(f"difference {one.difference:.3g}, allowed {one.allowed:.3g}")
        if not one.same_choices:
            found.append("choices or failures differ")
        if one.claimed and one.label in self.refused:
            found.append(f"it is claimed, and {EXPECTED.name} says that it is refused")
        if not one.claimed and one.label not in self.refused:
            found.append(f"the kernel refused it: {'; '.join(one.refusals) or 'no reason given'}")
        least = self.answered.get(one.label, USUAL_SHARE) - SLACK
        if one.claimed and one.answered_share < least:
            found.append(f"the kernel answered {one.answered_share:.0%} of {one.brute_fits} fits")
        if one.claimed and one.examined == 0 and least > 0:
            found.append("no fit of the kernel was seen: is the function that is recorded still the one it calls?")
        return found

    def faults_of_all(self, found: list[Comparison]) -> list[str]:
        """What is wrong with the comparisons of a whole family that no single one of them shows."""
        share = answered_share(found)
        if share < self.share - SLACK / 2:
            return [f"the kernel answered {share:.0%} of all fits that it claimed, and {self.share:.0%} are expected"]
        return []


def answered_share(found: list[Comparison]) -> float:
    """The share of fits that a kernel answered without fitting, in the studies that it claimed."""
    claimed = [one for one in found if one.claimed]
    brute = sum(one.brute_fits for one in claimed)
    return max(0.0, 1 - sum(one.fallback_fits for one in claimed) / brute) if brute else 0.0


def family(name: str) -> Family:
    """A family by name."""
    expected = json.loads(EXPECTED.read_text(encoding="utf-8")).get(name, {})
    return Family(
        name=name,
        module=importlib.import_module(f"{name}_studies"),
        refused=frozenset(expected.get("refused", ())),
        answered=expected.get("answered", {}),
        share=expected.get("share", 1.0),
    )


def expected_of(found: list[Comparison]) -> dict[str, Any]:
    """What `expected.json` says of a family that was compared like this."""
    few = {one.label: round(one.answered_share, 2) for one in found if one.claimed and one.answered_share < USUAL_SHARE}
    return {
        "share": round(answered_share(found), 2),
        "refused": sorted(one.label for one in found if not one.claimed),
        "answered": dict(sorted(few.items())),
    }
