"""Rules that hand many training sets of one learner family to a kernel, which answers them from shared products.

Law: the kernel's own, at its tier. A rule moves only the candidates that the kernel claims, in the trainings that it
does not refuse. The rest stays brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heldout.kernels.claims import AcrossKernel, sort_out, step_of
from heldout.kernels.step import BRUTE, Step, Training, brute_step, join
from heldout.planner.plan import Draft, Rewrite, Rule, general_refusal, refused, too_loose

TRAININGS_A_STEP = 16  # for kernels that still fit every candidate


def across(kernel: AcrossKernel) -> Rule:
    """Return the rule that uses this kernel."""

    def rule(draft: Draft) -> Rewrite:
        reason = general_refusal(draft)
        if reason is not None:
            return refused(reason)
        claims = draft.claims[kernel.name]
        if not claims.groups:
            return refused(*claims.refusals)
        if (loose := too_loose(kernel.tier, draft)) is not None:
            return refused(loose)
        if draft.limited and kernel.fits_each:
            return refused("fit_timeout and fit_memory end single fits, and it makes many together")
        return _claimed(kernel, draft, claims.groups, claims.refusals)

    return rule


def _claimed(
    kernel: AcrossKernel, draft: Draft, groups: tuple[tuple[int, ...], ...], refusals: tuple[str, ...]
) -> Rewrite:
    reasons = list(refusals)
    taken: dict[tuple[int, ...], list[Sequence[Training]]] = {}
    left: list[Step] = []
    shares = [_shares(step, groups) if step.kernel == BRUTE else ([], step.candidates) for step in draft.steps]
    asked = [step for step, (own, _) in zip(draft.steps, shares, strict=True) if own]
    sorted_out = iter(sort_out(kernel, asked, draft.search, draft.task, draft.splits))
    for step, (own, rest) in zip(draft.steps, shares, strict=True):
        if not own:
            left.append(step)
            continue
        accepted, others, why = next(sorted_out)
        reasons += why
        for share in own if len(accepted) else ():
            taken.setdefault(share, []).append(accepted)
        if len(others):
            left.append(brute_step(step.candidates, others))
        if rest and len(accepted):
            left.append(brute_step(rest, accepted))
    if not taken:
        return refused(*reasons)
    saved = kernel.fits_each
    steps = [
        step_of(kernel, candidates, run, draft.task, draft.splits)
        for candidates, trainings in taken.items()
        for run in (_in_runs(join(trainings)) if saved else [join(trainings)])
    ]
    note = f"which share their {saved}" if saved else ""
    return Rewrite(steps=(*steps, *left), refusals=tuple(dict.fromkeys(reasons)), note=note)


def _in_runs(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    """Yield runs of trainings, one step each, so that an interruption does not lose all of a long step."""
    for start in range(0, len(trainings), TRAININGS_A_STEP):
        yield trainings[start : start + TRAININGS_A_STEP]


def _shares(step: Step, groups: tuple[tuple[int, ...], ...]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Return the step's candidates by group of the kernel, and those of no group."""
    remaining = set(step.candidates)
    shares = []
    for group in groups:
        share = tuple(candidate for candidate in group if candidate in remaining)
        if share:
            shares.append(share)
            remaining.difference_update(share)
    return shares, tuple(candidate for candidate in step.candidates if candidate in remaining)
