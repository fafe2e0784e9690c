"""The journal: keeps every finished answer in one SQLite file, keyed by content, so that a study can be resumed."""

from heldout.journal.keys import unanswered
from heldout.journal.reader import JournalReader, list_studies, read_splits, read_summaries
from heldout.journal.store import Store, open_journal
from heldout.journal.studies import NAMES, comparison_key, keep_summary
from heldout.journal.study_journal import JournalUse, StudyJournal, journal_of

__all__ = [
    "NAMES",
    "JournalReader",
    "JournalUse",
    "Store",
    "StudyJournal",
    "comparison_key",
    "journal_of",
    "keep_summary",
    "list_studies",
    "open_journal",
    "read_splits",
    "read_summaries",
    "unanswered",
]
