"""Recognises the learners that are answered from statistics, and groups their candidates into families."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from heldout.base.errors import LearnerError
from heldout.kernels.brute import make_candidate
from heldout.kernels.claims import chain_of
from heldout.kernels.designs.columns import Columns
from heldout.kernels.driver.claim import Reader
from heldout.kernels.ridge.kernel import KERNEL, Form
from heldout.kernels.statistics.classes import BayesFamily, DiscriminantFamily, check_discriminant
from heldout.kernels.statistics.family import Family
from heldout.kernels.statistics.linear import LinearFamily
from heldout.kernels.statistics.moments import Chain
from heldout.kernels.sums.rounding import Refuse
from heldout.search.search import Search
from heldout.task.task import Task

LEARNERS = "Ridge, LinearRegression, RidgeClassifier, LinearDiscriminantAnalysis and GaussianNB"


def families_of(search: Search, task: Task) -> tuple[Family, ...]:
    """Return a search's candidates by family. Raise LearnerError for the first that statistics cannot answer."""
    reader = Reader(KERNEL.kernel, search, task)
    linear: dict[tuple[Form, Columns], dict[int, tuple[float, Chain]]] = {}
    bayes: dict[int, Chain] = {}
    discriminants: dict[int, Chain] = {}
    for candidate in range(len(search)):
        estimator = make_candidate(search, candidate)
        try:
            chain = Chain.of(estimator)
            if type(chain.model) is GaussianNB:
                bayes[candidate] = chain
            elif type(chain.model) is LinearDiscriminantAnalysis:
                check_discriminant(chain.model)
                discriminants[candidate] = chain
            else:
                form, alpha = reader.read_one(candidate)
                linear.setdefault(form, {})[candidate] = (alpha, chain)
        except Refuse as reason:
            raise _refusal(search, candidate, estimator, str(reason)) from None
    found: list[Family] = [_linear(form, members, task) for form, members in linear.items()]
    if bayes:
        found.append(BayesFamily(candidates=tuple(bayes), chains=tuple(bayes.values())))
    if discriminants:
        chains = tuple(discriminants.values())
        found.append(DiscriminantFamily(candidates=tuple(discriminants), chains=chains))
    return tuple(found)


def _linear(own: tuple[Form, Columns], members: dict[int, tuple[float, Chain]], task: Task) -> LinearFamily:
    form, columns = own
    return LinearFamily(
        candidates=tuple(members),
        alphas=np.array([alpha for alpha, _ in members.values()]),
        form=form,
        columns=columns,
        chains=tuple(chain for _, chain in members.values()),
        task=task,
        dtype=KERNEL.kernel.dtype(form, columns, task),
    )


def _refusal(search: Search, candidate: int, estimator: Any, reason: str) -> LearnerError:
    last = type(chain_of(estimator)[-1][1]).__name__
    return LearnerError(
        f"{last} ({search.describe(candidate)}) needs random access to rows, and a stream gives none: {reason}. "
        f"A stream is studied with {LEARNERS}, alone or behind StandardScaler; for other learners load the data."
    )
