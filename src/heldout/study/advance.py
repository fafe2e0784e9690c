"""The only place where an answer changes the question."""

from __future__ import annotations

from dataclasses import replace

from heldout.study.choosing import choose
from heldout.study.panels import Chosen, Panel, Study
from heldout.study.tables import Tables


def advance(study: Study, tables: Tables) -> Study:
    """The study after its answered choices are made: the panels that waited for them know their candidate."""
    chosen: dict[str, Chosen] = dict(study.chosen)
    for choice in study.choices:
        if choice.key not in chosen and choice.panel in tables.panels and tables[choice.panel].complete:
            chosen[choice.key] = choose(study.search, tables[choice.panel])
    panels = tuple(_told(panel, chosen) for panel in study.panels)
    return replace(study, panels=panels, chosen=chosen)


def _told(panel: Panel, chosen: dict[str, Chosen]) -> Panel:
    if panel.candidates is not None or panel.waits_for not in chosen:
        return panel
    candidate = chosen[panel.waits_for].candidate
    # When every candidate failed there is nothing to test: an empty panel, which results report as failed.
    return replace(panel, candidates=range(0) if candidate is None else range(candidate, candidate + 1))


def give_up(study: Study) -> Study:
    """The study as it stands when nothing more is done: choices that were not made have no candidate, and say so."""
    nobody = Chosen(candidate=None, inside=None, tied=0)
    chosen = {**{choice.key: nobody for choice in study.choices}, **study.chosen}
    return replace(study, panels=tuple(_told(panel, chosen) for panel in study.panels), chosen=chosen)
