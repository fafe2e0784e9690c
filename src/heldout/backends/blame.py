"""What a call is blamed for when its workers died, in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.backends.child import Ending
from heldout.base.amounts import show_bytes

DIED, OUT_OF_MEMORY = "WorkerDied", "OutOfMemory"
# A worker that crashed did so by its own doing, so once more is enough; one that was killed may have been unlucky.
TRIES_OF_CRASHES, TRIES_OF_KILLS = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a call has no value: the exception's type name, message and traceback; or kind ``WorkerDied``."""

    kind: str
    message: str
    traceback: str = ""


def tries(ending: Ending) -> int:
    """How often a call is tried, the first time included, when workers end like this."""
    return TRIES_OF_KILLS if ending.killed else TRIES_OF_CRASHES


def failure_of_death(ending: Ending, *, lost: tuple[str, ...], words: str, out_of_memory: bool) -> Failure:
    """Why a call has no value after the last of its workers died.

    `lost` says how each of them ended, `words` is what the last one wrote, and `out_of_memory` whether the system says
    that it killed a process for memory meanwhile.
    """
    size = f" Its process held {show_bytes(ending.peak)} at most." if ending.peak else ""
    again = f" It was tried {len(lost)} times, the last time with nothing beside it." if len(lost) > 1 else ""
    if ending.killed and out_of_memory:
        text = f"The system killed this fit for memory: {ending}.{size}{again}"
        return Failure(kind=OUT_OF_MEMORY, message=f"{text} Use fewer jobs, a smaller model, or a larger machine.")
    hint = " If memory was short, use fewer jobs." if ending.killed else ""
    return Failure(kind=DIED, message=f"This fit ended its process: {ending}.{size}{again}{hint}", traceback=words)
