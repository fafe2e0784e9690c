"""`Comparison`: what comparing learners found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from heldout.api.plots import Reported
from heldout.api.result import Result
from heldout.base.findings import Finding
from heldout.base.plain import plain
from heldout.base.registered import registered
from heldout.results.figures import comparison_figure
from heldout.results.summary import VERSION, choices_of
from heldout.results.tables import as_frame
from heldout.risk.comparison.over_datasets import RankedPair
from heldout.risk.comparison.sentences import Pair, verdict_of_comparison
from heldout.risk.estimate import Estimate


@registered
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison(Reported):
    """What comparing learners found. Made by :func:`heldout.compare`.

    Attributes
    ----------
    table : data frame
        A row a pair: the difference of the first less the second in the user's own sign, its interval, the p-value,
        the same adjusted by Holm, the posterior probabilities, the verdict and the sentence. The intervals hold
        together at `level`; `interval_level` is the level of each.
    ranking : dict of Estimate
        The risk of each learner, the best first, those without a value last. Its intervals hold one at a time, and
        two that overlap do not mean that there is no difference: see the table.
    results : dict of Result
        What :func:`heldout.evaluate` gives for each learner of which some fit worked.
    failures : dict of str
        Why a learner has no result.
    sentences : tuple of str
        A sentence for each pair.
    pairs : tuple of Pair
        The rows of the table as values.
    findings : tuple of Finding
        Numbered warnings and errors of any of the learners, each once, and of the comparison.
    """

    _shown_as = "comparison"

    pairs: tuple[Pair, ...]
    ranking: Mapping[str, Estimate]
    results: Mapping[str, Result]
    failures: Mapping[str, str]
    level: float
    rope: float | None
    about: Mapping[str, Any]
    remarks: tuple[Finding, ...] = ()
    frame: str = "pandas"

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(pair.sentence for pair in self.pairs)

    @property
    def findings(self) -> tuple[Finding, ...]:
        found = [one for result in self.results.values() for one in result.findings if one.severity != "info"]
        return tuple(dict.fromkeys((*found, *self.remarks)))

    @property
    def table(self) -> Any:
        rows = [_row(pair) for pair in self.pairs]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]}, library=self.frame)

    def summary(self, *, figures: bool = False) -> dict[str, Any]:
        """The comparison as plain values that JSON can hold: docs/summary.md. `figures` adds what the figures show."""
        summary: dict[str, Any] = {
            "version": VERSION,
            "kind": "comparison",
            "level": self.level,
            "rope": plain(self.rope),
            "about": {"call": None, "command": None, **plain(self.about)},
            "verdict": verdict_of_comparison(self.ranking, self.pairs, level=self.level),
            "ranking": [{**plain(estimate.as_dict()), "name": name} for name, estimate in self.ranking.items()],
            "pairs": [plain({**_row(pair), "estimand": pair.difference.estimand}) for pair in self.pairs],
            "learners": {name: _learner(result) for name, result in self.results.items()},
            "failures": plain(self.failures),
            "findings": [asdict(finding) for finding in self.findings],
        }
        if figures:
            folds = {name: result.record_so_far.tables["folds"] for name, result in self.results.items()}
            summary["figures"] = {
                "comparison": plain(
                    comparison_figure(self.ranking, summary["pairs"], folds, rope=self.rope, level=self.level)
                )
            }
        return summary

    def __repr__(self) -> str:
        names = ", ".join(self.ranking)
        return f"<Comparison of {names} by {self.about['loss']}>"


def _learner(result: Result) -> dict[str, Any]:
    """What a comparison tells of a learner beside its risk."""
    record = result.record_so_far  # no number of these is made late
    return {
        "about": plain(record.about),
        "choices": choices_of(record),
        "seconds": plain(record.seconds),
    }


def chances_and_verdict(pair: Pair | RankedPair, *, rope: float | None) -> dict[str, Any]:
    """The probabilities of a pair, where there are any, its verdict and its sentence."""
    chances = pair.probabilities
    return {
        "chance_first_better": None if chances is None else chances.left,
        "chance_equal": None if chances is None or rope is None else chances.rope,
        "chance_second_better": None if chances is None else chances.right,
        "verdict": str(pair.verdict),
        "sentence": pair.sentence,
    }


def _row(pair: Pair) -> dict[str, Any]:
    difference = pair.difference
    return {
        "first": pair.first,
        "second": pair.second,
        "loss": difference.loss,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        "interval_level": difference.level,
        "method": difference.method,
        "guarantee": difference.guarantee,
        "p": pair.p,
        "p_method": pair.p_method,
        "p_holm": pair.p_holm,
        **chances_and_verdict(pair, rope=pair.rope),
        "reason": difference.reason,
    }
