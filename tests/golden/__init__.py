"""The golden set: what may not change while the insides of heldout are rebuilt."""
