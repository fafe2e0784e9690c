"""The journal: every finished answer in one SQLite file, keyed by content, so that a study goes on where it ended."""

from heldout.engine.journal.keys import unanswered
from heldout.engine.journal.opening import journal_of
from heldout.engine.journal.questions import list_studies, read_splits
from heldout.engine.journal.reading import JournalReader, read_summaries
from heldout.engine.journal.store import Store, open_journal
from heldout.engine.journal.summaries import comparison_key, keep_summary
from heldout.engine.journal.use import JournalUse, NoJournal

__all__ = [
    "JournalReader",
    "JournalUse",
    "NoJournal",
    "Store",
    "comparison_key",
    "journal_of",
    "keep_summary",
    "list_studies",
    "open_journal",
    "read_splits",
    "read_summaries",
    "unanswered",
]
