"""Used by every room: errors, options, events, findings, seeds, row keys and small frozen values."""
