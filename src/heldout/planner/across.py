"""Rules that hand many training sets of one learner family to a kernel which answers them from shared products.

Law: the kernel's own, at its tier. A rule moves only the candidates that the kernel claims, in the trainings that it
does not refuse; the rest stays brute force.
"""

from __future__ import annotations

from heldout.kernels.claims import AcrossKernel
from heldout.kernels.step import Step, Training
from heldout.planner.brute_force import brute_step
from heldout.planner.draft import BRUTE, Draft, Rewrite, Rule, general_refusal, refused


def across(kernel: AcrossKernel) -> Rule:
    """The rule that uses this kernel."""

    def rule(draft: Draft) -> Rewrite:
        reason = general_refusal(draft)
        if reason is not None:
            return refused(reason)
        claims = kernel.claim(draft.search, draft.task)
        if not claims.groups:
            return refused(*claims.refusals)
        return _claimed(kernel, draft, claims.groups, claims.refusals)

    return rule


def _claimed(
    kernel: AcrossKernel, draft: Draft, groups: tuple[tuple[int, ...], ...], refusals: tuple[str, ...]
) -> Rewrite:
    reasons = list(refusals)
    taken: dict[tuple[int, ...], list[Training]] = {}
    left: list[Step] = []
    for step in draft.steps:
        shares, rest = _shares(step, groups) if step.kernel == BRUTE else ([], step.candidates)
        if not shares:
            left.append(step)
            continue
        accepted: list[Training] = []
        others: list[Training] = []
        for training in step.trainings:
            reason = _refusal(kernel, draft, training)
            if reason is None:
                accepted.append(training)
            else:
                others.append(training)
                reasons.append(reason)
        for share in shares if accepted else ():
            taken.setdefault(share, []).extend(accepted)
        if others:
            left.append(brute_step(step.candidates, tuple(others)))
        if rest and accepted:
            left.append(brute_step(rest, tuple(accepted)))
    if not taken:
        return refused(*reasons)
    steps = [_kernel_step(kernel, candidates, tuple(trainings)) for candidates, trainings in taken.items()]
    return Rewrite(steps=(*steps, *left), refusals=tuple(dict.fromkeys(reasons)))


def _refusal(kernel: AcrossKernel, draft: Draft, training: Training) -> str | None:
    if training.averaged or len(training.trains) != 1:
        return "the tested predictor is an average of several"
    return kernel.refuses(draft.search, draft.task, training, draft.splits)


def _shares(step: Step, groups: tuple[tuple[int, ...], ...]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The step's candidates by group of the kernel, and those of no group."""
    remaining = set(step.candidates)
    shares = []
    for group in groups:
        own = tuple(candidate for candidate in group if candidate in remaining)
        if own:
            shares.append(own)
            remaining.difference_update(own)
    return shares, tuple(candidate for candidate in step.candidates if candidate in remaining)


def _kernel_step(kernel: AcrossKernel, candidates: tuple[int, ...], trainings: tuple[Training, ...]) -> Step:
    return Step(
        kernel=kernel.name,
        rule=kernel.name,
        tier=kernel.tier,
        candidates=candidates,
        trainings=trainings,
        fits=len(trainings),
        spreads=True,
    )
