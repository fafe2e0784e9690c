"""Simulated studies, kept on disk: what every interval is made from, so that rules can be judged again without fits.

A chunk is one file with some replications of one setting under one recipe. Chunks that are there with the losses that
are wanted are not made again, so an interrupted run goes on where it was. They lie in the folder named by
HELDOUT_COVERAGE, else .coverage-cache.
"""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

import heldout as ho
from benchmarks.coverage.measure import Parts, measure
from benchmarks.coverage.populations import Sample
from benchmarks.coverage.run import spread
from benchmarks.coverage.settings import RECIPES, Setting, grid
from heldout.api import evaluate as evaluating
from heldout.audit.ledger import MemoryLedger
from heldout.results.test_losses import TestLosses, read_test_losses
from heldout.risk import record as record_module
from heldout.risk.record import Record

CHUNK = 50  # replications a file
FRESH = 40_000  # rows on which a tested predictor is measured
KINDS = {kind.__name__: kind for kind in vars(record_module).values() if is_dataclass(kind)}
VERSION = 2  # raise it where studies record something else under the same fields: all is then simulated again
FIELDS = [
    f"version-{VERSION}",
    *sorted(f"{name}.{field.name}" for name, kind in KINDS.items() for field in fields(kind)),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """What one study recorded: a record by loss, or why there is none."""

    number: int
    columns: int
    records: dict[str, Stored]
    refused: dict[str, str]
    findings: tuple[tuple[str, str], ...]  # code and severity, of the study as a whole
    own: dict[str, Parts] | None  # what the tested predictor achieves on fresh rows, where there is one
    ends: dict[str, tuple[float, float, float, str]]  # value, low, high and method, where a method needs fits


@contextmanager
def recorded() -> Iterator[list[Record]]:
    """The record of every reported loss, all that its interval is made from, of the studies that run inside."""
    kept: list[Record] = []

    def keep(*args: Any, **options: Any) -> TestLosses:
        losses = read_test_losses(*args, **options)
        kept.extend(losses.records)
        return losses

    with patch.object(evaluating, "read_test_losses", keep):
        yield kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A value of a record as the name of its class and its fields, so that a class may get further fields."""

    kind: str
    fields: dict[str, Any]


def stored(value: Any, known: dict[int, Stored] | None = None) -> Any:
    """A record, or a part of one, as plain fields; parts that records share stay shared."""
    if type(value).__name__ not in KINDS:
        return value
    known = {} if known is None else known
    if id(value) not in known:
        content = {field.name: stored(getattr(value, field.name), known) for field in fields(value)}
        known[id(value)] = Stored(kind=type(value).__name__, fields=content)
    return known[id(value)]


def restored(value: Any) -> Any:
    """The record again; fields that its class no longer has are left out."""
    if not isinstance(value, Stored):
        return value
    names = {field.name for field in fields(KINDS[value.kind])}
    return KINDS[value.kind](**{name: restored(one) for name, one in value.fields.items() if name in names})


def folder() -> Path:
    """Where chunks are kept."""
    return Path(os.environ.get("HELDOUT_COVERAGE", Path(__file__).parents[2] / ".coverage-cache"))


def chunk_path(setting: Setting, recipe: str, first: int) -> Path:
    """The file of the replications from `first` on."""
    digest = setting.digest(recipe, RECIPES[recipe].test, setting.losses_under(recipe), CHUNK)
    return folder() / slug(setting.key) / f"{slug(recipe)}-{digest}-{first:04d}.pkl.gz"


def slug(words: str) -> str:
    """Words as a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in words).strip("-").replace("--", "-")


def is_complete(path: Path, losses: Iterable[str]) -> bool:
    """Whether a chunk is there with these losses, and its records have all the fields that records have today."""
    kept = path.with_suffix(".fields")
    wanted = {*FIELDS, *map(_mark, losses)}
    return path.exists() and kept.exists() and wanted <= set(kept.read_text(encoding="utf-8").split())


def _mark(loss: str) -> str:
    return f"loss-{loss}"


