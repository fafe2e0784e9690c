"""The less used switches of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from heldout.base.errors import OptionError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The less used switches of a study.

    Parameters
    ----------
    rules : dict, optional
        Rules of the planner switched on or off by name, for bug hunts: ``{"share_fits": False}``.
    pool : bool
        Estimate the risk by the mean over all held-out rows, instead of the mean of the fold means.
    queue_seed : int, optional
        Do the steps of a plan in a random order. The numbers do not change; a bug might show.

    Examples
    --------
    >>> import heldout as ho
    >>> ho.Options(pool=True).pool
    True
    """

    rules: Mapping[str, bool] | None = None
    pool: bool = False
    queue_seed: int | None = None

    def __new__(cls, **given: Any) -> Self:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise OptionError(f"There is no option {name!r}. {did_you_mean(name, known)}")
        return object.__new__(cls)

    def __post_init__(self) -> None:
        if not isinstance(self.pool, bool):
            raise OptionError(f"pool= is True or False, not {self.pool!r}.")
        if self.queue_seed is not None and (isinstance(self.queue_seed, bool) or not isinstance(self.queue_seed, int)):
            raise OptionError(f"queue_seed= is a whole number or None, not {self.queue_seed!r}.")
        if self.rules is not None and not isinstance(self.rules, Mapping):
            raise OptionError(f'rules= is a dict such as {{"share_fits": False}}, not {self.rules!r}.')

    def __reduce__(self) -> tuple[Any, ...]:
        return (_make, ({field.name: getattr(self, field.name) for field in fields(self)},))


def _make(values: dict[str, Any]) -> Options:
    return Options(**values)


RULES_VARIABLE = "HELDOUT_RULES"


def switched_rules(rules: Mapping[str, bool] | None, environ: Mapping[str, str]) -> dict[str, bool]:
    """The rules switched by the environment (``HELDOUT_RULES=ridge=off,within=off``), then by the options.

    >>> switched_rules({"within": True}, {"HELDOUT_RULES": "ridge=off,within=off"})
    {'ridge': False, 'within': True}
    """
    switches: dict[str, bool] = {}
    for word in filter(None, environ.get(RULES_VARIABLE, "").split(",")):
        name, _, state = word.strip().partition("=")
        if state not in ("on", "off"):
            raise OptionError(f"{RULES_VARIABLE} takes name=on or name=off, separated by commas, not {word!r}.")
        switches[name] = state == "on"
    return {**switches, **(rules or {})}
