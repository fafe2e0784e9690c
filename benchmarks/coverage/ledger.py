"""The attack on a test set: random predictors, combined by what the test set told of each.

Labels are fair coins, and so are the predictions of k predictors. Each is asked about on the same 1000 test rows; the
final predictor is a vote, each voter weighted by what was told of it: the side of one half it fell on for pass or fail,
its distance from one half where a number was told. Where results of single rows were shown the attacker needs no vote:
it repeats the labels. The vote does well on these test rows and is worth nothing on any other: its accuracy is 0.5. The
table says how often the interval of a single look still contains that, and how often the one that heldout states does.

Run alone: ``python -m benchmarks.coverage.ledger``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.options import FULL, PASS_FAIL, ROUNDED, VALUE, Answer
from heldout.risk.earlier_looks import (
    UNBOUNDED,
    VACUOUS,
    Disclosed,
    EarlierLooks,
    alphabet_of,
    disclosed_estimate,
    rounded,
)
from heldout.risk.estimands import predictor_risk
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import Record

TEST_ROWS = 1000
LOOKS = (10, 50, 100, 200, 500)
ANSWERS = (
    Answer(kind=PASS_FAIL, size=0.5),
    Answer(kind=ROUNDED, size=0.01),
    Answer(kind=VALUE),
    Answer(kind=FULL),
)
TRUTH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One coarseness and one number of earlier looks, over all replications."""

    answer: str
    looks: int
    accuracy: float  # mean accuracy of the final predictor on the test rows
    plain_covers: float  # how often the interval of a single look contains the truth
    covers: float  # how often the stated one does
    width: float  # mean width of the stated one, clipped to [0, 1]
    verdict: str  # "holds", "fails", "vacuous", "no bound: said"


def record_of(errors: NDArray[np.float64]) -> Record:
    """Zero-one losses of a predictor that came fitted, on rows that were given."""
    return Record(
        loss="zero_one",
        sign=1,
        low=0.0,
        high=1.0,
        fold_losses=np.array([errors.mean()]),
        row_losses=(errors,),
        train_sizes=np.array([0]),
        held_sizes=np.array([len(errors)]),
        kind="given",
    )


def attack(right: NDArray[np.bool_], answer: Answer) -> NDArray[np.bool_]:
    """Where the final predictor is right, from where each of k predictors is (k × n) and what was told of them."""
    if answer.kind == FULL:
        return np.ones(right.shape[1], dtype=bool)
    accuracy = right.mean(axis=1)
    if answer.kind == PASS_FAIL:
        weights = np.where(1 - accuracy <= (answer.size or 0), 1.0, -1.0)
    elif answer.kind == ROUNDED:
        weights = np.array([0.5 - rounded(1 - one, answer.size or 1) for one in accuracy])
    else:
        weights = accuracy - 0.5
    votes = weights @ (2.0 * right - 1.0)
    return np.where(votes == 0, right[0], votes > 0)


def final_answer(answer: Answer, errors: NDArray[np.float64]) -> Answer:
    """How the last question is asked: for pass or fail, at the strictest hundredth that the attacker passes."""
    if answer.kind != PASS_FAIL:
        return answer
    return Answer(kind=PASS_FAIL, size=float(np.ceil(errors.mean() * 100 - 1e-9) / 100))


def judge(right: NDArray[np.bool_], answer: Answer, *, level: float) -> tuple[Disclosed, Disclosed, float]:
    """The last look as heldout states it, the same as if it were the first, and the accuracy it saw."""
    errors = 1.0 - attack(right, answer)
    record = record_of(errors)
    told = final_answer(answer, errors)
    plain = estimate_risk(record, name="risk", estimand=predictor_risk("zero_one", train_size=None), level=level)
    size = alphabet_of(answer, record, right_or_wrong=True)
    past = EarlierLooks(alphabets=(size,) * len(right), rows_shown=answer.kind == FULL)
    return (
        disclosed_estimate(record, plain, told, past),
        disclosed_estimate(record, plain, told, EarlierLooks()),
        1 - errors.mean(),
    )


def rows(replications: int = 200, *, level: float = 0.95, seed: int = 0) -> list[Row]:
    """The table: every coarseness by every number of looks."""
    rng = np.random.default_rng(seed)
    cells: dict[tuple[str, int], list[tuple[Disclosed, Disclosed, float]]] = {}
    for _ in range(replications):
        right = rng.integers(0, 2, size=(max(LOOKS), TEST_ROWS)).astype(bool)
        for answer in ANSWERS:
            for looks in LOOKS:
                cells.setdefault((str(answer), looks), []).append(judge(right[:looks], answer, level=level))
    return [_row(answer, looks, cell) for (answer, looks), cell in cells.items()]


def _row(answer: str, looks: int, cell: list[tuple[Disclosed, Disclosed, float]]) -> Row:
    stated, plain = [one for one, _, _ in cell], [one for _, one, _ in cell]
    covers = float(np.mean([_contains(one) for one in stated]))
    statuses = {one.status for one in stated}
    if statuses == {UNBOUNDED}:
        verdict = "no bound, and said so"
    elif VACUOUS in statuses:
        verdict = "vacuous"
    else:
        verdict = "holds" if covers >= stated[0].estimate.level else "fails"
    width = float(np.mean([_width(one) for one in stated]))
    seen = float(np.mean([accuracy for _, _, accuracy in cell]))
    plainly = float(np.mean([_contains(one) for one in plain]))
    return Row(
        answer=answer, looks=looks, accuracy=seen, plain_covers=plainly, covers=covers, width=width, verdict=verdict
    )


def _contains(told: Disclosed) -> bool:
    low, high = told.estimate.low, told.estimate.high
    return low is not None and high is not None and low <= TRUTH <= high


def _width(told: Disclosed) -> float:
    assert told.estimate.low is not None
    assert told.estimate.high is not None
    return told.estimate.high - told.estimate.low


def as_dicts(table: list[Row]) -> list[dict[str, Any]]:
    """The table as plain rows."""
    return [asdict(row) for row in table]


def main(replications: int = 200) -> None:
    """Print the table."""
    print(f"The attack on {TEST_ROWS} test rows: k random predictors, then their vote (true accuracy {TRUTH}).")
    print(f"95% intervals, {replications} replications; a vacuous interval is as wide as the trivial one.\n")
    head = ("answer", "k", "on test rows", "plain covers", "stated covers", "width", "verdict")
    print("{:<14}{:>5}  {:>12}  {:>12}  {:>13}  {:>5}  {}".format(*head))
    for row in rows(replications):
        print(
            f"{row.answer:<14}{row.looks:>5}  {row.accuracy:>12.3f}  {row.plain_covers:>12.1%}  {row.covers:>13.1%}  "
            f"{row.width:>5.2f}  {row.verdict}"
        )


if __name__ == "__main__":
    main()
