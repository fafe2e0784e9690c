"""From nearest rows to responses, in scikit-learn's own order of operations, for all k at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.kernels.neighbours.arithmetic import Arithmetic, Near, doubtful, ties
from heldout.kernels.neighbours.members import Member
from heldout.kernels.sums.rounding import Bools, Floats
from heldout.task.task import Task

VOTES_TIE = 1e-10  # relative: where weighted votes are nearer than this, scikit-learn itself answers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """y as neighbours use it: class codes or numbers, with one column for each output."""

    y: NDArray[Any]  # n × outputs
    flat: bool  # y had one value a row
    classes: tuple[NDArray[Any], ...] | None  # of each output; None for numbers
    exact: bool  # its sums are exact in any order

    @property
    def one_class_output(self) -> bool:
        return self.classes is not None and self.flat


def target_of(task: Task, *, classifier: bool) -> Target:
    """Return the target of a task, as codes for a classifier."""
    flat = task.y.ndim == 1
    columns = task.y.reshape(len(task), -1)
    if not classifier:
        return Target(y=columns, flat=flat, classes=None, exact=_sums_exactly(columns))
    found = [np.unique(columns[:, j], return_inverse=True) for j in range(columns.shape[1])]
    codes = np.stack([code.reshape(-1).astype(np.int32) for _, code in found], axis=1)
    return Target(y=codes, flat=flat, classes=tuple(classes for classes, _ in found), exact=True)


def _sums_exactly(y: NDArray[Any]) -> bool:
    if y.dtype.kind == "b":
        return True
    whole = y.dtype.kind in "iu" or bool((y == np.rint(y)).all())
    digits = 24 if y.dtype == np.float32 else 53
    return whole and float(np.abs(y.astype(np.float64)).sum()) < 2.0**digits


class Answers:
    """Holds the responses of several candidates on the rows of a run, filled part by part."""

    def __init__(self, members: Sequence[Member], target: Target, rows: int, *, proba: bool) -> None:
        self.members = members
        self.target = target
        shape = (len(members), rows)
        outputs = target.y.shape[1]
        self.codes: NDArray[np.int32] | None = None
        self.proba: Floats | None = None
        self.values: list[NDArray[Any]] = []
        if target.classes is None:
            mean = np.mean(target.y[:1], axis=0).dtype
            self.values = [
                np.empty((rows, outputs), dtype=np.float64 if member.weights == "distance" else mean)
                for member in members
            ]
        else:
            self.codes = np.empty((*shape, outputs), dtype=np.int32)
            if proba:
                self.proba = np.empty((*shape, len(target.classes[0])))

    @staticmethod
    def row_bytes(target: Target, members: int, *, proba: bool) -> int:
        """Return the bytes that one row takes here and in scoring."""
        classes = len(target.classes[0]) if proba and target.classes is not None else 0
        return int(members * (40 * target.y.shape[1] + 8 * classes))

    def put(self, number: int, rows: Any, fitted: Any, X: Any) -> None:
        """Store a fitted learner's own predictions on some rows."""
        predicted = fitted.predict(X)
        predicted = predicted.reshape(predicted.shape[0], -1)
        if self.target.classes is None:
            self.values[number][rows] = predicted
            return
        assert self.codes is not None
        for j, classes in enumerate(self.target.classes):
            self.codes[number, rows, j] = np.searchsorted(classes, predicted[:, j])
        if self.proba is not None:
            self.proba[number, rows] = fitted.predict_proba(X)

    def responses(self, number: int) -> Responses:
        """Return the responses of one candidate on all rows."""
        if self.target.classes is None:
            values = self.values[number]
            return Responses(predict=values.ravel() if self.target.flat else values)
        assert self.codes is not None
        codes = self.codes[number]
        if self.target.flat:
            classes = self.target.classes[0]
            proba = None if self.proba is None else self.proba[number]
            return Responses(predict=classes[codes[:, 0]], predict_proba=proba, classes=classes)
        predict = np.empty(codes.shape, dtype=self.target.classes[0].dtype)
        for j, classes in enumerate(self.target.classes):
            predict[:, j] = classes[codes[:, j]]
        return Responses(predict=predict, classes=list(self.target.classes))  # type: ignore[arg-type]


