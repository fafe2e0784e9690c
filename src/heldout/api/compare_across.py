"""`compare_across`: compares several learners over several datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from heldout.api.call_text import with_our_words
from heldout.api.comparable import check_rope
from heldout.api.compare import Comparison, answer_all, ask_all, chances_and_verdict
from heldout.api.learners import named_learners
from heldout.base.errors import FitFailed, HeldoutError, InputError, LossError
from heldout.base.options import Options
from heldout.base.shown import Shown, plain
from heldout.engine.run import Running
from heldout.results.study_record import Question, Request
from heldout.results.tables import as_frame
from heldout.risk.comparison.over_datasets import RankedPair, Ranks, rank_over_datasets

ROLES = ("groups", "time", "sample_weight", "strata")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AcrossComparison(Shown):
    """What comparing learners over datasets found. Made by :func:`heldout.compare_across`.

    Attributes
    ----------
    ranks : Ranks
        Mean ranks (1 is best), Friedman's test, Nemenyi's critical distance, and every pair as values.
    table : data frame
        A row a pair: mean ranks, p-values, probabilities of the Bayesian signed rank test, verdict, sentence.
    losses : data frame
        A row a dataset, a column a learner: the risk in the user's own sign, missing where a fit failed.
    comparisons : dict of Comparison
        What :func:`heldout.compare` gives on each dataset.
    left_out : dict of str
        Learners and datasets that could not take part, and why.
    """

    _shown_as = "across"

    ranks: Ranks
    comparisons: Mapping[str, Comparison]
    left_out: Mapping[str, str]
    about: Mapping[str, Any]

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(pair.sentence for pair in self.ranks.pairs)

    @property
    def table(self) -> Any:
        rows = [_row(pair, self.about["rope"]) for pair in self.ranks.pairs]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]})

    @property
    def losses(self) -> Any:
        names = self.about["learners"]
        values = {n: [_value(found, n) for found in self.comparisons.values()] for n in names}
        return as_frame({"dataset": list(self.comparisons), **values})

    def summary(self) -> dict[str, Any]:
        """Return the comparison as plain values that JSON can hold."""
        ranks = self.ranks
        order = sorted(zip(ranks.names, ranks.friedman.mean_ranks, strict=True), key=lambda one: one[1])
        return {
            "about": plain(self.about),
            "mean_ranks": [{"name": name, "mean_rank": rank} for name, rank in order],
            "friedman": plain({**asdict(ranks.friedman), "p_permuted": ranks.p_permuted}),
            "critical_distance": ranks.critical_distance,
            "pairs": [plain(_row(pair, self.about["rope"])) for pair in ranks.pairs],
            "losses": plain({data: {n: e.value for n, e in c.ranking.items()} for data, c in self.comparisons.items()}),
            "left_out": plain(self.left_out),
        }


@with_our_words
def compare_across(
    learners: Any,
    datasets: Mapping[str, Any],
    *,
    test: Any = None,
    loss: Any = None,
    level: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    backend: Any = None,
    progress: bool | str = "auto",
    options: Options | None = None,
    rope: float | None = None,
) -> AcrossComparison:
    """Compare learners over several datasets by their ranks, and by probabilities where losses are on one scale.

    It is a function of its own beside :func:`heldout.compare`, since its answer is another one: which learner is
    better on datasets like these, not which is better on this one.

    Parameters
    ----------
    learners, test, loss, level, seed, jobs, backend, progress, options, rope
        As in :func:`heldout.compare`. `test` must suit every dataset.
    datasets : dict
        At least two: pairs (X, y) by name, or dicts of X, y and roles: ``{"X": …, "y": …, "groups": …}``.

    Returns
    -------
    AcrossComparison

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> datasets = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> comparison = ho.compare_across({"bayes": GaussianNB(), "prior": DummyClassifier()}, datasets)
    >>> comparison.sentences
    ('No difference shown between bayes and prior over 2 datasets (mean ranks 1 and 2, p = 0.49).',)
    """
    check_rope(rope)
    contenders = named_learners(learners)
    request = Request(test=test, loss=loss, level=level, seed=seed, options=options)
    questions = {name: _ask(name, given, contenders, request) for name, given in _named_datasets(datasets).items()}
    question = _check_one_loss(questions)
    how = Running(jobs=jobs, backend=backend, progress=progress, options=question.options)
    comparisons, left_out, kept = dict[str, Comparison](), dict[str, str](), list[str]()
    for name, by_learner in questions.items():
        try:
            comparisons[name] = answer_all(by_learner, how, rope=rope)
        except FitFailed as error:
            left_out[name] = f"Dataset {name!r}: {error}"
    for name in contenders:
        without = [data for data, comparison in comparisons.items() if comparison.ranking[name].value is None]
        if without:
            left_out[name] = f"Learner {name!r} has no value on {without[0]!r}: it cannot be ranked there."
        else:
            kept.append(name)
    if len(kept) < 2 or len(comparisons) < 2:
        raise FitFailed(f"There is nothing left to compare. {' '.join(left_out.values())}")
    sign = question.study.reported[0].sign
    losses = np.array([[sign * _value(comparison, name) for name in kept] for comparison in comparisons.values()])
    bounded = bool(np.isfinite([question.study.reported[0].low, question.study.reported[0].high]).all())
    ranks = rank_over_datasets(kept, losses, level=question.level, rope=rope, on_one_scale=bounded, seed=question.seed)
    return AcrossComparison(
        ranks=ranks,
        comparisons=comparisons,
        left_out=left_out,
        about={
            "loss": question.study.reported[0].name,
            "greater_is_better": sign < 0,
            "learners": list(contenders),
            "datasets": list(comparisons),
            "level": question.level,
            "rope": rope,
            "seed": question.seed,
            "on_one_scale": bounded,
        },
    )


def _named_datasets(datasets: Any) -> dict[str, dict[str, Any]]:
    ways = "Pass a dict of at least two: {'iris': (X, y), 'wine': (X, y)}"
    if not isinstance(datasets, Mapping) or len(datasets) < 2:
        raise InputError(f"Learners are ranked over several datasets. {ways}.")
    named: dict[str, dict[str, Any]] = {}
    for name, given in datasets.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"A dataset's name is shown to people, but {name!r} is no printable text. {ways}.")
        if isinstance(given, Mapping) and "X" in given:
            unknown = set(given) - {"X", "y", *ROLES}
            if unknown:
                raise InputError(
                    f"Dataset {name!r} has {sorted(unknown)[0]!r}, which is none of X, y, {', '.join(ROLES)}."
                )
            named[name] = dict(given)
        elif isinstance(given, tuple) and len(given) == 2:
            named[name] = {"X": given[0], "y": given[1]}
        else:
            raise InputError(f"Dataset {name!r} is no pair (X, y), and no dict with X and y. {ways}.")
    return named


def _ask(name: str, given: Mapping[str, Any], contenders: Mapping[str, Any], request: Request) -> dict[str, Question]:
    roles = {role: given.get(role) for role in ROLES}
    try:
        return ask_all(contenders, given["X"], given.get("y"), replace(request, roles=roles))
    except HeldoutError as error:
        raise type(error)(f"Dataset {name!r}: {error}") from error


def _check_one_loss(questions: Mapping[str, Mapping[str, Question]]) -> Question:
    """Return the first question; refuse datasets whose losses differ."""
    firsts = [next(iter(by_learner.values())) for by_learner in questions.values()]
    names = sorted({question.study.reported[0].name for question in firsts})
    if len(names) > 1:
        raise LossError(f"Datasets are judged by different losses, {names[0]!r} and {names[1]!r}. Pass loss=…")
    return firsts[0]


def _value(found: Comparison, name: str) -> float:
    value = found.ranking[name].value
    return float("nan") if value is None else value


def _row(pair: RankedPair, rope: float | None) -> dict[str, Any]:
    names = ("first", "second", "rank_first", "rank_second", "p_nemenyi", "p_permuted")
    return {**{name: getattr(pair, name) for name in names}, **chances_and_verdict(pair, rope=rope)}
