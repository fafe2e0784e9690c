"""The kernel `bayes`: naive Bayes from sums over the rows of each class, for all smoothing values at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.counts import CountScores, count_respond, count_scores
from heldout.kernels.bayes.forms import MODELS, Form, read_form, read_smoothing
from heldout.kernels.bayes.gaussian import GaussianScores, gaussian_respond, gaussian_scores
from heldout.kernels.driver.contract import Group, Kernel, Needs, Numbers
from heldout.kernels.driver.driver import Driver
from heldout.kernels.step import remember
from heldout.kernels.sums.dataset import Layout
from heldout.kernels.sums.rounding import Bools, Undecided
from heldout.kernels.sums.training_sums import Sums
from heldout.task.task import Task


class BayesKernel(Kernel):
    """GaussianNB (alone or behind StandardScaler), MultinomialNB, ComplementNB and BernoulliNB. Tier: rounding."""

    name = "bayes"
    models = MODELS
    words = "GaussianNB, MultinomialNB, ComplementNB or BernoulliNB"
    response_methods = ("predict", "predict_proba")

    def read(self, model: Any, task: Task) -> Form:
        return read_form(model, task)

    def value(self, form: Form, *raw: Any) -> float:
        return read_smoothing(form, *raw)

    def needs(self, form: Form) -> Needs:
        if form.gaussian:
            return Needs(classes=True, float32=False)
        return Needs(classes=True, columns=False, matrix=form.counts)

    def layout(self, form: Form) -> Layout:
        if form.gaussian:
            return Layout(kind="squares", by_class=True)
        return Layout(kind="totals", by_class=True, matrix=form.counts)

    def bytes_of_value(self, group: Group) -> int:
        return 8 * 6 * group.data.width * group.data.class_count

    def empty(self, group: Group, rows: int) -> Numbers:
        codes = np.zeros((rows, len(group.values)), dtype=np.intp)
        return (codes, _no_shares(group, rows)) if "predict_proba" in group.all_methods else (codes,)

    def learn(self, group: Group, sums: Sums, rows: Rows | None) -> GaussianScores | CountScores:
        if not sums.counts.all():
            raise Undecided
        if group.form.gaussian:
            return gaussian_scores(group, sums, own_means=rows is not None)
        return count_scores(group, sums, own_rows=rows is not None)

    def respond(
        self, group: Group, learned: GaussianScores | CountScores, rows: Rows, methods: frozenset[str]
    ) -> tuple[Numbers, Bools]:
        proba = "predict_proba" in methods
        if isinstance(learned, GaussianScores):
            codes, shares, certain = gaussian_respond(group, learned, rows, proba=proba)
        else:
            codes, shares, certain = count_respond(group, learned, rows, proba=proba)
        if "predict_proba" not in group.all_methods:
            return (codes,), certain
        return (codes, _no_shares(group, len(rows)) if shares is None else shares), certain

    def responses(self, group: Group, numbers: Numbers, methods: frozenset[str]) -> list[Responses]:
        task = group.work.task
        classes = remember(task.memo, "labels of naive Bayes", lambda: _labels(task))
        labels, proba = classes[numbers[0]], "predict_proba" in methods
        return [
            Responses(
                predict=np.ascontiguousarray(labels[:, place]),
                predict_proba=np.ascontiguousarray(numbers[1][:, place]) if proba else None,
                classes=classes,
            )
            for place in range(labels.shape[1])
        ]

    def leave_one_out_fits(self, task: Task, rows: int) -> int | None:
        return 0


def _no_shares(group: Group, rows: int) -> NDArray[np.float64]:
    """Return zeros in place of probabilities that no loss asks for."""
    return np.zeros((rows, len(group.values), group.data.class_count))


def _labels(task: Task) -> NDArray[Any]:
    """Return the classes in the dtype that scikit-learn's naive Bayes gives them."""
    assert task.classes is not None, "the driver has looked for classes"
    columns = np.arange(float(len(task.classes)))[:, None]
    return np.asarray(GaussianNB(var_smoothing=1.0).fit(columns, task.classes).classes_)


KERNEL = Driver(BayesKernel())
