"""What a race drops candidates by, and where it can be had."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from heldout.base.errors import Argument, OptionError, Sentence, Splitter
from heldout.base.options import Options
from heldout.risk.races import FEWEST
from heldout.search.search import Search

SEVERAL_PARTS = (Argument("validation", Splitter("KFold", "…")), Splitter("Resample", "…"))

EXACT, HOEFFDING, BERNSTEIN, PAIRED = "exact", "hoeffding", "bernstein", "paired"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRule:
    """Which bound drops candidates, and how probable it may be that it drops the best of a choice."""

    kind: str
    level: float = 0.05

    @property
    def exact(self) -> bool:
        return self.kind == EXACT


def race_of(options: Options) -> RaceRule | None:
    """The race that was asked for."""
    return None if options.race is None else RaceRule(kind=options.race, level=options.race_level)


def check_race(rule: RaceRule | None, search: Search, parts: int) -> None:
    """Refuse a race where its bound says nothing of the choice, with the way out."""
    if rule is None:
        return
    loss, name = search.losses[0], f'race="{rule.kind}"'
    if search.choose != "best":
        raise OptionError(
            f"{name} drops candidates that cannot have the smallest mean, but choose={_shown(search)} asks for "
            "another.",
            Sentence("Use {}, or leave race out.", Argument("choose", "best")),
        )
    if parts < 2:
        raise OptionError(
            f"{name} drops candidates between validation parts, but there is one.",
            Sentence("Use {} or {}, or leave race out.", *SEVERAL_PARTS),
        )
    if rule.exact and not isfinite(loss.low):
        raise OptionError(
            f"{name} needs to know the smallest loss there is, and {loss.name!r} has none. Use a loss such as "
            '"zero_one" or "squared", or race="paired", or leave race out.'
        )
    if rule.kind in (HOEFFDING, BERNSTEIN) and not (isfinite(loss.low) and isfinite(loss.high)):
        raise OptionError(
            f"{name} needs a loss of bounded range, and {loss.name!r} has none. Use a bounded loss such as "
            '"zero_one", or race="exact" or "paired", or leave race out.'
        )
    if not isfinite(loss.low) and parts <= FEWEST:
        raise OptionError(
            f"{name} needs {FEWEST} of the validation parts before it drops anybody, but there are {parts} in all. Use "
            "more parts, or leave race out."
        )
    error = search.error_score
    if isinstance(error, float | int) and isfinite(error) and not loss.low <= -error <= loss.high:
        raise OptionError(
            f"{name} needs every loss in its range, but error_score={error:g} is none of {loss.name!r}. Use "
            "error_score=nan, or leave race out."
        )


def _shown(search: Search) -> str:
    return f'"{search.choose}"' if isinstance(search.choose, str) else "a function"
