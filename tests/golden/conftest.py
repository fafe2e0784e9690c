"""Golden tests import their own package, and each runs its study in a folder of its own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import golden.studies  # noqa: F401  the first to enter the studies, whoever else imports them
