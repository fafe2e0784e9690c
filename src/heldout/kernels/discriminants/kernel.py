"""The kernel `discriminants`: LDA and QDA, with all shrinkages from one eigendecomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from heldout.base.responses import METHODS, Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.discriminants.classes import classes_of
from heldout.kernels.discriminants.forms import MODELS, Form, read_form, read_shrinkage
from heldout.kernels.discriminants.leave_one_out import applies, leave_one_out
from heldout.kernels.discriminants.linear import Linear, solve_linear
from heldout.kernels.discriminants.quadratic import Quadratic, solve_quadratic
from heldout.kernels.driver.contract import Group, Kernel, Needs, Numbers
from heldout.kernels.driver.driver import Driver
from heldout.kernels.sums.dataset import Layout, labels_of, read_chunks
from heldout.kernels.sums.rounding import Bools, Floats, Undecided, certain_classes
from heldout.kernels.sums.training_sums import Sums
from heldout.task.task import Task

LARGEST_SUMS = 1 << 28  # bytes that the sums of products of all classes may take for one set of rows


class DiscriminantKernel(Kernel):
    """LinearDiscriminantAnalysis and QuadraticDiscriminantAnalysis, alone or behind StandardScaler. Tier: rounding."""

    name = "discriminants"
    models = MODELS
    words = "LinearDiscriminantAnalysis or QuadraticDiscriminantAnalysis"
    response_methods = METHODS
    leaves_rows_out = True

    def read(self, model: Any, task: Task) -> Form:
        return read_form(model, task)

    def value(self, form: Form, *raw: Any) -> float:
        return read_shrinkage(form, *raw)

    def needs(self, form: Form) -> Needs:
        return Needs(classes=True, weights=False, float32=False, largest=LARGEST_SUMS)

    def layout(self, form: Form) -> Layout:
        return Layout(by_class=True)

    def empty(self, group: Group, rows: int) -> Numbers:
        return (np.zeros((rows, len(group.values), _scores_of_row(group))),)

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> Linear | Quadratic:
        if not sums.counts.all():
            raise Undecided
        classes = classes_of(group.form, group.columns, sums)
        if group.form.quadratic:
            return solve_quadratic(group.form, classes, group.values)
        if classes.rows <= len(classes.counts):
            raise Undecided
        return solve_linear(group.form, classes, group.values, zero_matters=_zero_matters(group))

    def respond(
        self, group: Group, learned: Linear | Quadratic, rows: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        if isinstance(learned, Quadratic):
            return _respond_quadratic(group, learned, rows, methods)
        return _respond_linear(group, learned, rows, methods)

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        labels = labels_of(group.work.task)
        if group.form.quadratic:  # QDA keeps the dtype of text labels
            assert group.work.task.classes is not None, "the driver has looked for classes"
            labels = group.work.task.classes
        return [_responses(labels, numbers[0][:, place, :], methods) for place in range(numbers[0].shape[1])]

    def can_leave_one_out(self, group: Group, rows: int) -> bool:
        return applies(group, rows)

    def leave_one_out(
        self, group: Group, total: Sums, rows: Rows | None, held: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        if not total.counts.all():
            raise Undecided
        classes = classes_of(group.form, group.columns, total)
        scores, errors = leave_one_out(group, classes, held, zero_matters=_zero_matters(group))
        return (scores,), _reliable(group, scores, errors, methods, by_row=True)

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        classes = 0 if task.classes is None else len(task.classes)
        return 0 if rows > (task.n_columns or 1) + classes + 1 else None


def _zero_matters(group: Group) -> bool:
    """Return whether LDA decision values of more than two classes are asked for: their zero depends on the centring."""
    wanted = "decision_function" in group.all_methods and group.data.class_count > 2
    return wanted and not group.form.quadratic


def _scores_of_row(group: Group) -> int:
    """Return how many scores each row and candidate has. LDA with two classes has only the difference."""
    classes = group.data.class_count
    if group.form.quadratic:
        return classes
    return 1 if classes == 2 else classes + _zero_matters(group)


def _respond_linear(group: Group, learned: Linear, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
    data = group.data
    columns, count, numbers = learned.coef.shape
    flat = np.ascontiguousarray(learned.coef.reshape(columns, -1))
    scores = np.empty((len(rows), count * numbers))
    largest = np.zeros(columns)
    for where, x in read_chunks(data, rows, learned.shift):
        np.matmul(x, flat, out=scores[where])
        largest = np.maximum(largest, np.maximum(x.max(axis=0), -x.min(axis=0)))
    scores += learned.constant.reshape(-1)
    shaped = scores.reshape(len(rows), count, numbers)
    reliable = _reliable(group, shaped, learned.errors(largest), methods, by_row=False)
    if not reliable.all():  # a closer estimate takes another pass
        errors = np.zeros(count)
        for _, x in read_chunks(data, rows, learned.shift):
            errors = np.maximum(errors, learned.errors(largest, x))
        reliable = _reliable(group, shaped, errors, methods, by_row=False)
    return (shaped,), reliable


def _respond_quadratic(group: Group, learned: Quadratic, rows: Rows, methods: frozenset[str]) -> tuple[Numbers, Bools]:
    scores = np.empty((len(rows), len(group.values), group.data.class_count))
    errors = np.zeros(len(group.values))
    for where, x in read_chunks(group.data, rows, learned.shift, max(32, group.data.chunk // 4)):
        scores[where], possible = learned.scores(x)
        errors = np.maximum(errors, possible)
    return (scores,), _reliable(group, scores, errors, methods, by_row=False)


def _reliable(group: Group, scores: Floats, errors: Floats, methods: frozenset[str], *, by_row: bool) -> Bools:
    classes = group.data.class_count
    decisions = _decisions(scores, classes)
    return certain_classes(scores[:, :, :classes], errors, classes, methods, decisions, by_row=by_row)


def _decisions(scores: Floats, classes: int) -> Floats:
    """Return decision values: rows × candidates × numbers."""
    if classes == 2 and scores.shape[2] == 2:
        return np.asarray(scores[:, :, 1:] - scores[:, :, :1])
    return scores[:, :, :classes] + scores[:, :, classes:] if scores.shape[2] > classes else scores


def _responses(labels: Any, scores: Floats, methods: frozenset[str]) -> Responses:
    """Return the responses of one candidate, from its scores (rows × numbers)."""
    of_classes = scores[:, : len(labels)]
    codes = (of_classes[:, 0] > 0).astype(np.intp) if of_classes.shape[1] == 1 else of_classes.argmax(axis=1)
    decision = proba = None
    if "decision_function" in methods:
        values = _decisions(scores[:, None, :], len(labels))[:, 0, :]
        decision = np.ascontiguousarray(values[:, 0] if len(labels) == 2 else values)
    if "predict_proba" in methods:
        if of_classes.shape[1] == 1:
            second = expit(of_classes[:, 0])
            proba = np.stack([1 - second, second], axis=1)
        else:
            proba = np.exp(of_classes - of_classes.max(axis=1, keepdims=True))
            proba /= proba.sum(axis=1, keepdims=True)
    return Responses(predict=labels[codes], predict_proba=proba, decision_function=decision, classes=labels)


KERNEL = Driver(DiscriminantKernel())
