"""The one list of passes, in order, and the planning that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heldout.base.errors import OptionError, did_you_mean
from heldout.kernels.step import Step
from heldout.planner.brute_force import plan_brute_force
from heldout.planner.plan import PassRecord, Plan, ready_panels
from heldout.planner.share_fits import share_fits
from heldout.planner.verify import verify
from heldout.splits.drawn import Splits
from heldout.study.panels import Study
from heldout.task.task import Task

Rule = Callable[[tuple[Step, ...], Mapping[str, Splits], Task], tuple[Step, ...] | None]

PASSES: tuple[tuple[str, Rule], ...] = (("share_fits", share_fits),)


def make_plan(study: Study, task: Task, *, done: frozenset[str], rules: Mapping[str, bool] | None = None) -> Plan:
    """The plan of the panels that are ready: brute force, rewritten by each pass that is switched on."""
    check_rules(rules)
    panels = ready_panels(study, done)
    steps = plan_brute_force(panels)
    verify(steps, panels, after="brute force")
    records = []
    for name, rule in PASSES:
        if rules is not None and not rules.get(name, True):
            continue
        before = sum(step.fits for step in steps)
        rewritten = rule(steps, study.splits, task)
        if rewritten is not None:
            steps = rewritten
            verify(steps, panels, after=name)
        records.append(PassRecord(name=name, fits_before=before, fits_after=sum(step.fits for step in steps)))
    return Plan(steps=steps, passes=tuple(records))


def check_rules(rules: Mapping[str, bool] | None) -> None:
    """Refuse switches for rules that do not exist."""
    known = [name for name, _ in PASSES]
    for name in rules or ():
        if name not in known:
            raise OptionError(f"There is no rule {name!r}. {did_you_mean(name, known)}")
