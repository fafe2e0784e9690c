"""The candidates of one form, and the matrices of one base on which they are worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.smoothers.bases import Base, cut_trainings
from heldout.kernels.smoothers.families import Family, by_family, make_families
from heldout.kernels.smoothers.forms import Form
from heldout.kernels.smoothers.grams import Grams
from heldout.kernels.smoothers.routes import Cut, Found, by_block, by_factor, make_inverse, none_good
from heldout.kernels.smoothers.spectrum import Spectrum, Targets, decompose, weigh
from heldout.kernels.step import Work
from heldout.kernels.sums.data import matrix_of
from heldout.kernels.sums.rounding import Floats

Keep = Callable[[int, int, Found], None]  # what was found, for a candidate's column and a training's number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form."""

    form: Form
    kernel: Any
    candidates: tuple[int, ...]
    lambdas: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bench:
    """A base with its Gram matrices, its targets and its trainings. Threads may call every method."""

    work: Work
    base: Base
    grams: Grams
    targets: Mapping[bool, Targets]  # by whether models centre y
    cuts: Mapping[bool, Sequence[Cut]]
    families: Mapping[bool, Sequence[Family]]

    def gram(self, group: Group) -> tuple[Floats, float] | None:
        """The Gram matrix of a form, weights inside, and how large its entries' errors are; None if it has none."""
        try:
            K = self.grams.make(group.form, group.kernel)
        except Exception:  # whatever it is, brute force will meet it and name the cell
            return None
        if K.shape != (len(self.base.rows),) * 2 or not np.isfinite(K).all():
            return None
        noise = self.grams.noise(group.form, float(np.abs(K).max(initial=0.0)))
        return weigh(K, self.targets[group.form.centred], noise)

    def spectrum(self, group: Group) -> Spectrum | None:
        """The Gram matrix of a form, decomposed; None if that cannot be."""
        made = self.gram(group)
        return None if made is None else decompose(*made, self.targets[group.form.centred], group.lambdas)

    def all_trainings(self, group: Group, ready: Future[Spectrum | None], place: int, keep: Keep, first: int) -> None:
        """One penalty in every training, by blocks of its inverse."""
        spectrum = ready.result()
        targets, cuts = self.targets[group.form.centred], self.cuts[group.form.centred]
        if spectrum is None:
            for number, cut in enumerate(cuts):
                keep(first + place, number, none_good(cut, targets))
            return
        means = np.stack([cut.mean for cut in cuts])
        within = spectrum.coefficients_within(targets, means)[place]
        inverse = make_inverse(spectrum, targets, place, float(within))
        families = self.families[group.form.centred]
        for family in families:
            for number, found in by_family(inverse, family, cuts):
                keep(first + place, number, found)
        done = {number for family in families for number in family.numbers}
        for number, cut in enumerate(cuts):
            if number in done:
                continue
            if len(cut.out) > len(cut.train):
                found = by_factor(spectrum.K, cut, targets, float(group.lambdas[place]), spectrum.entry)
            else:
                found = by_block(inverse, cut)
            keep(first + place, number, found)

    def all_lambdas(
        self, group: Group, ready: Future[tuple[Floats, float] | None], number: int, keep: Keep, first: int
    ) -> None:
        """One training for every penalty, each by its own factor."""
        made = ready.result()
        targets, cut = self.targets[group.form.centred], self.cuts[group.form.centred][number]
        for place, lam in enumerate(group.lambdas.tolist()):
            found = none_good(cut, targets) if made is None else by_factor(made[0], cut, targets, lam, made[1])
            keep(first + place, number, found)


def make_bench(work: Work, base: Base, groups: Sequence[Group]) -> Bench:
    """A base with what all its forms share."""
    if "smoothers/matrix" not in work.products:
        work.products["smoothers/matrix"] = np.ascontiguousarray(matrix_of(work.task), dtype=np.float64)
    grams = Grams(work.products["smoothers/matrix"][base.rows])
    grams.prepare([group.form for group in groups])
    centred = {False} | {group.form.centred for group in groups}
    targets = {flag: _targets(work, base.rows, flag) for flag in centred}
    cuts: dict[bool, Sequence[Cut]] = {}
    if base.route != "diagonal":
        cuts = {flag: cut_trainings(work, base, own) for flag, own in targets.items()}
    families: dict[bool, Sequence[Family]] = dict.fromkeys(centred, ())
    if base.route == "blocks":
        names = [training.trains[0].splits for training in base.trainings]
        families = {flag: make_families(own, names, len(base.rows)) for flag, own in cuts.items()}
    return Bench(work=work, base=base, grams=grams, targets=targets, cuts=cuts, families=families)


def _targets(work: Work, rows: Rows, centred: bool) -> Targets:
    Y = work.task.y[rows].reshape(len(rows), -1).astype(np.float64)
    middle = Y.mean(axis=0) if centred else np.zeros(Y.shape[1])
    root = None if work.task.weight is None else np.sqrt(work.task.weight[rows])
    return Targets(Y=Y - middle, middle=middle, root=root, centred=centred)
