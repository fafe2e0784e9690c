"""Several learners over several datasets: ranks, tests, probabilities, and a sentence for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from heldout.base.seeds import derive
from heldout.risk.comparison.correlated_t import Probabilities
from heldout.risk.comparison.differences import subtract, tie_rounded
from heldout.risk.comparison.friedman import Friedman, critical_distance, friedman, nemenyi, permuted_ranks
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.comparison.signed_rank import signed_rank
from heldout.risk.record import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPair:
    """Two learners over several datasets."""

    first: str
    second: str
    rank_first: float
    rank_second: float
    p_nemenyi: float
    p_permuted: float
    probabilities: Probabilities | None  # left: the first is better
    verdict: Verdict
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Mean ranks, whether they differ at all, how far apart two must be, and every pair."""

    names: tuple[str, ...]
    friedman: Friedman
    p_permuted: float  # Friedman's statistic against shuffled ranks
    critical_distance: float
    pairs: tuple[RankedPair, ...]


def rank_over_datasets(
    names: Sequence[str], losses: Floats, *, level: float, rope: float | None, on_one_scale: bool, seed: int
) -> Ranks:
    """Compare learners by their losses on several datasets, a row a dataset and a column a learner.

    One learner is called better than another where Friedman's test and Nemenyi's both say so at `level`, by their
    formulas and by shuffled ranks: the formulas need more datasets than people have. The Bayesian signed rank test
    speaks only where losses of different datasets are on one scale; two learners are called practically equal where
    it gives that the probability `level`, from five datasets on at 95 %.
    """
    datasets, learners = losses.shape
    losses = tie_rounded(losses)
    test, by_formula = friedman(losses), nemenyi(losses)
    shuffled = permuted_ranks(losses, seed=derive(seed, "ranks"))
    alpha = (1 - level) * (1 + 1e-9)
    any_differ = max(test.p, shuffled.p) <= alpha
    pairs = []
    for i, j in combinations(range(learners), 2):
        chances = None
        if on_one_scale:
            difference = subtract(losses[:, i], losses[:, j])
            chances = signed_rank(difference, rope=rope or 0.0, seed=derive(seed, "signed rank"))
        p = max(float(by_formula[i, j]), float(shuffled.pairs[i, j]))
        ranks = test.mean_ranks[i], test.mean_ranks[j]
        verdict = _judge(ranks, any_differ and p <= alpha, chances, datasets=datasets, level=level, rope=rope)
        pairs.append(
            RankedPair(
                first=names[i],
                second=names[j],
                rank_first=ranks[0],
                rank_second=ranks[1],
                p_nemenyi=float(by_formula[i, j]),
                p_permuted=float(shuffled.pairs[i, j]),
                probabilities=chances,
                verdict=verdict,
                sentence=_sentence((names[i], names[j]), ranks, verdict, p=p, datasets=datasets, rope=rope),
            )
        )
    return Ranks(
        names=tuple(names),
        friedman=test,
        p_permuted=shuffled.p,
        critical_distance=critical_distance(learners, datasets, level=level),
        pairs=tuple(pairs),
    )


def _judge(
    ranks: tuple[float, float],
    shown: bool,
    chances: Probabilities | None,
    *,
    datasets: int,
    level: float,
    rope: float | None,
) -> Verdict:
    if shown:
        return Verdict.FIRST if ranks[0] < ranks[1] else Verdict.SECOND
    # A single dataset inside the region gives it the probability 1; equality takes as many as no coin would match.
    enough = 0.5**datasets <= 1 - level
    equal = rope is not None and chances is not None and chances.rope >= level and enough
    return Verdict.EQUAL if equal else Verdict.NOT_SHOWN


def _sentence(
    names: tuple[str, str], ranks: tuple[float, float], verdict: Verdict, *, p: float, datasets: int, rope: float | None
) -> str:
    first, second = names
    if verdict is Verdict.EQUAL:
        return f"{first} and {second} are probably practically equal (within ±{rope:.3g}) on datasets like these."
    if verdict is Verdict.NOT_SHOWN:
        words = f"mean ranks {ranks[0]:.3g} and {ranks[1]:.3g}, p = {p:.3g}"
        return f"No difference shown between {first} and {second} over {datasets} datasets ({words})."
    better, worse = names if verdict is Verdict.FIRST else (second, first)
    words = f"mean ranks {min(ranks):.3g} and {max(ranks):.3g}, p = {p:.3g}"
    return f"{better} ranks better than {worse} over {datasets} datasets ({words})."
