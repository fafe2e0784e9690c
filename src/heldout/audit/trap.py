"""Trap, a numbered finding about a table; the catalogue of all numbers; and the page of the docs made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout.base.findings import CODES


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What a number stands for, in sentences."""

    looks: str  # what is looked at, and how sure the answer is
    why: str
    way_out: str
    severity: str  # when it is which


NOT_SEEN = ("columns that were chosen beforehand by looking at all rows; choose them inside the pipeline",)

EXPLAINED = {
    "H101": Explained(
        looks="Counts the rows of each class (or declared stratum) and compares them with the number of folds, or "
        "with its share of the rows held out; where groups stay whole, looks for parts that lack a class.",
        why="Some test parts will then hold no row of that class, and their errors tell nothing about it.",
        way_out="Use fewer folds, gather more rows of the class, or merge it with another.",
        severity="warning",
    ),
    "H601": Explained(
        looks="Counts rows that are equal in every column and in the target, columns that look like identifiers "
        "aside; all rows are counted, however many. Tables of few values have equal rows by chance: how many is "
        "estimated from the pairs of rows that differ in a single column.",
        why="A copy in the training part gives the answer for its twin in the test part away, so the risk looks "
        "lower than it is.",
        way_out="Keep one of each, or declare copies as groups: check(…).groups holds a group for each row.",
        severity="error if copies straddle a given split in 1% of its test rows or more; warning if they straddle it "
        "in fewer, or if 1% of the rows or more are copies; info if they are fewer, or expected by chance",
    ),
    "H602": Explained(
        looks="Looks for rows that differ in a single column, and for rows whose nearest neighbour is far nearer "
        "than the eighth nearest allows: by chance that happens to a row in a thousand, and to so many rows once in "
        "a million tables.",
        why="Rows that are nearly copies (photographed twice, corrected once, jittered) tell each other's target "
        "across a split, so the risk looks lower than it is.",
        way_out="Declare what they come from as groups, or use check(…).groups, which holds a group for each row.",
        severity="warning if 1% of the rows or more are nearly copies; info if fewer",
    ),
    "H603": Explained(
        looks="Looks for codes that never repeat: texts without spaces; whole numbers that count; whole numbers that "
        "would have met by chance, were they measured (by odds of a million to one); and those named like an id.",
        why="It tells rows apart, not what they are like: a learner that uses it learns rows by heart, or the order "
        "in which they were filed.",
        way_out="Leave the column out (--drop on the command line).",
        severity="warning; info if only the form of the numbers suggests it",
    ),
    "H604": Explained(
        looks="Predicts the target from each column alone, for each row from other rows with the same or "
        "neighbouring values. The share of the spread explained counts by the lower end of its interval (99.9%, "
        "one-sided).",
        why="A single column that good is mostly made from the target, or known only after it; where it will be "
        "missing or empty at prediction time, the risk measured here means nothing.",
        way_out="Ask when the column is filled in; leave it out (--drop on the command line) if that is after the "
        "target is known, else ignore this.",
        severity="error if the column explains 98% or more; warning if 95%, or 90% where all other columns together "
        "explain less than half as much",
    ),
    "H605": Explained(
        looks="Looks for columns that equal the target, run through it (a·y + b, log y, any rising or falling "
        "function), cut it into steps, or write its classes in other words. Such an order arises by chance once in a "
        "billion columns.",
        why="The learner will be asked for what it is told.",
        way_out="Leave the column out (--drop on the command line).",
        severity="error",
    ),
    "H606": Explained(
        looks="Looks for columns of codes that repeat, whose rows agree on the target, or on other columns, more "
        "than chance lets them (once in a million columns). For whole numbers the agreement must end at the next "
        "value: rows of age 41 are like those of age 42, patients 41 and 42 are not.",
        why="If new data bring new ones of these, rows of one of them on both sides of a split make the risk look "
        "lower than it will be.",
        way_out="Declare the column as groups (groups=…, --groups), or ignore this if the same ones come back.",
        severity="warning if it has few rows a value or the name of an id; else info",
    ),
    "H607": Explained(
        looks="Looks for columns of dates. Whether neighbours in time agree on the target is tested (a false alarm "
        "in a million), and whether the rows are in the order of the dates.",
        why="If later rows are to be predicted from earlier ones, random test parts let the future predict the past.",
        way_out="Declare the column as time (time=…, --time), or ignore this if the order means nothing.",
        severity="warning if neighbours in time agree on the target or the rows come in that order; else info",
    ),
    "H608": Explained(
        looks="Tests whether neighbours in the file, and rows in the same twentieth of it, agree on the target (a "
        "false alarm in a million each). Rows sorted by the target or by a column are told apart.",
        why="Neighbours that agree hint at time or groups that nobody declared; random test parts then lie between "
        "their own neighbours, and the risk looks lower than it is.",
        way_out="Declare time or groups; if the order means nothing, ignore this and keep shuffling.",
        severity="warning if they agree by 0.3 or more (0 is chance, 1 is always); info if neighbours agree by 0.1 "
        "or twentieths by 0.02, or if the rows are simply sorted",
    ),
    "H609": Explained(
        looks="Trains a classifier to tell test rows from training rows and tests it on held-out rows, by heldout's "
        "own `evaluate`. Its exact interval above one half is a false alarm once in two thousand.",
        why="The test part then tells the risk on rows that are unlike the training rows, which is not the risk of a "
        "random split; it is right only if new data are like the test part.",
        way_out="Draw the test part at random, or keep it if it stands for what is to come.",
        severity="warning if the classifier is right 60% of the time or more; else info",
    ),
    "H610": Explained(
        looks="Counts the different values of each column.",
        why="It can tell nothing; mostly something went wrong where the table was made.",
        way_out="Leave the column out (--drop on the command line), or mend the export.",
        severity="info if it has one value; warning if it is empty",
    ),
    "H611": Explained(
        looks="Compares the target of rows where a column is missing with the others, for each column and for the "
        "number of gaps in a row (a false alarm in ten thousand tables).",
        why="Gaps often appear after the target is known, or because of it; when that is so they are a leak that "
        "imputing with indicators, or a tree, will use.",
        way_out="Ask why the values are missing; if it is because of the target, fill them at their source or leave "
        "the column out (--drop on the command line).",
        severity="error if gaps explain 90% of the target; warning if 10%; else info",
    ),
    "H612": Explained(
        looks="Looks for columns that over all rows have mean 0 and standard deviation 1 (or norm 1), median 0 and "
        "quartiles 1 apart, or reach from 0 to 1, to many digits. No raw column does by chance.",
        why="The scaling was learned from test rows too. That changes the risk little, but it cannot be repeated for "
        "new rows unless its numbers were kept.",
        way_out="Start from the raw values and put the scaler into the pipeline, where each training part has its own.",
        severity="info",
    ),
    "H613": Explained(
        looks="Looks for a value that many rows share, in a column whose other values hardly repeat, and that is the "
        "mean of the column or the median of its other rows to many digits.",
        why="The gaps were filled with a number learned from test rows too, and which they were is lost.",
        way_out="Start from the values with gaps and put the imputer into the pipeline.",
        severity="info",
    ),
    "H614": Explained(
        looks="Looks for three columns or more that are uncorrelated over all rows to many digits. By chance "
        "correlations are near one over the root of the number of rows, never that small.",
        why="Principal components (or a whitening) were learned from test rows too, and with many columns they adapt "
        "to them.",
        way_out="Start from the raw columns and put PCA into the pipeline.",
        severity="warning",
    ),
    "H615": Explained(
        looks="Looks for columns whose every value is the mean target of the rows that hold it, to many digits.",
        why="Categories were replaced by the mean of their target over all rows, test rows included: each row knows "
        "part of its own answer.",
        way_out="Start from the categories and put scikit-learn's TargetEncoder into the pipeline.",
        severity="error",
    ),
}


