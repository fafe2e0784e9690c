"""What tests of several rooms start from: a question as `evaluate` asks it, checked and posed, with nothing fitted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heldout as ho
from heldout.api.question import prepare
from heldout.audit.ledger import MemoryLedger
from heldout.base.options import RULES_VARIABLE
from heldout.kernels.perform import ACROSS
from heldout.results.study_record import Question, Request

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))  # where pages are made from the code

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background job is deaf to interrupts and so are the programs it starts; tests interrupt theirs.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _ask(learner: Any, X: Any, y: Any, **request: Any) -> Question:
    roles = {role: request.pop(role, None) for role in ("groups", "time", "sample_weight", "strata")}
    return prepare(learner, X, y, Request(**{"test": ho.KFold(3), "roles": roles, **request}))


@pytest.fixture(scope="session")
def asked() -> Callable[..., Question]:
    return _ask


@pytest.fixture(autouse=True)
def fresh_ledger(monkeypatch: pytest.MonkeyPatch) -> MemoryLedger:
    """Tests share data sets, but no looks at them."""
    ledger = MemoryLedger()
    monkeypatch.setattr("heldout.audit.ledger.PROCESS_LEDGER", ledger)
    return ledger


@pytest.fixture
def identical_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only rules of the tier `identical`: for tests that ask for no difference at all to scikit-learn's own loops."""
    monkeypatch.setenv(RULES_VARIABLE, ",".join(f"{kernel.name}=off" for kernel in ACROSS))
