"""What the figures of a report show, as plain values: counted once from a result's facts, drawn elsewhere."""
