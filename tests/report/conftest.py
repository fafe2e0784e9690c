"""What a fragment must be is a module beside the tests: this makes it importable from here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