def fill(answers: Answers, which: Sequence[int], near: Near, cut: slice, arithmetic: Arithmetic) -> Bools:
    """Answer some members, all with the same weights=, on some rows. Return which are in doubt: members × rows."""
    ks = np.array([answers.members[number].k for number in which], dtype=np.intp)
    weights = None
    if answers.members[which[0]].weights == "distance":
        weights = inverse_distances(near.far[:, : ks.max()])
    values = answers.target.y[near.rows]  # rows × neighbours × outputs
    last_bits = answers.target.classes is None or answers.proba is not None  # labels alone do not depend on them
    tied = ties(near, arithmetic)
    alike = (values[:, 1:] == values[:, :-1]).all(axis=2)
    if weights is not None and last_bits:
        alike &= near.far[:, 1:] == near.far[:, :-1]
    order = last_bits and (weights is not None or not answers.target.exact)
    doubt, loose = doubtful(tied, alike, ks, order=order)
    if answers.target.classes is None:
        _fill_means(answers, which, ks, values, weights, cut=cut)
        return doubt.T
    if weights is None:
        count = _fill_votes(answers, which, ks, values, cut)
        return (doubt if last_bits else doubt & (count <= 2 * loose)).T
    lead = _fill_weighted_votes(answers, which, ks, values, weights, cut=cut)
    close = lead <= VOTES_TIE * np.add.accumulate(weights, axis=1)[:, ks - 1]
    swing = (2 + VOTES_TIE) * loose * weights[:, ks - 1]
    return (close | (doubt if last_bits else doubt & (lead <= swing))).T


def inverse_distances(distances: Floats) -> Floats:
    """Return weights="distance" as scikit-learn does. If a distance is 0, such neighbours weigh 1 and all others 0."""
    with np.errstate(divide="ignore"):
        weights = 1.0 / distances
    endless = np.isinf(weights)
    lines = endless.any(axis=1)
    weights[lines] = endless[lines]
    return weights


def _fill_means(answers: Answers, which: Any, ks: Any, values: NDArray[Any], weights: Any, *, cut: slice) -> None:
    for number, k in zip(which, ks, strict=True):
        first = np.ascontiguousarray(values[:, :k])
        if weights is None:
            answers.values[number][cut] = np.mean(first, axis=1)
            continue
        weight = np.ascontiguousarray(weights[:, :k])
        total = np.sum(weight, axis=1)
        for j in range(values.shape[2]):
            answers.values[number][cut, j] = np.sum(first[:, :, j] * weight, axis=1) / total


def _fill_votes(answers: Answers, which: Any, ks: Any, values: NDArray[np.int32], cut: slice) -> NDArray[Any]:
    """Count votes. Return by how many the winner leads, the least over outputs: rows × values of k."""
    assert answers.target.classes is not None
    assert answers.codes is not None
    kind: Any = np.int16 if ks.max() < 2**14 else np.int32
    least = np.full((len(values), len(ks)), np.iinfo(kind).max, dtype=kind)
    every = np.array_equal(ks, np.arange(1, len(ks) + 1))
    for j, classes in enumerate(answers.target.classes):
        codes = values[:, : ks.max(), j]
        most, second, winner = (np.zeros(least.shape, dtype=kind) for _ in range(3))
        left = np.broadcast_to(ks.astype(kind), least.shape)  # votes not counted yet; in the end the last class's
        for code in range(len(classes)):
            votes = left
            if code < len(classes) - 1:
                votes = np.cumsum(codes == code, axis=1, dtype=kind)
                votes = votes if every else votes[:, ks - 1]
                left = left - votes
            if answers.proba is not None:
                answers.proba[which, cut, code] = (votes / ks).T
            np.copyto(winner, code, where=votes > most)  # a tie goes to the class that comes first
            np.maximum(second, np.minimum(most, votes), out=second)
            np.maximum(most, votes, out=most)
        answers.codes[which, cut, j] = winner.T
        np.minimum(least, most - second, out=least)
    return least


def _fill_weighted_votes(
    answers: Answers, which: Any, ks: Any, values: NDArray[np.int32], weights: Floats, *, cut: slice
) -> Floats:
    """Add up weighted votes. Return the winner's lead, the least over outputs: rows × values of k.

    Sums run along the neighbours one after the other, as in scikit-learn's predict_proba.
    """
    assert answers.target.classes is not None
    assert answers.codes is not None
    least = np.full((len(values), len(ks)), np.inf)
    for j, classes in enumerate(answers.target.classes):
        codes = values[:, : ks.max(), j]
        votes = np.empty((len(ks), len(values), len(classes)))
        for code in range(len(classes)):
            sums = np.add.accumulate(np.where(codes == code, weights, 0.0), axis=1)
            votes[:, :, code] = sums[:, ks - 1].T
        answers.codes[which, cut, j] = votes.argmax(axis=2)
        if len(classes) > 1:
            best = np.partition(votes, len(classes) - 2, axis=2)[:, :, -2:]
            np.minimum(least, (best[:, :, 1] - best[:, :, 0]).T, out=least)
        if answers.proba is not None:
            for number, one in zip(which, votes, strict=True):
                answers.proba[number, cut] = one / one.sum(axis=1)[:, np.newaxis]
    return least
