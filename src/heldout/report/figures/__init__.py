"""Draws figures with matplotlib, one file per figure, and describes each in words for readers who cannot see it."""
