"""The list of passes, in order, and `make_plan`, which runs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from heldout.base.errors import OptionError, did_you_mean
from heldout.kernels.claims import claim_each
from heldout.kernels.perform import ACROSS, ask_everywhere
from heldout.kernels.step import BRUTE, Held, Plain, Training, cut_brute_force, plan_brute_force
from heldout.planner.evidence import EVIDENCE
from heldout.planner.pipeline_sharing import within
from heldout.planner.plan import Draft, PassRecord, Plan, Rule, general_refusal, ready_panels
from heldout.planner.share_fits import share_fits, train_keys
from heldout.planner.shared_products import across
from heldout.study.study import Panel, Study
from heldout.task.task import Task


def verify(draft: Draft, panels: Collection[Panel], *, after: str, known: dict[int, Training] | None = None) -> None:
    """Raise AssertionError, naming the pass, if the steps do not answer these panels. That would be a bug in heldout.

    `known` are trainings that were verified after an earlier pass, by id; new ones are added to it.
    """
    known = {} if known is None else known
    keys_of = cache(lambda splits: train_keys(draft.splits[splits], draft.task))
    counts = {p.key: np.zeros((len(p.candidates or ()), len(p.parts)), dtype=np.int16) for p in panels}
    asked = {p.key: p for p in panels}
    for step in draft.steps:
        if len(set(step.candidates)) < len(step.candidates):
            raise AssertionError(f"After pass {after!r}, a step names a candidate twice.")
        parts: dict[str, list[int]] = {}
        for piece in step.pieces:
            if isinstance(piece, Plain):
                if not _is_plainly_asked(asked.get(piece.panel), piece):
                    raise AssertionError(f"After pass {after!r}, {piece} are answered, which no panel asks.")
                parts.setdefault(piece.panel, []).extend(piece.parts)
        for training in [training for piece in step.pieces if not isinstance(piece, Plain) for training in piece]:
            new = id(training) not in known
            for held in training.answers:
                if new and (held.panel not in asked or not _is_asked(asked[held.panel], held, training, keys_of)):
                    raise AssertionError(
                        f"After pass {after!r}, {training.trains} are to answer {held}, which no panel asks."
                    )
                parts.setdefault(held.panel, []).append(held.part)
            if new:
                known[id(training)] = training  # kept alive, so that its identity stays its own
        for key, numbers in parts.items():
            panel = asked[key]
            candidates = panel.candidates if panel.candidates is not None else range(0)
            if not all(candidate in candidates for candidate in step.candidates):
                raise AssertionError(f"After pass {after!r}, a step answers candidates that {key!r} does not have.")
            places = np.ix_(np.array(step.candidates) - candidates.start, np.array(numbers) - panel.parts.start)
            if len(set(numbers)) < len(numbers):
                raise AssertionError(f"After pass {after!r}, a step answers a part of {key!r} twice.")
            counts[key][places] += 1
    for key, count in counts.items():
        wrong = int(np.count_nonzero(count != _expected(asked[key])))
        if wrong:
            raise AssertionError(f"After pass {after!r}, {wrong} cells of panel {key!r} are not answered exactly once.")


def _expected(panel: Panel) -> Any:
    """Return how often each cell is to be answered: once, or in a race 0 times where this round does not ask it."""
    if panel.asked is None:
        return 1
    times = np.zeros((len(panel.candidates or ()), len(panel.parts)), dtype=np.int16)
    for block in panel.asked:
        times[np.ix_(block.candidates, block.parts)] += 1
    return times


def _is_plainly_asked(panel: Panel | None, plain: Plain) -> bool:
    """Return whether the panel asks for these parts, each answered by a predictor of its own training rows."""
    if panel is None or panel.trains is not None or panel.averaged:
        return False
    inside = not plain.parts or (plain.parts[0] in panel.parts and plain.parts[-1] in panel.parts)
    return inside and (plain.level, plain.splits) == (panel.level, panel.splits)


def _is_asked(panel: Panel, held: Held, training: Training, keys_of: Callable[[str], list[Any]]) -> bool:
    """Return whether the panel asks for this held-out part, answered by a predictor trained on these rows.

    `keys_of` returns the keys of training rows; it is called only where a plan trains on another part's rows.
    """
    as_panel = (held.level, held.splits, training.averaged) == (panel.level, panel.splits, panel.averaged)
    if not as_panel or held.part not in panel.parts:
        return False
    wanted = panel.trains_of(held.part)
    same = training.trains == wanted
    return same or [keys_of(name)[part] for name, part in training.trains] == [keys_of(n)[part] for n, part in wanted]


PASSES: tuple[tuple[str, Rule], ...] = (
    ("share_fits", share_fits),
    *((kernel.name, across(kernel)) for kernel in ACROSS),
    ("within", within),
)


def make_plan(
    study: Study,
    task: Task,
    *,
    done: frozenset[str],
    rules: Mapping[str, bool] | None = None,
    own_fit_params: bool = False,
    precision: str = "rounding",
    limited: bool = False,
    clock: Callable[[], float] | None = None,
) -> Plan:
    """Plan the panels that are ready: brute force, rewritten by each pass that is switched on.

    `clock`, if given, only times the passes. No choice depends on it.
    """
    check_rules(rules)
    rules = {} if rules is None else rules
    panels = ready_panels(study, done)
    draft = Draft(
        steps=plan_brute_force(panels),
        search=study.search,
        splits=study.splits,
        task=task,
        asks_predictor=any(loss.asks_predictor for loss in (*study.reported, *study.search.losses)),
        own_fit_params=own_fit_params,
        precision=precision,
        limited=limited,
    )
    if general_refusal(draft) is None:
        kernels = [kernel for kernel in ACROSS if rules.get(kernel.name, True)]
        draft = replace(draft, claims=claim_each(kernels, study.search, task))
    known: dict[int, Training] = {}
    verify(draft, panels, after="brute force", known=known)
    records = []
    for name, rule in PASSES:
        if not rules.get(name, True):
            records.append(PassRecord(name=name, fits_before=0, fits_after=0, refusals=("switched off",)))
            continue
        started = clock() if clock else 0.0
        before = sum([step.fits for step in draft.steps])
        rewrite = rule(draft)
        if rewrite.steps is not None:
            draft = replace(draft, steps=rewrite.steps)
            verify(draft, panels, after=name, known=known)
        records.append(
            PassRecord(
                name=name,
                fits_before=before,
                fits_after=sum([step.fits for step in draft.steps]),
                refusals=rewrite.refusals,
                used=rewrite.steps is not None,
                note=rewrite.note,
                transforms=rewrite.transforms,
                seconds=(clock() - started) if clock else 0.0,
            )
        )
    if any(step.kernel == BRUTE for step in draft.steps):
        draft = replace(draft, steps=cut_brute_force(draft.steps))
        verify(draft, panels, after="cutting brute force", known=known)
    return Plan(steps=ask_everywhere(draft.steps, study, task), passes=tuple(records))


def stand_in(study: Study) -> Study:
    """Return the study as if every choice took its first candidate, to plan waiting panels before they are known."""
    panels = tuple(p if p.candidates is not None else replace(p, candidates=range(1)) for p in study.panels)
    return replace(study, panels=panels)


def check_rules(rules: Mapping[str, bool] | None) -> None:
    """Raise OptionError for switches of rules that do not exist."""
    known = [*(name for name, _ in PASSES), EVIDENCE]
    for name in rules or ():
        if name not in known:
            raise OptionError(f"There is no rule {name!r}. {did_you_mean(name, known)}")