def store(path: Path, value: Any, *, about: str | None = None) -> None:
    """Write a file as a whole or not at all, and what is told about it beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    with gzip.open(partial, "wb", compresslevel=1) as file:
        pickle.dump(value, file, protocol=5)
    if about is not None:
        path.with_suffix(".fields").write_text(about, encoding="utf-8")
    partial.replace(path)


def load(path: Path) -> Any:
    """Read what `store` wrote."""
    with gzip.open(path, "rb") as file:
        return pickle.load(file)


def generator(setting: Setting, purpose: int, number: int) -> np.random.Generator:
    """Random numbers of one replication: the same for every recipe."""
    return np.random.default_rng([purpose, crc32(setting.key.encode()), number])


def evaluate(setting: Setting, recipe: str, sample: Sample, *, losses: list[str], seed: int) -> Any:
    """One study."""
    return ho.evaluate(
        setting.learner,
        sample.X,
        sample.y,
        test=RECIPES[recipe].test,
        groups=sample.groups,
        time=sample.time,
        loss=losses,
        seed=seed,
        jobs=1,
        backend="inline",
        progress=False,
        # Every sample is new: the ledger of the process would compare its test rows with all samples before.
        options=ho.Options(interval=RECIPES[recipe].interval, ledger=MemoryLedger()),
    )


def replicate(setting: Setting, recipe: str, number: int, losses: list[str]) -> Replication:
    """Draw data, run a study, and keep its records. A loss that a study refuses does not stop the others."""
    sample = setting.population.draw(generator(setting, 71, number), setting.n)
    refused: dict[str, str] = {}
    with recorded() as records:
        try:
            results = [evaluate(setting, recipe, sample, losses=losses, seed=number)]
        except ho.HeldoutError:
            results = []
            for loss in losses:
                try:
                    results.append(evaluate(setting, recipe, sample, losses=[loss], seed=number))
                except ho.HeldoutError as error:
                    refused[loss] = str(error)
    known: dict[int, Stored] = {}
    return Replication(
        number=number,
        columns=sample.X.shape[1],
        records={record.loss: stored(record, known) for record in records},
        refused=refused,
        findings=tuple((found.code, found.severity) for result in results for found in result.findings),
        own=_own(setting, recipe, number, losses, results),
        ends=_ends(setting, recipe, results),
    )


def _own(setting: Setting, recipe: str, number: int, losses: list[str], results: list[Any]) -> dict[str, Parts] | None:
    """What the tested predictor achieves on fresh rows."""
    if not RECIPES[recipe].one_set or not results:
        return None
    grouped = setting.population.draw(np.random.default_rng(0), 2).groups is not None
    fresh = setting.population.draw(generator(setting, 73, number), FRESH // 8 if grouped else FRESH)
    return measure(results[0].predictor, fresh, losses)


def _ends(setting: Setting, recipe: str, results: list[Any]) -> dict[str, tuple[float, float, float, str]]:
    """The intervals that needed fits of their own."""
    if RECIPES[recipe].interval is None:
        return {}
    risks = [result.risk for result in results]
    return {risk.loss: (risk.value, risk.low, risk.high, risk.method) for risk in risks if risk.low is not None}


def make_chunk(second: bool, key: str, recipe: str, first: int, losses: list[str]) -> float:
    """Make one chunk, in a worker; the seconds it took."""
    setting, began = grid(second)[key], perf_counter()
    made = [replicate(setting, recipe, number, losses) for number in range(first, first + CHUNK)]
    seconds = perf_counter() - began
    store(chunk_path(setting, recipe, first), made, about=" ".join([f"{seconds:.2f}", *FIELDS, *map(_mark, losses)]))
    return seconds


def simulate(pairs: Mapping[tuple[str, str], Sequence[str]], count: int, *, second: bool, fresh: bool = False) -> None:
    """Make the chunks that are missing: so many replications, with these losses, of settings under recipes.

    The first loss of a setting is always among them, so that a study chooses by what it always chooses by.
    """
    settings = grid(second)
    jobs = []
    for (key, recipe), wanted in pairs.items():
        every = settings[key].losses_under(recipe)
        losses = [loss for loss in every if loss in wanted or loss == every[0]]
        jobs += [
            (second, key, recipe, first, losses)
            for first in range(0, count, CHUNK)
            if fresh or not is_complete(chunk_path(settings[key], recipe, first), losses)
        ]
    for _ in spread(make_chunk, jobs, words="chunks of studies", chunk=1):
        pass


def replications(setting: Setting, recipe: str, most: int) -> Iterator[Replication]:
    """What is kept of a setting under a recipe."""
    for first in range(0, most, CHUNK):
        path = chunk_path(setting, recipe, first)
        if path.exists():
            yield from load(path)[: most - first]


def seconds_taken(setting: Setting, recipe: str) -> tuple[int, float]:
    """How many replications with all losses are kept, and the seconds they took."""
    first, losses = chunk_path(setting, recipe, 0), setting.losses_under(recipe)
    paths = first.parent.glob(first.name.replace("-0000.pkl.gz", "-*.pkl.gz"))
    abouts = [path.with_suffix(".fields") for path in paths if is_complete(path, losses)]
    return len(abouts) * CHUNK, sum(float(about.read_text(encoding="utf-8").split()[0]) for about in abouts)
