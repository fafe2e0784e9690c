"""Writes, reads and checks model files, and predicts new rows with them."""
