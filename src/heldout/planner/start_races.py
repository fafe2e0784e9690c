"""Starting a race: which candidates run together, which are answered at once, and whether a race can save anything.

Candidates that are read off one fit in the plan of the whole study race as one group, so that a race never takes more
fits than that plan. Transformers that candidates share are fitted again in each round of a part. What a kernel answers
in all training sets together is answered at once, and the others race against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from heldout.base.rowkeys import derive
from heldout.kernels.claims import candidates_of
from heldout.kernels.perform import FITS_EACH
from heldout.kernels.step import BRUTE, Step
from heldout.kernels.within import grow_branches
from heldout.planner.plan import PassRecord, Plan
from heldout.search.search import Search
from heldout.study.race import CandidateGroup, Race, RaceRule, begin, blocks, round_ends, weighed
from heldout.study.study import VALIDATION, Panel, Study
from heldout.task.task import Task

WITHIN, SHARE_FITS, RACE = "within", "share_fits", "race"
BY_FITS = frozenset({BRUTE, WITHIN, *FITS_EACH})  # kernels whose work grows with the candidates, as fits do


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaceStart:
    """Holds a study whose races have begun, or the same study and why they have not."""

    study: Study
    plan: Plan  # of the whole study
    refusal: str | None = None

    @property
    def raced(self) -> bool:
        return bool(self.study.races)


def start_races(study: Study, task: Task, plan: Plan) -> RaceStart:
    """Return the study with each of its validation panels in the first round of a race.

    `plan` is that of the study without races. Law: a race asks only for cells of the study, each at most once.
    """
    rule = study.race
    if rule is None:
        return RaceStart(study=study, plan=plan)
    groups, whole = _who_shares(plan.steps, study.search)
    refusal = _refusal(study, plan, groups, whole)
    if refusal is not None:
        return RaceStart(study=study, plan=plan, refusal=refusal)
    races, panels = {}, []
    for panel in study.panels:
        if panel.level == VALIDATION:
            race = _race(rule, panel, study, task, groups)
            first = begin(race, [number for number, group in enumerate(groups) if whole.issuperset(group)])
            races[panel.key] = first
            panel = replace(panel, asked=blocks(None, first))
        panels.append(panel)
    return RaceStart(study=replace(study, panels=tuple(panels), races=races), plan=plan)


def _race(rule: RaceRule, panel: Panel, study: Study, task: Task, groups: Sequence[tuple[int, ...]]) -> Race:
    splits, loss = study.splits[panel.splits], study.search.losses[0]
    order = range(len(splits))
    if not rule.exact:  # statistical bounds need parts in random order
        seed = derive(study.search.seed, RACE, task.content_key(splits.rows))
        order = np.random.default_rng(seed).permutation(len(splits)).tolist()
    race = Race(
        rule=rule,
        entrants=tuple(CandidateGroup(candidates=group) for group in groups),
        order=tuple(order),
        low=loss.low,
        high=loss.high,
        ratio=float(np.mean(splits.held_sizes) / np.mean(splits.train_sizes)),
    )
    return weighed(race, None if task.weight is None else splits.held_sums(task.weight))


def _who_shares(steps: Iterable[Step], search: Search) -> tuple[tuple[tuple[int, ...], ...], set[int]]:
    """Return all candidates, grouped by shared fit, and those that a kernel answers in all training sets together."""
    asked = [step for step in steps if VALIDATION in step.levels]
    whole = {candidate for step in asked if step.kernel not in BY_FITS for candidate in step.candidates}
    shared = sorted({step.candidates for step in asked if step.kernel == WITHIN})
    estimators = dict(candidates_of(search)) if shared else {}
    group_of = {candidate: [candidate] for candidate in range(len(search))}
    for candidates in shared:
        # Only candidates that share a whole fit of a training set, not just transformers or bins.
        for served in grow_branches((candidate, estimators[candidate]) for candidate in candidates).by_fit:
            joined = sorted(set(chain.from_iterable(group_of[candidate] for candidate in served)))
            group_of.update(dict.fromkeys(joined, joined))
    groups: dict[int, list[int]] = {}
    for candidate, group in group_of.items():
        groups.setdefault(candidate if candidate in whole else group[0], []).append(candidate)
    return tuple(map(tuple, groups.values())), whole


def _refusal(study: Study, plan: Plan, groups: Sequence[tuple[int, ...]], whole: set[int]) -> str | None:
    """Return why a race saves nothing here, or None."""
    if not study.choices:
        return "nothing is chosen"
    if len(study.search) < 2:
        return "there is one candidate"
    if len(whole) == len(study.search):
        return f"{_at_once(plan)}, and none is left to race"
    if len(groups) < 2:
        return "all candidates are read off one fit, so dropping some saves nothing"
    shared = next((record for record in plan.passes if record.name == SHARE_FITS and record.used), None)
    if shared is not None and shared.fits_after < shared.fits_before:
        return "folds share their fits, which saves more than a race that would part them"
    return None


def race_record(started: RaceStart, done: Sequence[Plan] = ()) -> PassRecord | None:
    """Return what the race did, or will do at most where no plan is `done` yet; None if no race was asked for."""
    rule = started.study.race
    if rule is None:
        return None
    if not started.raced:
        return PassRecord(name=RACE, fits_before=0, fits_after=0, refusals=(started.refusal or "",))
    before, words = fits_of(started.plan.steps), _words(rule)
    if kernels := _at_once(started.plan):
        words += f"; {kernels}, and the others race against them"
    if done:
        after = sum(fits_of(plan.steps) for plan in done)
        return PassRecord(name=RACE, fits_before=before, fits_after=after, used=True, note=words)
    rounds = max(len(round_ends(len(race.order))) for race in started.study.races.values())
    note = f"{words}; at most {before:,} fits, fewer as candidates are dropped after each of {rounds} rounds"
    return PassRecord(name=RACE, fits_before=before, fits_after=before, used=True, note=note)


def fits_of(steps: Iterable[Step]) -> int:
    """Return the number of validation fits, without what kernels answer at once, which does not race."""
    return sum(step.fits for step in steps if step.kernel in BY_FITS and VALIDATION in step.levels)


def _at_once(plan: Plan) -> str:
    """Return in words which candidates kernels answer at once; "" where there are none."""
    answered: dict[str, set[int]] = {}
    for step in plan.steps:
        if step.kernel not in BY_FITS and VALIDATION in step.levels:
            answered.setdefault(step.kernel, set()).update(step.candidates)
    return " and ".join(
        f"{kernel} answers {len(candidates):,} candidates together" for kernel, candidates in answered.items()
    )


def _words(rule: RaceRule) -> str:
    if rule.exact:
        return "exact: the choice is that of the whole table"
    about = "about " if rule.kind == "paired" else "at most "
    return f"{rule.kind}, tier statistical: each choice loses its best candidate with probability {about}{rule.level:g}"
