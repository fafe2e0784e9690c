"""The six rows that many tests declare are a module beside them: this makes it importable from here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
