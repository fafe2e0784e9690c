"""Answers candidates inside one training set along their sharing tree: as brute force does, with each fit once.

Law: two transformers, or two estimators, that are fitted on equal inputs with equal parameters and seeds are equal, so
the steps that follow may start from either. Each consumer gets a copy of what it shares, since transformers may write
into their input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.brute import make_candidate, set_seeds, unseeded_names
from heldout.kernels.scoring import (
    ask_responses,
    catch_all_warnings,
    checked_response,
    failed_cell,
    failure_of,
    plain_warnings,
    score_cell,
)
from heldout.kernels.step import Held, Step, Training, Work, remember
from heldout.kernels.within.tree import Branch, Leaf, grow_branches
from heldout.losses import needed_methods
from heldout.study.answers import Answer, Failure, FitWarning


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Data:
    """Holds the training rows and each held-out set after some transformers."""

    train: Any
    held: tuple[Any, ...]
    warnings: tuple[FitWarning, ...] = ()
    seconds: float = 0.0

    def private(self) -> Data:
        return replace(self, train=_copied(self.train), held=tuple(_copied(one) for one in self.held))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """Holds one training of a step, with its rows, targets and weights."""

    work: Work
    training: Training
    rows: Rows
    y: Any
    fit_arguments: dict[str, Any]

    def fresh(self, estimator: Any, name: str) -> Any:
        """Return a clone to fit, with the seeds that it would have inside the whole candidate."""
        own = clone(estimator)
        if unseeded_names(own):
            set_seeds(own, self.work.search.seed, self.work.task.content_key(self.rows), prefix=name)
        return own


def answer_within(step: Step, work: Work) -> Iterator[Answer]:
    """Yield the answers of the step's candidates in each of its trainings."""
    each = ((candidate, make_candidate(work.search, candidate)) for candidate in step.candidates)
    # The tree does not depend on the training set, so it is built once.
    tree = remember(work.products, ("within", step.candidates), lambda: grow_branches(each))
    for training in step.trainings:
        (ref,) = training.trains
        rows = work.train_rows(ref)
        weight = {} if work.task.weight is None else {"sample_weight": work.task.weight[rows]}
        setting = Setting(work=work, training=training, rows=rows, y=work.task.y[rows], fit_arguments=weight)
        held = tuple(work.task.take(work.held_rows(one)) for one in training.answers)
        yield from _answer_branch(tree, Data(train=work.task.take(rows), held=held), setting)


def _answer_branch(branch: Branch, data: Data, setting: Setting) -> Iterator[Answer]:
    followers: list[Branch | Leaf] = [*branch.branches, *branch.leaves]
    for number, follower in enumerate(followers):
        own = data if number == len(followers) - 1 else data.private()
        if isinstance(follower, Leaf):
            yield from _answer_leaf(follower, own, setting)
            continue
        if follower.size is not None:
            yield from _answer_sizes(follower, own, setting)
            continue
        try:
            transformed = _transform(setting.fresh(follower.transformer, follower.name), own, setting)
        except _Failed as error:
            yield from _all_failed(follower.candidates, setting, error.failure, warnings=own.warnings)
            continue
        yield from _answer_branch(follower, transformed, setting)


def _answer_sizes(branch: Branch, data: Data, setting: Setting) -> Iterator[Answer]:
    """Fit the largest size once, and answer each size as if its transformer had been fitted alone."""
    size = branch.size
    assert size is not None
    started = perf_counter()
    try:
        with catch_all_warnings() as caught, _staged("fit"):
            largest = setting.fresh(branch.transformer, branch.name)
            fitted = size.fit(largest, _copied(data.train), setting.y.copy())
    except _Failed:  # the largest may fail where smaller ones do not: fit each alone, as brute force does
        yield from _answer_branch(replace(branch, transformer=None, size=None), data, setting)
        return
    shared = (perf_counter() - started) / len(branch.branches)
    for own in branch.branches:
        started = perf_counter()
        one = data.private()
        try:
            with _staged("fit"):
                twin, train = size.read(fitted, own.transformer, one.train)
                held = tuple(twin.transform(side) for side in one.held)
        except _Failed as error:
            yield from _all_failed(own.candidates, setting, error.failure, warnings=data.warnings)
            continue
        sized = Data(
            train=train,
            held=held,
            warnings=(*data.warnings, *plain_warnings(caught)),
            seconds=data.seconds + shared + perf_counter() - started,
        )
        yield from _answer_branch(replace(own, transformer=None), sized, setting)


def _transform(transformer: Any, data: Data, setting: Setting) -> Data:
    """Fit a transformer as a Pipeline does, and transform the training rows and each held-out set."""
    started = perf_counter()
    with catch_all_warnings() as caught, _staged("fit"):
        if hasattr(transformer, "fit_transform"):
            train = transformer.fit_transform(data.train, setting.y.copy())
        else:
            train = transformer.fit(data.train, setting.y.copy()).transform(data.train)
        held = tuple(transformer.transform(one) for one in data.held)
    return Data(
        train=train,
        held=held,
        warnings=(*data.warnings, *plain_warnings(caught)),
        seconds=data.seconds + perf_counter() - started,
    )


