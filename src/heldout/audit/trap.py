"""Trap: a numbered finding about a table. This file also holds the meaning of each number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.base.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Explains a finding: what it says, why it matters and what to do. docs/check.md says how it is found."""

    title: str
    looks_for: str  # the title of the check, where nothing was found
    why: str
    way_out: str
    many: str = ""  # what several columns of one kind have in common: "3 columns …"


NOT_SEEN = ("columns that were chosen beforehand by looking at all rows; choose them inside the pipeline",)

EXPLAINED = {
    "H101": Explained(
        title="a class is too rare to be in every part",
        looks_for="classes too rare for every part",
        why="Some test parts will then hold no row of that class, and their errors tell nothing about it.",
        way_out="Use fewer folds, gather more rows of the class, or merge it with another.",
    ),
    "H601": Explained(
        title="rows are the same",
        looks_for="equal rows on both sides of a split",
        why="A copy in the training part gives the answer for its twin in the test part away, so the risk looks lower "
        "than it is.",
        way_out="Keep one of each, or declare copies as groups: check(…).groups holds a group for each row.",
    ),
    "H602": Explained(
        title="rows are nearly the same",
        looks_for="nearly equal rows on both sides of a split",
        why="Rows that are nearly copies (photographed twice, corrected once, jittered) tell each other's target "
        "across a split, so the risk looks lower than it is.",
        way_out="Declare what they come from as groups, or use check(…).groups, which holds a group for each row.",
    ),
    "H603": Explained(
        title="a column looks like an identifier",
        looks_for="identifiers",
        why="It tells rows apart, not what they are like: a learner that uses it learns rows by heart, or the order in "
        "which they were filed.",
        way_out="Leave the column out (--drop on the command line).",
        many="have a different value in each row",
    ),
    "H604": Explained(
        title="a column gives the target away",
        looks_for="columns that give the target away",
        why="A single column that good is mostly made from the target, or known only after it; where it will be "
        "missing or empty at prediction time, the risk measured here means nothing.",
        way_out="Ask when the column is filled in; leave it out (--drop on the command line) if that is after the "
        "target is known, else ignore this.",
        many="each explain most of the target alone",
    ),
    "H605": Explained(
        title="the target is among the columns under another name",
        looks_for="the target under another name",
        why="The learner will be asked for what it is told.",
        way_out="Leave the column out (--drop on the command line).",
        many="are the target under another name",
    ),
    "H606": Explained(
        title="rows look grouped, but no groups are declared",
        looks_for="groups that nobody declared",
        why="If new data bring new ones of these, rows of one of them on both sides of a split make the risk look "
        "lower than it will be.",
        way_out="Declare the column as groups (groups=…, --groups), or ignore this if the same ones come back.",
        many="hold repeated values whose rows agree",
    ),
    "H607": Explained(
        title="a column holds dates, but no time is declared",
        looks_for="dates where no time is declared",
        why="If later rows are to be predicted from earlier ones, random test parts let the future predict the past.",
        way_out="Declare the column as time (time=…, --time), or ignore this if the order means nothing.",
        many="hold dates, and no time is declared",
    ),
    "H608": Explained(
        title="neighbours in the file agree, but neither time nor groups are declared",
        looks_for="an order of the rows that matters",
        why="Neighbours that agree hint at time or groups that nobody declared; random test parts then lie between "
        "their own neighbours, and the risk looks lower than it is.",
        way_out="Declare time or groups; if the order means nothing, ignore this and keep shuffling.",
    ),
    "H609": Explained(
        title="the test part differs from the training part",
        looks_for="a test part unlike its training part",
        why="The test part then tells the risk on rows that are unlike the training rows, which is not the risk of a "
        "random split; it is right only if new data are like the test part.",
        way_out="Draw the test part at random, or keep it if it stands for what is to come.",
    ),
    "H610": Explained(
        title="a column holds one value, or none",
        looks_for="empty and constant columns",
        why="It can tell nothing; mostly something went wrong where the table was made.",
        way_out="Leave the column out (--drop on the command line), or mend the export.",
    ),
    "H611": Explained(
        title="missing values tell the target",
        looks_for="missing values that tell the target",
        why="Gaps often appear after the target is known, or because of it; when that is so they are a leak that "
        "imputing with indicators, or a tree, will use.",
        way_out="Ask why the values are missing; if it is because of the target, fill them at their source or leave "
        "the column out (--drop on the command line).",
        many="have missing values that explain the target",
    ),
    "H612": Explained(
        title="columns look scaled before the split",
        looks_for="scaling before the split",
        why="The scaling was learned from test rows too. That changes the risk little, but it cannot be repeated for "
        "new rows unless its numbers were kept.",
        way_out="Start from the raw values and put the scaler into the pipeline, where each training part has its own.",
    ),
    "H613": Explained(
        title="columns look filled in before the split",
        looks_for="gaps filled before the split",
        why="The gaps were filled with a number learned from test rows too, and which they were is lost.",
        way_out="Start from the values with gaps and put the imputer into the pipeline.",
    ),
    "H614": Explained(
        title="columns look like principal components made before the split",
        looks_for="principal components made before the split",
        why="Principal components (or a whitening) were learned from test rows too, and with many columns they adapt "
        "to them.",
        way_out="Start from the raw columns and put PCA into the pipeline.",
    ),
    "H615": Explained(
        title="a column looks like mean targets made before the split",
        looks_for="mean targets made before the split",
        why="Categories were replaced by the mean of their target over all rows, test rows included: each row knows "
        "part of its own answer.",
        way_out="Start from the categories and put scikit-learn's TargetEncoder into the pipeline.",
        many="hold the mean target of the rows with each value",
    ),
}

