"""Findings: numbered remarks on a study that the reader should know, although they stop nothing."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.base.shown import html_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A numbered remark."""

    code: str  # docs/summary.md says what each number stands for
    severity: str  # "info", "warning" or "error"
    message: str

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message}"

    def _repr_html_(self) -> str:
        return html_of("finding", {"code": self.code, "severity": self.severity, "message": self.message})
