"""What users call: it wires the rooms below and holds nothing of its own."""
