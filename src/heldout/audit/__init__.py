"""Checks around a study: leaks and traps in the data, and the ledger of looks at test sets across studies."""

from heldout.audit.ledger import Ledger, Look, MemoryLedger, list_looks
from heldout.audit.test_rows import TestRows

__all__ = ["Ledger", "Look", "MemoryLedger", "TestRows", "list_looks"]
