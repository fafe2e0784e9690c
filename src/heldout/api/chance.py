"""`chance`: tests by shuffling the target whether a learner does better than chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.call_text import with_our_words
from heldout.api.comparable import refuse_coarse_answers
from heldout.api.evaluate import run_question
from heldout.api.question import prepare, refuse_stream
from heldout.api.result import Result
from heldout.base.errors import FitFailed, OptionError, RoleError
from heldout.base.options import Options
from heldout.base.rowkeys import Rows, derive
from heldout.base.shown import Shown, plain
from heldout.data.stream import target_of
from heldout.engine.progress import open_progress
from heldout.engine.run import Running, run_study
from heldout.results.study_record import Question, Request
from heldout.results.test_losses import read_test_losses
from heldout.risk.comparison.pairs import permutation_p
from heldout.risk.estimate_risk import record_value
from heldout.study.study import Everywhere
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChanceTest(Shown):
    """Says whether a learner beats chance. Made by :func:`heldout.chance`.

    Attributes
    ----------
    result : Result
        The learner on the target as it is.
    shuffled : array
        The same number on each shuffled target, NaN where a fit failed.
    p : float or None
        (1 + #)/(B + 1): # of B shuffled targets gave a number as good. None where the learner itself failed.
    exchanged : str
        What was shuffled.
    level : float
        The learner is said to beat chance where p is at most 1 − level.
    """

    _shown_as = "chance"

    result: Result
    shuffled: NDArray[np.float64]
    p: float | None
    exchanged: str
    level: float

    @property
    def beats_chance(self) -> bool:
        return self.p is not None and self.p <= (1 - self.level) * (1 + 1e-9)

    @property
    def sentence(self) -> str:
        risk = self.result.risk
        if self.p is None:
            return f"Nothing is known of chance. {risk.reason}"
        luck = self.shuffled[np.isfinite(self.shuffled)]
        by_luck = f"; with the target shuffled {np.mean(luck):.3g} on average" if len(luck) else ""
        numbers = f"(p = {self.p:.3g}): {risk.loss} {risk.value:.3g}, the {risk.estimand}{by_luck}"
        if self.beats_chance:
            return f"The learner does better than chance {numbers}."
        return f"It is not shown that the learner does better than chance {numbers}."

    def summary(self) -> dict[str, Any]:
        """Return the test as plain values that JSON can hold."""
        return {
            "sentence": self.sentence,
            "p": self.p,
            "level": self.level,
            "permutations": len(self.shuffled),
            "failed": int(np.isnan(self.shuffled).sum()),
            "exchanged": self.exchanged,
            "risk": plain(self.result.risk.as_dict()),
            "shuffled": plain(self.shuffled),
            "about": plain(self.result.record_so_far.about),
        }


@with_our_words
def chance(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    target: Any = None,
    permutations: int = 200,
    test: Any = None,
    groups: Any = None,
    strata: Any = None,
    loss: Any = None,
    positive: Any = None,
    level: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    backend: Any = None,
    progress: bool | str = "auto",
    options: Options | None = None,
) -> ChanceTest:
    """Evaluate a learner on the target as it is, and on shuffled ones, in which there is nothing to learn.

    Rows are shuffled among those that could as well have had each other's target: within strata where strata are
    declared; with groups, whole groups that have one target each exchange it, and otherwise groups of about the same
    size exchange their targets, in random order. What is then learned is chance, whatever groups have in common.
    Time and weights are not taken: rows in order of time are not exchangeable, and a weight may belong to the
    features or to the target.

    Parameters
    ----------
    learner, X, y, test, groups, strata, loss, positive, seed, jobs, backend, progress, options
        As in :func:`heldout.evaluate`. Splits are drawn anew for each shuffled target.
    permutations : int
        How many shuffled targets. The smallest p possible is 1/(permutations + 1).
    level : float
        The learner is said to beat chance where p is at most 1 − level.

    Returns
    -------
    ChanceTest

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ho.chance(Ridge(), X, y, permutations=99).p
    0.01
    """
    if isinstance(permutations, bool) or not isinstance(permutations, int | np.integer) or permutations < 1:
        raise OptionError(f"permutations= is how many targets are shuffled, at least 1, not {permutations!r}.")
    refuse_stream(X, who="A test against chance")
    roles = {"groups": groups, "strata": strata}
    request = Request(test=test, roles=roles, loss=loss, positive=positive, level=level, seed=seed, options=options)
    question = prepare(learner, X, target_of(y, target), request)
    refuse_coarse_answers(question, who="A test against chance")
    if question.pairs is not None and question.pairs.moves_risk:
        raise OptionError(
            "A test against chance compares plain estimates, and interval='bht' moves the one of the target as it is. "
            "Leave interval out."
        )
    exchange = exchange_of(question.task)
    how = Running(jobs=jobs, backend=backend, progress=progress, options=question.options)
    result = run_question(question, how)
    sign = question.study.reported[0].sign
    again = replace(request, test=question.test, roles={"groups": question.task.groups, "strata": question.task.strata})
    shuffled = _shuffled_losses(question, again, exchange, how, int(permutations))
    value = result.risk.value
    return ChanceTest(
        result=result,
        shuffled=sign * shuffled + 0.0,
        p=None if value is None else permutation_p(sign * value, shuffled),
        exchanged=exchange.words,
        level=question.level,
    )


def _shuffled_losses(
    question: Question, request: Request, exchange: Exchange, how: Running, permutations: int
) -> NDArray[np.float64]:
    """Return the loss, lower is better, for each shuffled target; NaN if a fit failed."""
    task, losses = question.task, np.full(permutations, np.nan)
    quiet = replace(how, progress=False)
    with open_progress(how.progress) as bar:
        bar.expect_rounds(permutations)
        for number in range(permutations):
            rng = np.random.default_rng(derive(question.seed, "permutation", number))
            target = task.y[exchange.rows(rng)]
            shuffled = prepare(question.learner, task.X, target, request)
            try:
                study = replace(shuffled.study, everywhere=Everywhere())  # no extra predictions for intervals
                outcome = run_study(study, shuffled.task, quiet)
                value = record_value(read_test_losses(shuffled.task, outcome).records[0], pool=shuffled.options.pool)
            except FitFailed:
                value = None
            losses[number] = np.nan if value is None else value
            bar.end_round(failed=value is None)
    return losses


FEWEST_ALIKE = 5  # groups that exchange targets among themselves, at least


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """Declares a way to shuffle the target: `rows(rng)` returns from which row each row takes its target."""

    words: str
    rows: Callable[[np.random.Generator], Rows]


def exchange_of(task: Task) -> Exchange:
    """Return how to shuffle, always within strata: rows; whole groups with one target each; or groups and their rows.

    Shuffling rows only within their groups would leave every group its own targets. A learner could then still predict
    from features that tell groups apart, and would do as well on the shuffled targets.
    """
    strata = np.zeros(task.size, dtype=np.intp) if task.strata is None else task.strata
    within = "" if task.strata is None else " within each stratum"
    if task.groups is None:
        _refuse_still(task, strata)
        return Exchange(words=f"rows{within}", rows=lambda rng: _shuffle_within(strata, rng))
    if _varies(task, task.groups):
        _refuse_still(task, strata)
        words = f"groups of about the same size, and rows within each group{within}"
        return Exchange(words=words, rows=_groups_and_rows(np.unique(task.groups, return_inverse=True)[1], strata))
    _, first, codes = np.unique(task.groups, return_index=True, return_inverse=True)
    if (strata != strata[first][codes]).any():
        raise RoleError(
            "Whole groups would exchange their targets, but a group lies in several strata. Leave strata out, "
            "or declare strata that groups do not cross."
        )
    _refuse_still(task, strata)
    return Exchange(words=f"whole groups{within}", rows=lambda rng: first[_shuffle_within(strata[first], rng)][codes])


def _groups_and_rows(groups: NDArray[np.intp], strata: NDArray[np.intp]) -> Callable[[np.random.Generator], Rows]:
    """Return a function that exchanges targets between groups of about the same size, in random order.

    A group that is larger than the one whose targets it takes gets the rest from the next group in the same cycle of
    the permutation, which may be itself. So every target is used once, and groups of equal size exchange all targets.
    """
    kinds = int(strata.max()) + 1
    shape = int(groups.max()) + 1, kinds
    flat = np.bincount(groups * kinds + strata, minlength=shape[0] * kinds)  # rows of each group and stratum
    counts, starts = flat.reshape(shape), (np.cumsum(flat) - flat).reshape(shape)
    alike = _alike(counts.sum(axis=1))

    def in_random_order(rng: np.random.Generator) -> Rows:
        """Return the rows sorted by group and stratum, in random order within each."""
        by_chance = rng.permutation(len(groups))
        return by_chance[np.lexsort((strata[by_chance], groups[by_chance]))]

    def rows(rng: np.random.Generator) -> Rows:
        taken_from = _shuffle_within(alike, rng)
        takers, givers = in_random_order(rng), in_random_order(rng)
        number = np.arange(len(groups)) - np.repeat(starts.ravel(), flat)  # of each taker in its group and stratum
        stratum, source = strata[takers], taken_from[groups[takers]]
        while len(short := np.flatnonzero(number >= counts[source, stratum])):
            source[short] = taken_from[source[short]]
        rows = np.empty_like(takers)
        rows[takers] = givers[starts[source, stratum] + number]
        return rows

    return rows


def _alike(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a code for each group; groups of equal size share it, and small sets of them join neighbouring sizes."""
    values, codes, groups = np.unique(sizes, return_inverse=True, return_counts=True)
    bins, filled = np.zeros(len(values), dtype=np.intp), 0
    for place, count in enumerate(groups.tolist()):
        bins[place] = bins[place - 1] + (filled >= FEWEST_ALIKE) if place else 0
        filled = count if place and bins[place] > bins[place - 1] else filled + count
    if filled < FEWEST_ALIKE and bins[-1] > 0:
        bins[bins == bins[-1]] -= 1
    return np.asarray(bins[codes], dtype=np.intp)


def _shuffle_within(blocks: NDArray[np.intp], rng: np.random.Generator) -> Rows:
    rows = np.arange(len(blocks), dtype=np.intp)
    by_chance = rng.permutation(len(blocks))
    rows[np.argsort(blocks, kind="stable")] = by_chance[np.argsort(blocks[by_chance], kind="stable")]
    return rows


def _varies(task: Task, blocks: NDArray[np.intp]) -> bool:
    """Return whether the target takes several values inside some block."""
    _, first, codes = np.unique(blocks, return_index=True, return_inverse=True)
    return bool((task.y != task.y[first][codes]).any())


def _refuse_still(task: Task, blocks: NDArray[np.intp]) -> None:
    if not _varies(task, blocks):
        raise RoleError(
            "Shuffling changes nothing: the target is the same for all rows that may exchange it. Leave strata out, or "
            "declare coarser ones."
        )
