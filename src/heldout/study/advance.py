"""The only place where an answer changes the question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heldout.study.answers import PanelTable, Tables
from heldout.study.choose import choose
from heldout.study.race import Block, blocks, next_round
from heldout.study.study import Chosen, Panel, Study


def advance(study: Study, tables: Tables) -> Study:
    """The study after its answered choices are made: the panels that waited for them know their candidate.

    A panel that is raced and has its round answered asks for the next one.
    """
    study = _raced(study, tables)
    chosen: dict[str, Chosen] = dict(study.chosen)
    for choice in study.choices:
        if choice.key not in chosen and is_answered(study, tables, choice.panel):
            chosen[choice.key] = choose(study.search, tables[choice.panel])
    panels = tuple(_told(panel, chosen) for panel in study.panels)
    return replace(study, panels=panels, chosen=chosen)


def is_answered(study: Study, tables: Tables, panel: str) -> bool:
    """Whether a panel has all the answers that it will get."""
    raced = study.races.get(panel)
    return panel in tables.panels and (tables[panel].complete if raced is None else raced.over)


def _raced(study: Study, tables: Tables) -> Study:
    races, panels = dict(study.races), list(study.panels)
    for number, panel in enumerate(panels):
        if panel.asked is None or panel.key not in tables.panels or not _has_all(tables[panel.key], panel.asked):
            continue
        before = races[panel.key]
        races[panel.key] = after = next_round(before, tables[panel.key].losses[:, :, 0])
        panels[number] = replace(panel, asked=None if after.over else blocks(before, after))
    return replace(study, races=races, panels=tuple(panels))


def _has_all(table: PanelTable, asked: tuple[Block, ...]) -> bool:
    return all(bool(table.answered[np.ix_(block.candidates, block.parts)].all()) for block in asked)


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