INFO, WARNING, ERROR = "info", "warning", "error"
SEVERITIES = (INFO, WARNING, ERROR)  # from mild to grave


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A numbered finding about a table."""

    code: str  # a key of EXPLAINED
    severity: str  # "info", "warning" or "error"
    seen: str  # a sentence: what was seen, where, how sure
    columns: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)  # the numbers behind it, plain values
    instead: str = ""  # the way out, where this case has another than its number says

    @property
    def why(self) -> str:
        """Why it matters."""
        return EXPLAINED[self.code].why

    @property
    def way_out(self) -> str:
        """What to do about it."""
        return self.instead or EXPLAINED[self.code].way_out

    @property
    def message(self) -> str:
        """What was seen, why it matters, and the way out."""
        return f"{self.seen} {self.why} {self.way_out}"

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message}"


def shown(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """Names of columns for a message: the first few and how many there are.

    >>> shown(["a", "b"]), shown(list("abcdefg"))
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    first = ", ".join(repr(name) for name in names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def findings_page() -> str:
    """The list as Markdown: a heading a number, what is looked at, why it matters, the way out, and its severity."""
    return "\n".join(_entry(code) for code in EXPLAINED)


def _entry(code: str) -> str:
    one = EXPLAINED[code]
    return (
        f"### {code}: {CODES[code]}\n\n"
        f"{one.looks}\n\n"
        f"- Why it matters: {one.why}\n"
        f"- The way out: {one.way_out}\n"
        f"- Severity: {one.severity}.\n"
    )
