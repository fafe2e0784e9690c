"""Facts of a finished study that rules look at: its choices, the losses of rows, yardsticks, and words for losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from heldout.base.words import share
from heldout.engine.run import Outcome
from heldout.results.evidence import is_least_squares
from heldout.results.study_record import Columns, Question
from heldout.results.test_losses import read_test_losses
from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Pair
from heldout.risk.record import Floats, Record
from heldout.risk.uneven import row_errors
from heldout.risk.verdict import Reference
from heldout.search.search import Family

MOST_CANDIDATES, MOST_ROWS = 5_000, 1_000  # looked at; rows are drawn from more
LINEAR = ("LogisticRegression", "RidgeClassifier", "LinearSVC", "LinearDiscriminant", "SGDClassifier", "Perceptron")


YARDSTICKS = ("boosting", "a plain linear model", "the default parameters", "column")
BOOSTING, PLAIN_LINEAR, DEFAULTS, COLUMN = YARDSTICKS
BY_ALL = 'checks="all" fits it'


class NotLooked(Exception):
    """Says why a rule cannot tell anything about this study."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Holds what the rules look at."""

    question: Question
    outcome: Outcome
    record: Record
    no_model: Reference
    _: KW_ONLY
    candidates: Columns  # the table of candidates
    pairs: Mapping[str, Pair | str]  # the learner against each yardstick, or why there is no comparison
    used: Columns | str  # how the loss of each fold changes when a column is permuted, or why that is not known

    @property
    def families(self) -> tuple[Family, ...]:
        return self.outcome.study.search.families

    @cached_property
    def choices(self) -> list[tuple[int, Floats, Floats | None]]:
        """The chosen candidate of each choice, the validation losses of all (candidates × parts), and part weights."""
        study = self.outcome.study
        reasons = {
            "nothing is tuned": not study.choices or study.search.size < 2,
            f"there are more than {MOST_CANDIDATES:,} candidates": study.search.size > MOST_CANDIDATES,
            "a race did not run every candidate": bool(study.races),
            "the best mean is not what is chosen": study.search.choose != "best",
        }
        for reason, holds in reasons.items():
            if holds:
                raise NotLooked(reason)
        made = [(study.chosen[choice.key], self.outcome.tables[choice.panel]) for choice in study.choices]
        found = [
            (one.candidate, table.losses[:, :, 0], table.weights) for one, table in made if one.candidate is not None
        ]
        if not found or found[0][1].shape[1] < 2:
            raise NotLooked("one validation part has no standard error" if found else "nothing was chosen")
        return found

    @cached_property
    def numbered(self) -> NDArray[np.intp]:
        """The number of the family of each candidate."""
        return np.repeat(np.arange(len(self.families)), [len(family.candidates) for family in self.families])

    @cached_property
    def usual(self) -> int:
        """The number of the family that is chosen most often."""
        return Counter(int(self.numbered[chosen]) for chosen, *_ in self.choices).most_common(1)[0][0]

    def values(self, name: str) -> list[Any]:
        """Return the value of a parameter in each candidate; None for those of other families."""
        every = zip(self.candidates[f"param_{name}"], self.numbered, strict=False)
        return [value if family == self.usual else None for value, family in every]

    def gain(self, others: NDArray[np.bool_]) -> tuple[float, float, float]:
        """Return how much smaller the validation loss is of a choice among all candidates than of one among others.

        Each validation part compares what the other parts would choose, so chance alone makes no gain. The standard
        errors of the gain and of the loss come with it, as means over choices, since these share rows.
        """
        each = []
        for _, losses, weights in self.choices:
            shares = np.ones(losses.shape[1]) if weights is None else weights
            sums = losses @ shares
            if not np.isfinite(sums[others]).any():
                raise NotLooked("fits of the candidates in question failed")
            rest = np.where(
                np.isfinite(sums)[:, None], sums[:, None] - losses * shares, np.inf
            )  # what other parts choose by
            picked = [np.where(among, rest, np.inf).argmin(axis=0) for among in (others[:, None], True)]
            both = np.stack([losses[best, np.arange(len(shares))] for best in picked])
            both[0] -= both[1]
            errors = both.std(axis=1, ddof=1) / sqrt(len(shares))
            each.append((float(np.average(both[0], weights=shares)), *errors))
        gain, error, of_loss = np.mean(each, axis=0).tolist()
        return gain, error, of_loss

    @cached_property
    def rows(self) -> tuple[tuple[Floats, ...], NDArray[np.intp]]:
        """The loss of each held-out row by part, and which rows these are."""
        record, found = self.record, row_errors(self.record)
        if record.timed:
            raise NotLooked("rows that follow each other in time are alike")
        if found is None or record.rows is None or not all(np.isfinite(one).all() for one in found):
            raise NotLooked("the losses of single rows are not known")
        rows = np.concatenate(record.rows[: len(found)]).astype(np.intp)
        if len(np.unique(rows)) < len(rows):
            raise NotLooked("rows are held out more than once")
        return found, rows

    def draw(self, count: int) -> NDArray[np.intp]:
        """Draw at most `MOST_ROWS` of so many rows."""
        if count <= MOST_ROWS:
            return np.arange(count)
        return np.random.default_rng(self.question.seed).choice(count, MOST_ROWS, replace=False, shuffle=False)

    def pair(self, name: str) -> Pair | None:
        """Return the comparison with a yardstick; None if it was not asked for."""
        found = self.pairs.get(name)
        if isinstance(found, str):
            raise NotLooked(found)
        return found

    def told(self, *values: float) -> list[str]:
        """Write losses as people know them: accuracy, RMSE, or the loss itself in the user's own sign."""
        record = self.record
        if record.family == "zero_one":
            return [share(1 - (value - record.low)) for value in values]
        shown = [sqrt(value) if record.family == "squared" else record.sign * value for value in values]
        return [f"{float(f'{value:.3g}'):,g}" for value in shown]

    @property
    def measure(self) -> str:
        """What `told` tells."""
        return {"zero_one": "accuracy", "squared": "RMSE"}.get(self.record.family, self.record.loss)

    def refuse_no_model(self) -> None:
        """Raise NotLooked if the learner is no model itself, or if there is no comparison with none."""
        if self.are("Dummy"):
            raise NotLooked("the learner is no model itself")
        if self.no_model.value is None or self.no_model.low is None:
            raise NotLooked(f"there is no comparison with no model. {self.no_model.reason or ''}".strip())

    def are(self, *words: str) -> bool:
        """Return whether the models of all families are of a class whose name has one of these words."""
        kinds = [type(last_step(family.estimator)[1]).__name__ for family in self.families]
        return all(any(word in kind for word in words) for kind in kinds)


