"""Shared by all rooms: errors, options, events, findings, seeds, row keys and small frozen values."""