def _answer_leaf(leaf: Leaf, data: Data, setting: Setting) -> Iterator[Answer]:
    if leaf.path is None:
        yield from _answer_fitted(leaf, data, setting)
        return
    try:
        # A path that fails leaves the rows as they are, for its values to be fitted one by one.
        answers = list(_answer_fitted(leaf, data.private(), setting))
    except _Failed:
        for member in leaf.members:  # each alone, as brute force would, so that each keeps its own failure
            yield from _answer_fitted(replace(leaf, path=None, members=(member,)), data.private(), setting)
        return
    yield from answers


def _answer_fitted(leaf: Leaf, data: Data, setting: Setting) -> Iterator[Answer]:
    """Fit what the leaf's members share and answer them all; a path raises a failure, a single fit records it."""
    started = perf_counter()
    first = setting.fresh(leaf.members[0][1], leaf.name)
    try:
        with catch_all_warnings() as caught, _staged("fit"):
            unfitted = first if leaf.path is None else leaf.path.start(first, leaf.values)
            fitted = unfitted.fit(data.train, setting.y.copy(), **setting.fit_arguments)
    except _Failed as error:
        if leaf.path is not None:
            raise
        yield from _all_failed(leaf.candidates, setting, error.failure, warnings=data.warnings)
        return
    # A path's one fit is shared by its values, so that seconds add up to what was spent.
    seconds = data.seconds + (perf_counter() - started) / len(leaf.members)
    found = (*data.warnings, *plain_warnings(caught))
    for X, held in zip(data.held, setting.training.answers, strict=True):
        try:
            yield from _answer_held(leaf, fitted, X, held, setting=setting, found=found, fit_seconds=seconds)
        except _Failed as error:
            if leaf.path is not None:
                raise
            for candidate in leaf.candidates:
                yield failed_cell(setting.work, held, candidate, error.failure, warnings=found, fit_seconds=seconds)


def _answer_held(
    leaf: Leaf, fitted: Any, X: Any, held: Held, *, setting: Setting, found: tuple[FitWarning, ...], fit_seconds: float
) -> Iterator[Answer]:
    work = setting.work
    methods = needed_methods(work.losses[held.level])
    rows = work.held_rows(held)
    started = perf_counter()
    with catch_all_warnings() as caught, _staged("predict"):
        answers = list(_responses(leaf, fitted, X, methods, len(rows)))
    seconds = (perf_counter() - started) / len(leaf.members)
    found = (*found, *plain_warnings(caught))
    for candidate, responses in zip(leaf.candidates, answers, strict=True):
        with catch_all_warnings() as caught:
            answer = score_cell(work, held, candidate, responses, fit_seconds=fit_seconds)
        yield replace(answer, score_seconds=seconds).warned((*found, *plain_warnings(caught)))


def _responses(leaf: Leaf, fitted: Any, X: Any, methods: Sequence[tuple[str, ...]], n: int) -> Iterator[Responses]:
    if leaf.path is None:
        answer = ask_responses(fitted, X, methods, np.arange(n))
        yield from (answer for _ in leaf.members)
        return
    for responses in leaf.path.responses(fitted, leaf.values, X, methods):
        for method in ("predict", "predict_proba", "decision_function"):
            if getattr(responses, method) is not None:
                checked_response(getattr(responses, method), method, n)
        yield responses


def _all_failed(
    candidates: Sequence[int], setting: Setting, failure: Failure, *, warnings: tuple[FitWarning, ...]
) -> Iterator[Answer]:
    for candidate in candidates:
        for held in setting.training.answers:
            yield failed_cell(setting.work, held, candidate, failure, warnings=warnings)


class _Failed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@contextmanager
def _staged(stage: str) -> Iterator[None]:
    try:
        yield
    except (Exception, SystemExit) as error:
        raise _Failed(failure_of(error, stage)) from error


def _copied(X: Any) -> Any:
    """Return a copy with the same memory layout, so that sums over it have the same last bits."""
    if isinstance(X, np.ndarray):
        return _copied_array(X)
    if hasattr(X, "copy"):
        return X.copy()
    return X.clone() if hasattr(X, "clone") else X


def _copied_array(X: Any) -> Any:
    base = X.base
    whole = isinstance(base, np.ndarray) and (base.flags.c_contiguous or base.flags.f_contiguous)
    if X.flags.c_contiguous or X.flags.f_contiguous or not whole:
        return X.copy(order="K")
    # Some columns of a wider array: keep them as far apart in memory as they are.
    wider = base.copy(order="K").ravel(order="K")
    offset = X.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(X.shape, X.dtype, buffer=wider, offset=offset, strides=X.strides)
