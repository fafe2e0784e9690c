"""Exceptions as text: none of them can fail to be told, or fill the memory."""

from __future__ import annotations

from heldout.base.errors import LONGEST_MESSAGE, LONGEST_TRACEBACK, describe_error


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raised(error: Exception) -> BaseException:
    try:
        raise error
    except Exception as caught:
        return caught


def test_an_exception_that_cannot_be_shown_keeps_its_name_and_place() -> None:
    kind, message, trace = describe_error(raised(Mute()))
    assert (kind, message) == ("Mute", "(its message cannot be shown)")
    assert "raise error" in trace


def test_endless_words_keep_both_ends() -> None:
    kind, message, trace = describe_error(raised(ValueError("begin" + "x" * 5_000_000 + "end")))
    assert kind == "ValueError"
    assert message.startswith("begin")
    assert message.endswith("end")
    assert "characters left out" in message
    assert len(message) < LONGEST_MESSAGE + 100
    assert trace.startswith("Traceback")
    assert len(trace) < LONGEST_TRACEBACK + 100