INFO, WARNING, ERROR = "info", "warning", "error"
SEVERITIES = (INFO, WARNING, ERROR)  # from mild to grave
MOST_SHOWN = 5  # columns that a finding names


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A numbered finding about a table."""

    code: str  # a key of EXPLAINED
    severity: str  # "info", "warning" or "error"
    seen: str  # a sentence: what was seen, where, how sure
    columns: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)  # the numbers behind it, plain values
    instead: str = ""  # what to do, if it differs from the general advice of its number
    told: str = ""  # of a single column: what was seen in a few words

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
        """What was seen, why it matters, and what to do."""
        return f"{self.seen} {self.why} {self.way_out}"

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message}"


def merge_columns(traps: Iterable[Trap]) -> list[Trap]:
    """Merge findings of one kind, each on a single column, into one finding that names the columns.

    >>> one, other = (Trap(code="H605", severity="error", seen="…", columns=(n,), told="equals it") for n in "ab")
    >>> merge_columns([one, other])[0].seen
    "2 columns are the target under another name: 'a' (equals it) and 'b' (equals it)."
    """
    kinds: dict[tuple[str, str, int | None], list[Trap]] = {}
    for trap in traps:
        alone = None if len(trap.columns) == 1 and EXPLAINED[trap.code].many else id(trap)
        kinds.setdefault((trap.code, trap.severity, alone), []).append(trap)
    return [_merged(kind) if alone is None else kind[0] for (_, _, alone), kind in kinds.items()]


def _merged(traps: list[Trap]) -> Trap:
    first, explained = traps[0], EXPLAINED[traps[0].code]
    columns = tuple(trap.columns[0] for trap in traps)
    numbers = {trap.columns[0]: trap.evidence for trap in traps if trap.evidence}
    if len(traps) == 1:
        return replace(first, evidence=numbers)
    names = [f"{trap.columns[0]!r} ({trap.told})" if trap.told else repr(trap.columns[0]) for trap in traps]
    last = f"{len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else names.pop()
    seen = f"{len(traps):,} columns {explained.many}: {', '.join(names[:MOST_SHOWN])} and {last}."
    way_out = explained.way_out.replace("the column", "such a column")
    return replace(first, seen=seen, columns=columns, evidence=numbers, instead=way_out, told="")


def parse_ignore(ignore: str | Iterable[str], *, known: Collection[str] = tuple(EXPLAINED)) -> tuple[str, ...]:
    """Parse finding codes from one comma-separated string or several strings; refuse codes that are not known.

    >>> parse_ignore("h603, H601")
    ('H601', 'H603')
    """
    words = [ignore] if isinstance(ignore, str) else list(ignore)
    if not all(isinstance(word, str) for word in words):
        raise OptionError('ignore= takes numbers of findings, such as "H601" or ["H601", "H603"].')
    codes = sorted({code.strip().upper() for word in words for code in word.split(",") if code.strip()})
    for code in codes:
        if code not in known:
            raise OptionError(f"check has no finding {code!r} to ignore. It has {', '.join(known)}.")
    return tuple(codes)


def shown(names: tuple[str, ...] | list[str], most: int = MOST_SHOWN) -> str:
    """Format column names for a message: the first few, and how many more there are.

    >>> shown(["a", "b"]), shown(list("abcdefg"))
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    first = ", ".join(repr(name) for name in names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