def pairs_with(question: Question, extra: Mapping[str, Outcome], record: Record) -> dict[str, Pair | str]:
    """Compare the learner with each yardstick on the same rows, and with the best of single columns alone."""
    yardsticks, options = question.yardsticks, question.options
    if yardsticks is None:
        return {}
    found, records, single = dict[str, Pair | str](yardsticks.without), dict[str, Record](), dict[str, float]()
    for name, (study, task) in yardsticks.studies.items():
        for candidate, family in enumerate(study.search.families):
            records[family.name] = read_test_losses(task, extra[name], seed=record.seed, candidate=candidate).records[0]
            if family.name.startswith(COLUMN):
                single[family.name] = float(np.mean(records[family.name].fold_losses))
    best = min(single, key=lambda name: (np.isnan(single[name]), single[name]), default=None)
    for name, other in records.items():
        if name in single and name != best:
            continue
        if not np.isfinite([*other.fold_losses, *record.fold_losses]).all():
            found[name] = f"a fit of {name} failed"
            continue
        both = {"this learner": record, name: other}
        (found[name],) = compare_records(both, level=question.level, pool=options.pool, interval=options.interval)
    return found


def last_step(estimator: Any) -> tuple[str, Any]:
    """Return the prefix of the parameters of the model in a Pipeline, and the model."""
    if isinstance(estimator, Pipeline):
        prefix, model = last_step(estimator.steps[-1][1])
        return f"{estimator.steps[-1][0]}__{prefix}", model
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        prefix, model = last_step(estimator.regressor)
        return f"regressor__{prefix}", model
    return "", estimator


def is_linear(estimator: Any) -> bool:
    """Return whether the model of a learner is linear."""
    model = last_step(estimator)[1]
    return type(model).__name__.startswith(LINEAR) or (is_least_squares(model) and "Kernel" not in type(model).__name__)
