"""The kernel `bayes`: Gaussian, multinomial, complement and Bernoulli naive Bayes from sums over classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.kernels.bayes.answer import answer
from heldout.kernels.bayes.recognise import claim, refuse_training, takes_all
from heldout.kernels.claims import Claims
from heldout.kernels.step import Step, Training, Work
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


class BayesKernel:
    """GaussianNB, alone or behind StandardScaler, MultinomialNB, ComplementNB and BernoulliNB. Tier: rounding.

    Law: all that these learn of a training set are sums over the rows of each class, and those of a training set are
    those of all rows less those of the rows left out. One pass over blocks serves every smoothing.
    It must refuse training sets that lack a class; cells in which rounding may decide a label are brute force's.
    """

    name = "bayes"
    tier = "rounding"

    def claim(self, search: Search, task: Task) -> Claims:
        return claim(search, task)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        return refuse_training(task, training, splits)

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        return takes_all(task, parts, splits)

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        return 0

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        return answer(step, work)


KERNEL = BayesKernel()
