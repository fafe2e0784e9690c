"""How often the intervals cover: simulated studies whose truth is known."""
