"""Recommends a validation recipe for a number of rows and candidates, and gives the reasons.

The rules come from the texts in seeds/:

- Simple validation is enough when there are many rows. It is the only choice when the distribution drifts with time;
  then the validation and test rows have to be the most recent.
- Cross-validation is the standard for small data (fewer than 500 rows), above all with many columns.
- Leave-one-out is used when it costs about as much as one or two fits and a single predictor is to be judged.
- A separate test level (a test set or an outer cross-validation) is needed whenever candidates are chosen.

No fixed number of rows counts as "many". A share of the rows is large enough when it gives the wanted width of the
risk's interval and the wanted gap between the chosen candidate and the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout.base.errors import Argument, OptionError, Sentence, Splitter

SMALL = 500  # rows; with fewer, the texts recommend cross-validation
PREDICTOR, LEARNER = "predictor", "learner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Holds what is known before a study: sizes, roles, and the rows needed for the wanted width and gap."""

    n: int
    candidates: int = 1
    columns: int | None = None
    groups: int | None = None
    time: bool = False
    closed_form: bool = False
    about: str = LEARNER
    test_rows: int  # for the width
    dev_rows: int  # for the gap

    @property
    def units(self) -> int:
        """The number of independent units: groups if there are any, else rows."""
        return self.n if self.groups is None else self.groups

    def affords(self, share: float, rows: int) -> bool:
        """Return whether this share of the units is at least `rows`."""
        return share * self.units >= rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Holds a recommended recipe: its name, its splitters and the reasons for it."""

    name: str
    test: Splitter
    validation: Splitter | None = None  # None where nothing is chosen
    k: int | None = None  # test folds; None for a single test set
    held: float  # share of the rows in one test part
    dev: float = 0.0  # share of the rows in one validation part
    reasons: tuple[str | Sentence, ...]


def recommend(at: Situation) -> Recipe:
    """Return the recipe for this situation.

    >>> recommend(Situation(n=200, candidates=17, test_rows=738, dev_rows=1305)).name
    'nested cross-validation'
    """
    _refuse_too_few(at)
    recipe = _in_time(at) if at.time else _of_one(at) if at.candidates == 1 else _of_many(at)
    return replace(recipe, reasons=(*recipe.reasons, *_cautions(at, recipe)))


def _refuse_too_few(at: Situation) -> None:
    least = 2 if at.candidates == 1 else 4
    if at.units < least:
        what = "rows" if at.groups is None else "groups"
        chosen = "" if at.candidates == 1 else " when candidates are chosen"
        raise OptionError(f"There is no recipe for {at.units} {what}: at least {least} are needed{chosen}.")


def _in_time(at: Situation) -> Recipe:
    many = at.candidates > 1
    return Recipe(
        name="simple validation on the most recent rows",
        test=Splitter("Holdout", 0.2),
        validation=Splitter("Holdout", 0.25) if many else None,
        held=0.2,
        dev=0.2 if many else 0.0,
        reasons=(
            "The data come in time: validation and test rows have to be the most recent, so simple validation it is.",
            Sentence(
                "No dependence may cross from one set to the next: {} drops rows at each border, and tests on several "
                "later stretches instead of one.",
                Splitter("Forward", 5, Argument("buffer")),
            ),
            "Rows in time are not independent, so no bound is promised from their number.",
        ),
    )


def _of_one(at: Situation) -> Recipe:
    for share in (0.1, 0.2):
        if at.affords(share, at.test_rows):
            why = f"Data are plenty: {share:.0%} of them are enough for the width, so one test set tells the risk."
            return _single(share, why)
    if at.closed_form and at.about == PREDICTOR and at.groups is None:
        return Recipe(
            name="leave-one-out",
            test=Splitter("LeaveOneOut"),
            k=at.n,
            held=1 / at.n,
            reasons=(
                "Leave-one-out has a closed form here, costs about one fit, and its predictors are nearly the one "
                "trained on all rows.",
                "Its interval is a rule of thumb for the learner, not for one predictor.",
            ),
        )
    if at.about == PREDICTOR and at.n >= SMALL:
        return _single(0.2, "Only rows held out from a predictor earn an interval for that very predictor.")
    k = _folds(at)
    reason = (
        f"Fewer than {SMALL} rows: every row is needed for training and for testing, so they take turns."
        if at.n < SMALL
        else "One test set would be too small for the width asked for; cross-validation tests on every row."
    )
    return Recipe(
        name="cross-validation",
        test=Splitter("KFold", k),
        k=k,
        held=1 / k,
        reasons=(reason, _why_k(k)),
    )


def _single(share: float, why: str) -> Recipe:
    return Recipe(name="a test set", test=Splitter("Holdout", share), held=share, reasons=(why,))


def _of_many(at: Situation) -> Recipe:
    apart = "The rows that choose among the candidates cannot tell how good the chosen one is: test rows stay apart."
    for share, of_rest in ((0.1, 0.1111), (0.2, 0.25)):
        if at.affords(share, at.test_rows) and at.affords(share, at.dev_rows):
            why = f"Data are plenty: {share:.0%} of them are enough to choose among {at.candidates} candidates, and "
            return Recipe(
                name=f"train, validation and test ({1 - 2 * share:.0%}/{share:.0%}/{share:.0%})".replace("%", ""),
                test=Splitter("Holdout", share),
                validation=Splitter("Holdout", of_rest),
                held=share,
                dev=share,
                reasons=(f"{why}as many to test.", apart),
            )
    if at.affords(0.2, at.test_rows) or (at.about == PREDICTOR and at.n >= SMALL):
        inner = _inner_folds(at.units - round(0.2 * at.units))
        return Recipe(
            name="cross-validation and a test set",
            test=Splitter("Holdout", 0.2),
            validation=Splitter("KFold", inner),
            held=0.2,
            dev=0.8 / inner,
            reasons=(
                f"A single development set would be too small to choose among {at.candidates} candidates; "
                "cross-validation chooses on all training rows.",
                apart,
            ),
        )
    k = _folds(at)
    inner = _inner_folds(at.units - -(-at.units // k))
    return Recipe(
        name="nested cross-validation",
        test=Splitter("KFold", k),
        validation=Splitter("KFold", inner),
        k=k,
        held=1 / k,
        dev=(1 - 1 / k) / inner,
        reasons=(
            "There are too few rows to set a test set aside, and the best cross-validation estimate is too good: the "
            "choice is made anew inside each fold.",
            _why_k(k),
            Sentence(
                "{} halves the fits; {} inside each fold is the cheap variant.",
                Argument("validation", Splitter("SharedBlocks")),
                Argument("validation", Splitter("Holdout", "…")),
            ),
        ),
    )


def _folds(at: Situation) -> int:
    return min(10 if at.n < SMALL and at.candidates == 1 else 5, at.units)


def _inner_folds(units: int) -> int:
    return max(2, min(5, units))


def _why_k(k: int) -> str:
    if k == 10:
        return "K = 10: with few rows a larger K trains on nearly all of them, and costs little."
    if k == 5:
        return "K = 5: the usual choice; a larger K trains on more rows and costs more."
    return f"K = {k}: there is no more to divide."


def _cautions(at: Situation, recipe: Recipe) -> list[str | Sentence]:
    cautions: list[str | Sentence] = []
    if at.groups is not None:
        cautions.append(
            f"Rows come in {at.groups} groups: each part holds whole groups, and bounds count groups, not rows."
        )
    if at.columns is not None and at.columns >= at.n * (1 - recipe.held - recipe.dev):
        cautions.append(
            f"{at.columns} columns are as many as training rows: fold predictors may disagree, and intervals over "
            "folds then cover less often than they say."
        )
    return cautions
