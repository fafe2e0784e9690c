"""Findings: numbered remarks on a study that the reader should know, though they stop nothing."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.base.shown import html_of

# What each number stands for; the message says the rest.
CODES = {
    "H101": "a class is too rare to be in every part",
    "H102": "validation keeps rows less far apart than the test does",
    "H103": "time is declared, and the splits that were given do not follow it",
    "H104": "the learner mostly answers the commoner class, and stratified folds make that look too good",
    "H201": "fits gave warnings",
    "H202": "fits failed",
    "H203": "candidates could not be chosen because a fit of theirs failed",
    "H204": "the predictor that was made again does not repeat its recorded predictions",
    "H205": "a kernel did not repeat what brute force says, so brute force was used instead",
    "H206": "worker processes died, and what they were at was run again",
    "H207": "the time of the study was up before its end",
    "H208": "a race dropped candidates before they were run on every validation part",
    "H209": "a race was called off, because a loss was outside the range that it declares",
    "H210": "leave-one-out was approximated",
    "H301": "the loss that chooses is not the loss that is reported",
    "H302": "a few large losses decide the mean, so intervals of it miss more often than they say",
    "H303": "too few test rows for an interval of an unbounded loss",
    "H304": "there are more columns than training rows",
    "H305": "a least-squares learner has nearly as many parameters as training rows",
    "H306": "there are few groups, or a few large ones decide, and an interval counts groups, not rows",
    "H307": "most probabilities lie at the threshold, so predicted classes change easily",
    "H308": "a class has too few rows, true or predicted, for the interval of this score",
    "H309": "the fold predictors disagree with each other nearly as much as with the truth",
    "H401": "these test rows were looked at before, and the interval is widened for it",
    "H402": "these test rows were looked at before, and no bound can account for it",
    "H403": "these test rows were looked at so often that the interval tells nothing",
    "H501": "an answer that was computed twice is not the same: the learner is not deterministic",
    "H502": "the journal was damaged",
    "H503": "some answers could not be kept in the journal",
    "H601": "rows are the same",
    "H602": "rows are nearly the same",
    "H603": "a column looks like an identifier",
    "H604": "a column gives the target away",
    "H605": "the target is among the columns under another name",
    "H606": "rows look grouped, but no groups are declared",
    "H607": "a column holds dates, but no time is declared",
    "H608": "neighbours in the file agree, but neither time nor groups are declared",
    "H609": "the test part differs from the training part",
    "H610": "a column holds one value, or none",
    "H611": "missing values tell the target",
    "H612": "columns look scaled before the split",
    "H613": "columns look filled in before the split",
    "H614": "columns look like principal components made before the split",
    "H615": "a column looks like mean targets made before the split",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A numbered remark."""

    code: str  # a key of CODES
    severity: str  # "info", "warning" or "error"
    message: str

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message}"

    def _repr_html_(self) -> str:
        return html_of("finding", {"code": self.code, "severity": self.severity, "message": self.message})
