"""Where drawn splits come from: enough of the task to know it again, and to say what another task has different."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heldout.base.errors import SplitError
from heldout.task import Task
from heldout.task.pieces import ABSENT, task_pieces

ROLES = ("groups", "time", "sample_weight", "strata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The task that splits were drawn from, as fingerprints."""

    fingerprint: str
    pieces: Mapping[str, str]

    @classmethod
    def of(cls, task: Task) -> Origin:
        """The origin of splits drawn from this task."""
        return cls(fingerprint=task.fingerprint, pieces=task_pieces(task))

    def refuse_other(self, task: Task, *, who: str) -> None:
        """Raise a SplitError that says what differs, when the task is another one."""
        if task.fingerprint != self.fingerprint:
            raise SplitError(
                f"{who} were drawn from another task: {'; '.join(self.differences(task))}. Pass the data they were "
                "drawn from, with the same roles, or draw new splits."
            )

    def differences(self, task: Task) -> tuple[str, ...]:
        """What this task has different, in words; empty where it is the same."""
        if task.fingerprint == self.fingerprint:
            return ()
        then, now = self.pieces, task_pieces(task)
        if then.get("rows") != now["rows"]:
            return (f"it had {then.get('rows')} rows, this one has {now['rows']}",)
        found = []
        if then.get("columns") != now["columns"]:
            found.append("X has other columns")
        if then.get("kind") != now["kind"]:
            found.append(f"y was taken as {then.get('kind')}, here as {now['kind']}")
        if then.get("y") != now["y"]:
            found.append("y has other values, or in another order")
        elif then.get("values") != now["values"] and then.get("columns") == now["columns"]:
            found.append("X has other values, or in another order")
        found += [_role_words(role, then.get(role, ABSENT), now[role]) for role in ROLES if then.get(role) != now[role]]
        return tuple(found) or ("columns of X have other types",)


def _role_words(role: str, then: str, now: str) -> str:
    was, has = ("were", "have") if role in ("groups", "strata") else ("was", "has")
    if then == ABSENT:
        return f"{role} {was} not declared then"
    if now == ABSENT:
        return f"{role} {was} declared then, and not here"
    return f"{role} {has} other values"
