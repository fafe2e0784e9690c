"""Answers a batch of trainings: collects their rows, and solves every Gram matrix and penalty on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.driver.contract import Group, HeldOutNumbers
from heldout.kernels.smoothers.grams import Gram
from heldout.kernels.smoothers.routes import (
    Cut,
    HeldOutResponses,
    Inverse,
    Places,
    by_block,
    by_diagonal,
    by_factor,
    eliminate,
    none_reliable,
)
from heldout.kernels.smoothers.spectrum import Spectrum, Targets, decompose, weighted_gram
from heldout.kernels.step import Training
from heldout.kernels.sums.rounding import Bools, Floats

EIGEN = 14.0  # operations of an eigendecomposition of n rows, in n³; slow operations count as several
INVERSE = 1.3  # the same of one inverse from it
FACTOR = 0.5  # the same of a Cholesky factor and its matrix
MATRICES = 5  # n × n matrices in memory at a time: the Gram matrix, eigenvectors, an inverse and intermediates


@dataclass(frozen=True, slots=True, eq=False)
class Smoother:
    """Holds what differs between candidates of a group."""

    gram: Gram
    penalty: float
    centred: bool  # y less its mean over the training rows


@dataclass(frozen=True, slots=True, eq=False)
class SameGram:
    """Candidates with the same Gram matrix."""

    gram: Gram
    targets: Targets
    places: Places  # of the candidates
    lambdas: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """Rows that share a Gram matrix, and the trainings among them."""

    X: Floats
    cuts: Sequence[Cut]
    shared: Mapping[str, Places]  # by splits (`Cut.family`), the rows that all their trainings leave out


def same_grams(group: Group, rows: Rows) -> list[SameGram]:
    """Group the candidates by their Gram matrix, with the targets on these rows."""
    places: dict[tuple[Gram, bool], list[int]] = {}
    for place, smoother in enumerate(group.values):
        places.setdefault((smoother.gram, smoother.centred), []).append(place)
    targets = {centred: _targets(group, rows, centred=centred) for _, centred in places}
    return [
        SameGram(gram, targets[centred], np.array(those), np.array([group.values[i].penalty for i in those]))
        for (gram, centred), those in places.items()
    ]


def _targets(group: Group, rows: Rows, *, centred: bool) -> Targets:
    Y, weight = group.data.Y[rows], group.data.weight
    middle = Y.mean(axis=0) if centred else np.zeros(Y.shape[1])
    return Targets(Y=Y - middle, middle=middle, root=None if weight is None else np.sqrt(weight[rows]), centred=centred)


def leave_each_out(group: Group, rows: Rows, held: Rows) -> tuple[Floats, Bools]:
    """Return leave-one-out predictions of the rows `held`, from fits on all others of `rows`.

    Also returns which are reliable: held rows × candidates.
    """
    X, places = group.data.X[rows].astype(np.float64), np.searchsorted(rows, held)
    values = np.zeros((len(held), len(group.values), group.data.Y.shape[1]))
    reliable = np.zeros(values.shape[:2], dtype=bool)

    def answer(same: SameGram) -> None:
        spectrum = decompose(same.gram, X, same.targets, same.lambdas)
        if spectrum is not None:
            bounds = spectrum.coefficients_within(same.targets, same.targets.means_without_each())
            values[:, same.places], reliable[:, same.places] = by_diagonal(spectrum, same.targets, bounds, places)

    for several in _in_memory(group, rows, same_grams(group, rows)):
        group.spread(answer, several)
    return values, reliable


def solve_trainings(group: Group, batch: Sequence[Training]) -> list[HeldOutNumbers]:
    """Answer every held-out part of a batch of trainings."""
    rows = _rows_of(group, batch)
    sames = same_grams(group, rows)
    base = _make_base(group, batch, rows, {same.targets.centred: same.targets for same in sames})
    values = [np.zeros((len(cut.held), len(group.values), group.data.Y.shape[1])) for cut in base.cuts]
    reliable = [np.zeros((len(cut.starts), len(group.values)), dtype=bool) for cut in base.cuts]

    def keep(number: int, place: int, found: HeldOutResponses) -> None:
        values[number][:, place], reliable[number][:, place] = found

    by_blocks = shares_a_spectrum(base, sames)
    for several in _in_memory(group, rows, sames):
        if by_blocks:
            spectra = group.spread(lambda same: _decomposed(base, same), several)
            penalties = [(*pair, i) for pair in zip(several, spectra, strict=True) for i in range(len(pair[0].lambdas))]
            answered = group.spread(lambda job: _answer_penalty(base, *job), penalties)
            for (same, _, i), found in zip(penalties, answered, strict=True):
                for number, responses in enumerate(found):
                    keep(number, same.places[i], responses)
        else:
            grams = group.spread(lambda same: weighted_gram(same.gram, base.X, same.targets), several)
            trainings = [(*pair, cut) for pair in zip(several, grams, strict=True) for cut in base.cuts]
            answered = group.spread(lambda job: _answer_training(*job), trainings)
            for place, ((same, _, _), found) in enumerate(zip(trainings, answered, strict=True)):
                for i, responses in enumerate(found):
                    keep(place % len(base.cuts), same.places[i], responses)
    return [
        HeldOutNumbers(training, held, (numbers,), sure)
        for training, cut, all_numbers, all_sure in zip(batch, base.cuts, values, reliable, strict=True)
        for held, numbers, sure in zip(training.answers, np.split(all_numbers, cut.starts[1:]), all_sure, strict=True)
    ]


def shares_a_spectrum(base: Base, sames: Sequence[SameGram]) -> bool:
    """Return whether one eigendecomposition a Gram matrix takes fewer operations than a factor a training set."""
    lambdas, n = sum(len(same.lambdas) for same in sames), len(base.X)
    sizes = np.array([len(cut.train) for cut in base.cuts], dtype=float)
    blocks = FACTOR * float((np.minimum(sizes, n - sizes) ** 3).sum()) * lambdas
    each = FACTOR * float((sizes**3).sum()) * lambdas
    return float(n) ** 3 * (EIGEN * len(sames) + INVERSE * lambdas) + blocks < each


def _in_memory(group: Group, rows: Rows, sames: Sequence[SameGram]) -> Iterator[Sequence[SameGram]]:
    """Return an iterator over as many Gram matrices at a time as fit the memory budget; empty if not one does."""
    at_once = int(group.work.budget // (MATRICES * 8 * len(rows) ** 2))
    return (sames[start : start + at_once] for start in range(0, len(sames) if at_once else 0, max(1, at_once)))


def _rows_of(group: Group, batch: Sequence[Training]) -> Rows:
    """Return all rows that these trainings use."""
    used = np.zeros(len(group.work.task), dtype=bool)
    for training in batch:
        used[group.work.train_rows(training.trains[0])] = True
        for held in training.answers:
            used[group.work.held_rows(held)] = True
    return np.flatnonzero(used)


def _make_base(group: Group, batch: Sequence[Training], rows: Rows, targets: Mapping[bool, Targets]) -> Base:
    work, place = group.work, np.full(len(group.work.task), -1)  # −1: not among these rows
    place[rows] = np.arange(len(rows))
    shared: dict[str, Places] = {}
    cuts: list[Cut] = []
    for training in batch:
        ref = training.trains[0]
        splits, parts = work.splits[ref.splits], [place[work.held_rows(held)] for held in training.answers]
        train, held = place[work.train_rows(ref)], np.concatenate(parts)
        left = np.ones(len(rows), dtype=bool)
        left[train] = False
        apart = 2 * len(train) < len(rows) or not left[held].all()
        family, out = "", np.flatnonzero(left)
        if splits.train is None:
            if ref.splits not in shared:
                shared[ref.splits] = np.setdiff1d(np.arange(len(rows)), place[splits.rows])
            own = np.setdiff1d(place[splits.held_rows(ref.part)], [-1])
            if len(shared[ref.splits]) and np.isin(held, own).all():
                family, out = ref.splits, own
        else:
            apart |= len(np.unique(train)) < len(train)
        cuts.append(
            Cut(
                train=train,
                family=family,
                out=out,
                held=held,
                held_out=np.searchsorted(out, held),
                starts=np.cumsum([0, *map(len, parts[:-1])]),
                mean=targets[True].Y[train].mean(axis=0) if True in targets else np.zeros(group.data.Y.shape[1]),
                apart=bool(apart),
            )
        )
    return Base(X=group.data.X[rows].astype(np.float64), cuts=cuts, shared=shared)


def _decomposed(base: Base, same: SameGram) -> tuple[Spectrum, Floats] | None:
    """Return the spectrum, and for each penalty an upper bound on the length of any training's coefficients."""
    spectrum = decompose(same.gram, base.X, same.targets, same.lambdas)
    if spectrum is None:
        return None
    return spectrum, spectrum.coefficients_within(same.targets, np.stack([cut.mean for cut in base.cuts]))


