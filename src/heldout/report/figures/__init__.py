"""From the plain values of a figure to matplotlib axes: one file a figure, each drawn and told from the same values."""
