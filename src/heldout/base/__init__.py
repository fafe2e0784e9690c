"""What every room stands on: errors, seeds, row keys, losses and small frozen values."""
