"""What the library says, in the words of the command line: errors and findings name options, not arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_SAID = {
    "leave journal= out": "add --no-journal",
    "Leave journal= out": "Add --no-journal",
    "with another journal, or options=Options(journal_anew=True)": "with --anew, or with another file by --journal",
    ', or keep less: options=Options(journal_detail="summaries")': "",
    'Options(answer="rounded") or "pass/fail:…"': "--answer rounded or --answer pass/fail:…",
    "Options(fit_timeout=…)": "--fit-timeout",
    "Options(fit_memory=…)": "--fit-memory",
    "With journal=… what finished is kept, and the same call": "What finished is kept, and the same command",
    "or name another journal": "or name another by --journal, or add --no-journal",
    "sample_weight=…": "--weights",
    "groups= and time=": "--groups and --time",
    "Forward(5, buffer=…)": "--test forward:5 --buffer …",
    "validation=SharedBlocks()": "--validation shared",
    "pool=True": "--pool",
    "pool=False": "--no-pool",
    "Leave pool out": "Leave --pool out",
}
_ARGUMENT = re.compile(r"\b(groups|time|strata|test|validation|loss|level|seed|jobs|buffer|embargo|interval)=…")
_LIMIT = re.compile(r"^(timeout|fit_timeout|fit_memory|jobs)=(?=[ \d-]) ?")
_NAMED = re.compile(r"""\b(choose|interval|answer)=(["'])([\w/:.-]+)\2""")
_STRATEGY = re.compile(r"\b(?:(test|validation)=)?(KFold|Holdout|Resample|Forward)\(([\d.]+|…)\)")
_WHOLE = {"LeaveOneOut()": "loo", "SharedBlocks()": "shared"}


def in_words_of_the_command(text: str) -> str:
    """A message of the library for people at a terminal.

    >>> in_words_of_the_command("Forward(5) needs time, but the task has none. Pass time=…, or use KFold.")
    'forward:5 needs time, but the task has none. Pass --time, or use KFold.'
    >>> in_words_of_the_command('Use validation=KFold(…) or LeaveOneOut(), or choose="best".')
    'Use --validation kfold:… or loo, or --choose best.'
    """
    for said, instead in {**_SAID, **_WHOLE}.items():
        text = text.replace(said, instead)
    text = _LIMIT.sub(lambda m: f"--{m[1].replace('_', '-')} ", text)
    text = _NAMED.sub(r"--\1 \3", _ARGUMENT.sub(r"--\1", text))
    return _STRATEGY.sub(lambda m: (f"--{m[1]} " if m[1] else "") + f"{m[2].lower()}:{m[3]}", text)


def shell_line(words: Sequence[str]) -> str:
    r"""A command line to be copied: exact for the shell, and with nothing in it that a terminal would act on.

    >>> shell_line(["heldout", "check", "my table.csv"])
    "heldout check 'my table.csv'"
    >>> print(shell_line(["heldout", "check", "red\x1b[31m's.csv"]))
    heldout check $'red\x1b[31m\'s.csv'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _spelt(word) for word in words)


def _spelt(word: str) -> str:
    """A word with the bytes of its unprintable characters spelt out, in the quotes of shells for that."""
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    bytes_of = "".join(
        one if one.isprintable() else "".join(f"\\x{byte:02x}" for byte in one.encode("utf-8", "surrogateescape"))
        for one in plain
    )
    return f"$'{bytes_of}'"
