"""The candidates of one form, and all that answers them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.bayes import discrete, gaussian
from heldout.kernels.bayes.bank import Bank
from heldout.kernels.bayes.data import Data, make_data
from heldout.kernels.bayes.forms import Form
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import LostDigits
from heldout.kernels.step import Training, Work
from heldout.kernels.threads import Spread
from heldout.kernels.trainings import Held

SHARE = 8  # of the budget: what the tables of one training set may take, since several are at work


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """What candidates answer on one held-out side."""

    training: Training  # with this one side
    held: Held
    codes: NDArray[np.intp]  # rows × candidates: places of classes
    proba: Floats | None  # rows × candidates × classes
    good: NDArray[np.bool_]  # candidates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form, and all that answers them."""

    form: Form
    candidates: tuple[int, ...]
    values: Floats  # smoothing of each
    data: Data
    bank: Bank
    work: Work
    spread: Spread
    proba: frozenset[str]  # levels whose losses need probabilities


def make_group(form: Form, members: dict[int, float], proba: frozenset[str], work: Work, spread: Spread) -> Group:
    """A group with its products: those of an earlier step where they are kept."""
    key = ("bayes", form.reading)
    if key not in work.products:
        work.products[key] = make_data(work.task, form)
    data = work.products[key]
    return Group(
        form=form,
        candidates=tuple(members),
        values=np.array(list(members.values())),
        data=data,
        bank=Bank(work, data, key, spread),
        work=work,
        spread=spread,
        proba=proba,
    )


def answer_training(job: tuple[Group, Training]) -> list[Side]:
    """What every candidate answers on every held-out side of a training."""
    group, training = job
    size = 8 * 6 * max(1, group.data.columns) * len(group.data.classes)
    at_a_time = max(1, group.work.budget // SHARE // size)
    if at_a_time >= len(group.values):
        return _answer_some(group, training)
    cuts = range(0, len(group.values), at_a_time)
    several = [_answer_some(replace(group, values=group.values[i : i + at_a_time]), training) for i in cuts]
    return [_side_by_side(sides) for sides in zip(*several, strict=True)]


def _side_by_side(sides: tuple[Side, ...]) -> Side:
    probas = [side.proba for side in sides if side.proba is not None]
    return replace(
        sides[0],
        codes=np.concatenate([side.codes for side in sides], axis=1),
        proba=np.concatenate(probas, axis=1) if probas else None,
        good=np.concatenate([side.good for side in sides]),
    )


def _answer_some(group: Group, training: Training) -> list[Side]:
    sides: dict[bool, gaussian.Scores | discrete.Logs | None] = {}
    found = []
    for held in training.answers:
        rows = group.work.held_rows(held)
        proba = held.level in group.proba
        if proba not in sides:
            sides[proba] = _learn(group, training, proba=proba)
        learned = sides[proba]
        if learned is None:
            shape = (len(rows), len(group.values))
            codes, good = np.zeros(shape, dtype=np.intp), np.zeros(shape[1], dtype=bool)
            numbers = np.zeros((*shape, len(group.data.classes))) if proba else None
        elif isinstance(learned, gaussian.Scores):
            codes, numbers, good = gaussian.respond(learned, group.data, rows, proba=proba)
        else:
            codes, numbers, good = discrete.respond(learned, group.data, rows, proba=proba)
        alone = training._replace(answers=(held,))
        found.append(Side(training=alone, held=held, codes=codes, proba=numbers, good=good))
    return found


def _learn(group: Group, training: Training, *, proba: bool) -> gaussian.Scores | discrete.Logs | None:
    """The scores of one training set, or None where only scikit-learn's own fit will do."""
    ref = training.trains[0]
    if not group.form.gaussian:
        exact = group.data.exact
        sums = group.bank.sums_of(ref)
        if discrete.has_lost_digits(sums, group.values, exact=exact):
            sums = group.bank.sums_apart(ref)
        return discrete.logs_of(group.form, group.values, sums, exact=exact, proba=proba)
    for apart in (False, True):
        sums = group.bank.sums_apart(ref) if apart else group.bank.sums_of(ref)
        try:
            moments = gaussian.moments_of(group.form, sums, apart=apart)
        except LostDigits:
            continue
        scores = gaussian.scores_of(group.form, group.values, moments, group.data, proba=proba)
        if apart or (scores.good.all() and (scores.error <= gaussian.LOST).all()):
            return scores
    return None
