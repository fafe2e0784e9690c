"""The journal: every finished answer in one SQLite file, keyed by content, so that a study goes on where it ended."""

from heldout.engine.journal.opening import journal_of
from heldout.engine.journal.questions import list_studies, read_splits
from heldout.engine.journal.store import Store, open_journal
from heldout.engine.journal.use import JournalUse, NoJournal

__all__ = ["JournalUse", "NoJournal", "Store", "journal_of", "list_studies", "open_journal", "read_splits"]