def _answer_penalty(
    base: Base, same: SameGram, decomposed: tuple[Spectrum, Floats] | None, place: int
) -> list[HeldOutResponses]:
    """Answer one penalty in every training, by blocks of its inverse."""
    if decomposed is None:
        return [none_reliable(cut, same.targets) for cut in base.cuts]
    spectrum, coefficients = decomposed
    inverse = Inverse(spectrum, same.targets, place, float(coefficients[place]))
    responses: list[HeldOutResponses] = []
    family, eliminated = "", None
    for cut in base.cuts:
        if not cut.apart and inverse.definite and cut.family != family:
            family, eliminated = cut.family, None
            if family:
                eliminated = eliminate(inverse, base.shared[family])
        if cut.apart or not inverse.definite or (family and eliminated is None):
            responses.append(by_factor(spectrum.K, spectrum.entry, inverse.penalty, cut, same.targets))
        else:
            responses.append(by_block(inverse, cut, eliminated))
    return responses


def _answer_training(same: SameGram, made: tuple[Floats, float] | None, cut: Cut) -> list[HeldOutResponses]:
    """Answer every penalty in one training, each by its own Cholesky factor."""
    if made is None:
        return [none_reliable(cut, same.targets)] * len(same.lambdas)
    return [by_factor(*made, float(penalty), cut, same.targets) for penalty in same.lambdas]
