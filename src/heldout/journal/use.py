"""What a journal did for a study; and what stands in its place where none was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.kernels.step import Step, Work
from heldout.planner.checked_cells import Spot, SpotCheck
from heldout.study.answers import Answer, Tables

MOST_NAMED = 20


@dataclass(kw_only=True, eq=False)
class JournalUse:
    """What a journal did for a study. Printing it tells."""

    path: str
    study: bytes = b""  # the study's key, under which its summary is kept
    words: Mapping[str, Any] = field(default_factory=dict)  # what it asked
    recalled: int = 0  # cells whose answer was in the journal
    computed: int = 0  # cells that were computed
    repeats: list[str] = field(default_factory=list)  # cells that were answered twice, not alike
    unkept: str = ""  # why some answers could not be kept
    notes: list[str] = field(default_factory=list)  # damage

    def note_repeat(self, words: str) -> None:
        """A cell was answered twice, and not alike."""
        if words not in self.repeats and len(self.repeats) < MOST_NAMED:
            self.repeats.append(words)

    def __str__(self) -> str:
        words = f"{self.path}: {self.recalled:,} cells from the journal, {self.computed:,} computed"
        return "\n".join([words, *self.notes, *filter(None, [self.unkept])])


class NoJournal:
    """Knows nothing and keeps nothing. The methods are those that a stage of a study calls."""

    use: JournalUse | None = None
    answered = False  # the study came to its end

    def widened(self, work: Work) -> Work:
        """The work, with all kept of each answer that the journal is to hold."""
        return work

    def recall(self, steps: Sequence[Step], tables: Tables) -> list[Step]:
        """Put all answers that are known into the tables; the steps that are left, cut to what is not known."""
        return list(steps)

    def keep(self, step: Step, answers: Sequence[Answer], tables: Tables) -> Sequence[Answer]:
        """Keep the answers of a step; what of them belongs into the tables."""
        return answers

    def known_checks(self, spots: Sequence[Spot]) -> dict[str, SpotCheck]:
        """The spot checks that were made before, by the panel of their spot."""
        return {}

    def keep_checks(self, checks: Mapping[Spot, SpotCheck]) -> None:
        """Keep what spot checks found."""

    def drop(self, steps: Sequence[Step]) -> None:
        """Forget the cells of these steps, whose kernel failed its check; the study is asked again from its start."""
