"""The one list of passes, in order, and the planning that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from heldout.base.errors import OptionError, did_you_mean
from heldout.kernels.claims import claim_each
from heldout.kernels.perform import ACROSS
from heldout.kernels.step import BRUTE, Training, cut_brute_force, plan_brute_force
from heldout.planner.evidence import EVIDENCE, ask_everywhere
from heldout.planner.pipeline_sharing import within
from heldout.planner.plan import Draft, PassRecord, Plan, Rule, general_refusal, ready_panels
from heldout.planner.share_fits import share_fits
from heldout.planner.shared_products import across
from heldout.planner.verify import verify
from heldout.study.study import Study
from heldout.task.task import Task

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
    """The plan of the panels that are ready: brute force, rewritten by each pass that is switched on.

    `clock`, where given, only times the passes; no choice depends on it.
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
    """The study as if every choice had fallen on its first candidate: to plan what waits before it is known."""
    panels = tuple(p if p.candidates is not None else replace(p, candidates=range(1)) for p in study.panels)
    return replace(study, panels=panels)


def check_rules(rules: Mapping[str, bool] | None) -> None:
    """Refuse switches for rules that do not exist."""
    known = [*(name for name, _ in PASSES), EVIDENCE]
    for name in rules or ():
        if name not in known:
            raise OptionError(f"There is no rule {name!r}. {did_you_mean(name, known)}")
