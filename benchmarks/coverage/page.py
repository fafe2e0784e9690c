"""The page: tables in Markdown that read well in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.coverage.exchangeable import Rejections
from benchmarks.coverage.ledger import Row as Look
from benchmarks.coverage.null import Bias
from benchmarks.coverage.recipes import Shot
from benchmarks.coverage.settings import SETTINGS
from benchmarks.coverage.tally import OFTEN, SELDOM, SLACK, Row, verdict

INTRODUCTION = f"""# How often the intervals cover

Made by `make coverage`, from simulated data whose risks are known. Every number here comes from that run.

For each setting, recipe and interval method: how often the interval holds the *expected risk* of the learner at the
estimate's own training size, and how often the risk of the *predictor at hand*, which is the tested one for `Holdout`
and the one trained on all rows otherwise. Cross-validation promises the first only, a test set the second only; the
promised one is in bold. *naive fold t* is Student's t over folds as if they were independent: it is no method of
heldout, and is here to show what the others are for. ± is the Monte-Carlo error of the coverage.

A default must cover at least its level less {100 * SLACK:.0f} points, or else a warning computed from the losses
(H302 heavy tails, H303 too few test rows) must fire in at least {OFTEN:.0%} of the replications; where it covers, in at
most {SELDOM:.0%}."""


LIMITS = """The rule does not hold everywhere. These settings show where it breaks or nearly does; they do not count in
the summary. They were met while the defaults and warnings were tried out, on other seeds, and the settings above were
settled after that: the heavy-tailed one is larger and heavier than "few and heavy", where the warning fires too seldom;
the lasso and the tree are ones whose losses lean less than "small lasso" and "product tree", where it fires too often
or nearly; the tuned ridge has a weaker signal than "strong ridge". So the table above says that the rule can be kept in
such settings, and not how often it is kept in settings at large."""


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with columns of even width."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(text)


def defaults(rows: Sequence[Row], *, limit: bool = False) -> tuple[str, list[str]]:
    """The defaults of all recipes and their verdicts, and the verdicts alone; or those of the settings at the limit."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.is_default and SETTINGS[row.setting].limit == limit:
            groups.setdefault((row.setting, row.loss, row.recipe), []).append(row)
    verdicts = [verdict(group) for group in groups.values()]
    head = ("setting", "loss", "recipe", "method", "at .95", "at .90", "warns", "verdict")
    lines = [
        (
            group[0].setting,
            group[0].loss,
            group[0].recipe,
            group[0].method.split(": ")[-1],
            *(f"{row.covers:.3f} ± {row.error:.3f}" for row in group),
            f"{group[0].fires or 0:.0%}",
            said,
        )
        for group, said in zip(groups.values(), verdicts, strict=True)
    ]
    return grid(head, lines), verdicts


def all_methods(rows: Sequence[Row], setting: str, loss: str) -> str:
    """Every method in one setting."""
    chosen = [row for row in rows if (row.setting, row.loss) == (setting, loss)]
    head = ("recipe", "method", "level", "expected risk", "at hand", "width", "truth", "rows")
    return grid(head, [_line(row) for row in chosen])


def _line(row: Row) -> tuple[str, ...]:
    tested = row.recipe.startswith("Holdout")
    promised = f"**{row.covers:.3f}** ± {row.error:.3f}"
    expected, hand = (f"{row.expected:.3f}", promised) if tested else (promised, f"{row.at_hand:.3f}")
    truth = f"{row.truth.value:.4g}" + (f" ± {row.truth.error:.2g}" if row.truth.error else "")
    size = str(row.train_size)
    return (
        row.recipe,
        row.method,
        f"{row.level:.2f}",
        expected,
        hand,
        f"{row.width:.3g}",
        truth,
        size,
    )


def refusals(shots: Iterable[Shot]) -> str:
    """Which methods refuse which records, and why: each reason once."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for shot in shots:
        if shot.refused:
            reasons.setdefault((shot.method, _general(shot.refused)), {})[shot.recipe] = None
    lines = [(method, ", ".join(recipes), reason) for (method, reason), recipes in reasons.items()]
    return grid(("method", "recipes", "reason"), lines)


def _general(reason: str) -> str:
    """A reason without the number of parts, which differs from recipe to recipe."""
    head, found, _ = reason.partition(", and there are ")
    return f"{head}, and there are several" if found and reason.endswith("held-out parts") else reason


def settings_words(rows: Sequence[Row]) -> str:
    """What each setting is, and how many replications it got."""
    counts = {row.setting: max(r.replications for r in rows if r.setting == row.setting) for row in rows}
    return grid(
        ("setting", "what", "replications"), [(key, SETTINGS[key].words, str(count)) for key, count in counts.items()]
    )


def null_table(rows: Sequence[Bias]) -> str:
    """The bias of each estimate on null data."""
    return grid(
        ("estimate", "bias", "verdict"),
        [(row.words, f"{row.bias:+.4f} ± {row.error:.4f}", row.verdict) for row in rows],
    )


def comparison_table(rows: Sequence[Rejections]) -> str:
    """How often exchangeable learners were called different."""
    head = ("recipe", "loss", "method", "pairs", "rejects", "verdict")
    lines = [
        (row.recipe, row.loss, row.method, str(row.pairs), f"{row.share:.3f} (.050 ± {row.error:.3f})", row.verdict)
        for row in rows
    ]
    return grid(head, lines)


def ledger_table(rows: Sequence[Look]) -> str:
    """What is left of a test set under attack."""
    head = ("answer", "looks", "seen", "plain covers", "stated covers", "width", "verdict")
    lines = [
        (
            row.answer,
            str(row.looks),
            f"{row.accuracy:.3f}",
            f"{row.plain_covers:.3f}",
            f"{row.covers:.3f}",
            f"{row.width:.3f}",
            row.verdict,
        )
        for row in rows
    ]
    return grid(head, lines)
