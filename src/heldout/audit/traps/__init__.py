"""Traps in a table that make a risk look better than it is: one file a finding, each a function of the table alone."""

from heldout.audit.traps.catalogue import EXPLAINED, NOT_SEEN, Explained
from heldout.audit.traps.look import Looked, look
from heldout.audit.traps.table import Table, open_table
from heldout.audit.traps.trap import SEVERITIES, Trap

__all__ = ["EXPLAINED", "NOT_SEEN", "SEVERITIES", "Explained", "Looked", "Table", "Trap", "look", "open_table"]
