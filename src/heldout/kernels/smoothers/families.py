"""Trainings that leave out the same rows and some of their own besides: an outer fold, and inner folds beside it.

The rows in common are eliminated once for all of them, by a factor L of G on these; with V = L⁻¹·G of them and the
others, what is left for a member's own rows is G − VᵀV there. Members of one size are solved in one call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsm

from heldout.kernels.smoothers.routes import Cut, Found, Inverse, Places, by_block
from heldout.kernels.smoothers.spectrum import WITHIN, Targets
from heldout.kernels.sums.rounding import Floats

FEWEST = 2  # members that are worth it
SURE = np.ones(1, dtype=bool)
FLAT_NUMBERS = 1 << 22  # places of blocks that are kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """Trainings by number, all with one side and as many rows of their own."""

    shared: Places  # left out by all
    numbers: tuple[int, ...]
    own: Places  # members × rows: what each leaves out besides, ascending
    means: Floats  # members × targets: of y over the training rows, where models centre it
    held: Places  # members × held-out rows: where they are among its own
    flat: Places  # members × rows × rows: of the squares of their own rows in the base's matrix


def make_families(cuts: Sequence[Cut], names: Sequence[str], size: int) -> list[Family]:
    """The families among trainings whose splits have these names, on a base of this many rows."""
    found: list[Family] = []
    kept = 0
    for numbers in _by_name(cuts, names):
        shared = _in_all([cuts[number].out for number in numbers])
        alike: dict[tuple[int, int], list[tuple[int, Places, Places]]] = {}
        for number in numbers:
            cut = cuts[number]
            own = np.setdiff1d(cut.out, shared, assume_unique=True)
            held = np.searchsorted(own, cut.held)
            if len(own) and held.max() < len(own) and np.array_equal(own[held], cut.held):
                alike.setdefault((len(own), len(held)), []).append((number, own, held))
        for (width, _), members in alike.items():
            places = len(members) * width**2
            if len(members) < FEWEST or kept + places > FLAT_NUMBERS:
                continue
            kept += places
            own = np.stack([one for _, one, _ in members])
            found.append(
                Family(
                    shared=shared,
                    numbers=tuple(number for number, _, _ in members),
                    own=own,
                    means=np.stack([cuts[number].mean for number, _, _ in members]),
                    held=np.stack([held for _, _, held in members]),
                    flat=own[:, :, None] * size + own[:, None, :],
                )
            )
    return found


def _by_name(cuts: Sequence[Cut], names: Sequence[str]) -> list[list[int]]:
    """Numbers of trainings of one splits that are smaller to leave out than to train on."""
    found: dict[str, list[int]] = {}
    for number, (cut, name) in enumerate(zip(cuts, names, strict=True)):
        if len(cut.sides) == 1 and len(cut.out) <= len(cut.train):
            found.setdefault(name, []).append(number)
    return list(found.values())


def _in_all(sets: Sequence[Places]) -> Places:
    shared = sets[0]
    for other in sets[1:]:
        shared = np.intersect1d(shared, other, assume_unique=True)
    return shared


def by_family(inverse: Inverse, family: Family, cuts: Sequence[Cut]) -> Iterator[tuple[int, Found]]:
    """What `by_block` finds for every member; where a factor cannot be had, or digits are few, it is asked itself."""
    targets, definite = inverse.targets, inverse.spectrum.definite[inverse.place]
    residuals = solve_members(inverse, family) if definite else None
    if residuals is None:
        yield from ((number, by_block(inverse, cuts[number])) for number in family.numbers)
        return
    rows = np.take_along_axis(family.own, family.held, axis=1)
    error = inverse.spectrum.error(inverse.place, inverse.coefficients, inverse.weights)
    if targets.root is not None:
        root = targets.root.take(rows)
        residuals /= root[:, :, None]
        error = (error / root).max(axis=1)
    values = targets.Y.take(rows, axis=0)
    values -= residuals
    values += targets.middle
    with np.errstate(invalid="ignore"):
        size = np.abs(values).max(axis=(1, 2))
        good = error + inverse.cancelled * np.abs(residuals).max(axis=(1, 2)) <= WITHIN * size
    for number, own, sure in zip(family.numbers, values, good.tolist(), strict=True):
        yield number, Found(values=own, good=SURE) if sure else by_block(inverse, cuts[number])


def solve_members(inverse: Inverse, family: Family) -> Floats | None:
    """Residuals of held-out rows: members × rows × targets."""
    G = inverse.G
    right = _less_means(inverse.known.take(family.own, axis=0), family, inverse.targets)
    S = G.reshape(-1).take(family.flat)
    count, width = family.own.shape
    if len(family.shared):
        rows = G.take(family.shared, axis=0)
        try:
            L = np.linalg.cholesky(rows.take(family.shared, axis=1))
        except np.linalg.LinAlgError:
            return None
        beside = rows.take(family.own.reshape(-1), axis=1)
        both = np.concatenate([beside, inverse.known.take(family.shared, axis=0)], axis=1)
        V = dtrsm(1.0, L.T, both.T, side=1, overwrite_b=1).T  # column by column that is a division from the right
        each = V[:, : count * width].reshape(len(L), count, width).transpose(1, 2, 0)
        S -= each @ each.transpose(0, 2, 1)
        right -= each @ _less_means(V[None, :, count * width :], family, inverse.targets)
    try:
        z = np.linalg.solve(S, right)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(np.take_along_axis(z, family.held[:, :, None], axis=1))


def _less_means(right: Floats, family: Family, targets: Targets) -> Floats:
    """Right sides of y less its mean over each member's training rows, from those of y and of 1."""
    return np.asarray(right[:, :, :-1] - right[:, :, -1:] * family.means[:, None, :]) if targets.centred else right
