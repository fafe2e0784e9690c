"""All replications of the settings, and the truths they are held against."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.coverage.recipes import Shot, replicate
from benchmarks.coverage.run import spread
from benchmarks.coverage.settings import SETTINGS
from benchmarks.coverage.tally import Row, tally
from benchmarks.coverage.truth import BLOCKS, Truth, known_risks, mean_risks, sampled_risks


def replicate_by_key(key: str, number: int) -> list[Shot]:
    """One replication, in a worker."""
    return replicate(key, SETTINGS[key], number)


def sample_by_key(key: str, size: int, block: int) -> dict[str, list[float]]:
    """A block of a truth, in a worker."""
    return sampled_risks(SETTINGS[key], size, block)


def expected_risks(key: str, sizes: list[int]) -> dict[tuple[str, int], Mapping[str, Truth]]:
    """The expected risks of a setting at each training size."""
    if SETTINGS[key].known is not None:
        return {(key, size): known for size in sizes if (known := known_risks(SETTINGS[key], size)) is not None}
    jobs = [(key, size, block) for size in sizes for block in range(BLOCKS)]
    blocks = list(spread(sample_by_key, jobs, words=f"{key}, truth"))
    return {(key, size): mean_risks(blocks[at * BLOCKS : (at + 1) * BLOCKS]) for at, size in enumerate(sizes)}


def cover(keys: list[str], share: float) -> tuple[list[Row], list[Shot]]:
    """The rows of every setting, and the refusals."""
    rows, refused = list[Row](), list[Shot]()
    for key in keys:
        count = max(2, round(share * SETTINGS[key].replications))
        found = spread(replicate_by_key, [(key, number) for number in range(count)], words=key)
        shots = [shot for one in found for shot in one]
        sizes = sorted({shot.train_size for shot in shots})
        rows += tally(shots, expected_risks(key, sizes))
        refused += [shot for shot in shots if shot.refused]
    return rows, refused
