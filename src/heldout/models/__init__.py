"""Model files: written, read, checked, and asked about new rows."""
