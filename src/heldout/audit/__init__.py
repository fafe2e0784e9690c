"""What goes wrong around a study rather than in it: looks at test sets, kept in a ledger across studies."""

from heldout.audit.ledger import Ledger, Look, MemoryLedger, list_looks
from heldout.audit.test_rows import TestRows

__all__ = ["Ledger", "Look", "MemoryLedger", "TestRows", "list_looks"]
