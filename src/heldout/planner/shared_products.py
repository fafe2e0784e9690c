"""Rules that hand many training sets of one learner family to a kernel which answers them from shared products.

Law: the kernel's own, at its tier. A rule moves only the candidates that the kernel claims, in the trainings that it
does not refuse; the rest stays brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heldout.kernels.claims import AcrossKernel
from heldout.kernels.step import Step
from heldout.kernels.trainings import Plain, Training, join, pieces_of, splits_of
from heldout.planner.brute_force import brute_step
from heldout.planner.plan import BRUTE, Draft, Rewrite, Rule, general_refusal, refused, too_loose

TRAININGS_A_STEP = 16  # of kernels that make every candidate's fit


def across(kernel: AcrossKernel) -> Rule:
    """The rule that uses this kernel."""

    def rule(draft: Draft) -> Rewrite:
        reason = general_refusal(draft)
        if reason is not None:
            return refused(reason)
        claims = draft.claims[kernel.name]
        if not claims.groups:
            return refused(*claims.refusals)
        if (loose := too_loose(kernel.tier, draft)) is not None:
            return refused(loose)
        if draft.limited and getattr(kernel, "fits_each", None):
            return refused("fit_timeout and fit_memory end single fits, and it makes many together")
        return _claimed(kernel, draft, claims.groups, claims.refusals)

    return rule


def _claimed(
    kernel: AcrossKernel, draft: Draft, groups: tuple[tuple[int, ...], ...], refusals: tuple[str, ...]
) -> Rewrite:
    reasons = list(refusals)
    taken: dict[tuple[int, ...], list[Sequence[Training]]] = {}
    left: list[Step] = []
    for step in draft.steps:
        shares, rest = _shares(step, groups) if step.kernel == BRUTE else ([], step.candidates)
        if not shares:
            left.append(step)
            continue
        accepted, others, why = _sort_out(kernel, draft, step)
        reasons += why
        for share in shares if len(accepted) else ():
            taken.setdefault(share, []).append(accepted)
        if len(others):
            left.append(brute_step(step.candidates, others))
        if rest and len(accepted):
            left.append(brute_step(rest, accepted))
    if not taken:
        return refused(*reasons)
    saved = _shares_of(kernel)
    steps = [
        _kernel_step(kernel, draft, candidates, run)
        for candidates, trainings in taken.items()
        for run in (_in_runs(join(trainings)) if saved else [join(trainings)])
    ]
    note = f"which share their {saved}" if saved else ""
    return Rewrite(steps=(*steps, *left), refusals=tuple(dict.fromkeys(reasons)), note=note)


def _in_runs(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    """Several steps of a kernel whose work is long, so that one that is interrupted does not lose all of it."""
    for start in range(0, len(trainings), TRAININGS_A_STEP):
        yield trainings[start : start + TRAININGS_A_STEP]


def _shares_of(kernel: AcrossKernel) -> str:
    """What the fits of a kernel share that makes every one of them; "" for one whose work does not count as fits."""
    return str(getattr(kernel, "fits_each", ""))


def _sort_out(
    kernel: AcrossKernel, draft: Draft, step: Step
) -> tuple[Sequence[Training], Sequence[Training], list[str]]:
    """The step's trainings that the kernel accepts, those it refuses, and why."""
    accepted: list[Sequence[Training]] = []
    others: list[Training] = []
    reasons: list[str] = []
    for piece in pieces_of(step.trainings):
        if isinstance(piece, Plain) and _takes_all(kernel, draft, piece):
            accepted.append(piece)
            continue
        for training in piece:
            reason = _refusal(kernel, draft, training)
            if reason is None:
                accepted.append((training,))
            else:
                others.append(training)
                reasons.append(reason)
    return join(accepted), tuple(others), reasons


def _takes_all(kernel: AcrossKernel, draft: Draft, plain: Plain) -> bool:
    ask = getattr(kernel, "takes_all", None)
    return ask is not None and bool(ask(draft.search, draft.task, plain.parts, draft.splits[plain.splits]))


def _refusal(kernel: AcrossKernel, draft: Draft, training: Training) -> str | None:
    if training.averaged or len(training.trains) != 1:
        return "the tested predictor is an average of several"
    return kernel.refuses(draft.search, draft.task, training, draft.splits)


def _shares(step: Step, groups: tuple[tuple[int, ...], ...]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The step's candidates by group of the kernel, and those of no group."""
    remaining = set(step.candidates)
    shares = []
    for group in groups:
        share = tuple(candidate for candidate in group if candidate in remaining)
        if share:
            shares.append(share)
            remaining.difference_update(share)
    return shares, tuple(candidate for candidate in step.candidates if candidate in remaining)


def _kernel_step(
    kernel: AcrossKernel, draft: Draft, candidates: tuple[int, ...], trainings: Sequence[Training]
) -> Step:
    return Step(
        kernel=kernel.name,
        rule=kernel.name,
        tier=kernel.tier,
        candidates=candidates,
        trainings=trainings,
        fits=_count_fits(kernel, draft, candidates, trainings),
        spreads=True,
    )


def _count_fits(kernel: AcrossKernel, draft: Draft, candidates: tuple[int, ...], trainings: Sequence[Training]) -> int:
    """One fit a training set, or a candidate too where it makes each; for leave-one-out what the kernel says."""
    one_out = {name: _one_out_fits(kernel, draft, name) for name in splits_of(trainings)}
    known = {name: fits for name, fits in one_out.items() if fits is not None}
    others = 0
    for piece in pieces_of(trainings):
        names = [piece.splits] * len(piece.parts) if isinstance(piece, Plain) else [t.trains[0].splits for t in piece]
        others += sum([name not in known for name in names])
    return others * (len(candidates) if _shares_of(kernel) else 1) + len(candidates) * sum(known.values())


def _one_out_fits(kernel: AcrossKernel, draft: Draft, name: str) -> int | None:
    ask, splits = getattr(kernel, "one_out_fits", None), draft.splits[name]
    if ask is None or splits.train is not None or int(splits.held_sizes.max()) > 1:
        return None
    fits: int | None = ask(draft.task, splits)
    return fits
