"""Formats the facts of a result as text, HTML and figures; nothing is computed here."""
