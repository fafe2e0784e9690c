"""Rule `within`: candidates of one training set share Pipeline prefixes, and values on a path share one fit.

Law: equal inputs, parameters and seeds give equal fits; the answers of all values on a path are read off its largest
fit bit for bit. Tier: identical. It must refuse a Pipeline with a memory of its own, and averaged predictors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from heldout.kernels.claims import AVERAGED, candidates_of
from heldout.kernels.paths import PATHS
from heldout.kernels.step import BRUTE, Plain, Step, brute_step
from heldout.kernels.within import Branch, grow_branches
from heldout.planner.plan import Draft, Rewrite, general_refusal, refused, transform_words
from heldout.search.search import Family, Search

NOTHING_SHARED = "no two candidates share a Pipeline step, and no parameter has a path"
MOST_CANDIDATES = 100_000  # planning builds every estimator, which is not cheap for more


def within(draft: Draft) -> Rewrite:
    """Group the candidates of each brute-force step by what they can share."""
    reason = general_refusal(draft)
    if reason is not None:
        return refused(reason)
    trees: dict[tuple[int, ...], tuple[Branch, ...] | str] = {}
    steps: list[Step] = []
    reasons: list[str] = []
    before = after = 0
    for step in draft.steps:
        if step.kernel != BRUTE or len(step.candidates) < 2:
            steps.append(step)
            continue
        pieces = [piece for piece in step.pieces if not isinstance(piece, Plain)]
        averaged = any(training.averaged or len(training.trains) != 1 for piece in pieces for training in piece)
        if not averaged and step.candidates not in trees:
            trees[step.candidates] = _branches(draft.search, step.candidates, reasons)
        tree = AVERAGED if averaged else trees[step.candidates]
        if isinstance(tree, str):
            reasons.append(tree)
            steps.append(step)
        else:
            steps += _split(step, tree)
            before += len(step.trainings) * sum(part.transforms_alone for part in tree)
            after += len(step.trainings) * sum(part.transforms for part in tree)
    if all(isinstance(tree, str) for tree in trees.values()):
        return refused(*reasons)
    return Rewrite(
        steps=tuple(steps),
        refusals=tuple(dict.fromkeys(reasons)),
        note=transform_words(before, after),
        transforms=(before, after),
    )


def _branches(search: Search, candidates: tuple[int, ...], reasons: list[str]) -> tuple[Branch, ...] | str:
    """Return the independent parts of the sharing tree, or why there is nothing to share."""
    if len(candidates) > MOST_CANDIDATES:
        return f"more than {MOST_CANDIDATES:,} candidates"
    if all(_shares_nothing(family) for family in search.families):
        return NOTHING_SHARED
    chosen = set(candidates)
    estimators = [(candidate, one) for candidate, one in candidates_of(search) if candidate in chosen]
    odd = next((reason for _, estimator in estimators if (reason := _odd(estimator))), None)
    if odd is not None:
        return odd
    root = grow_branches(estimators, reasons)
    parts = (*root.branches, *(replace(root, branches=(), leaves=(leaf,)) for leaf in root.leaves))
    if all(len(part.candidates) == 1 for part in parts):
        return NOTHING_SHARED
    return parts


def _shares_nothing(family: Family) -> bool:
    """Return whether a family surely shares nothing, found without building its grid."""
    if isinstance(family.estimator, Pipeline) or any(path.takes(family.estimator) for path in PATHS):
        return False
    return family.candidates.surely_differ


def _odd(estimator: Any) -> str | None:
    if isinstance(estimator, Pipeline):
        if type(estimator) is not Pipeline:
            return f"{type(estimator).__name__} is not scikit-learn's own Pipeline"
        if estimator.memory is not None:
            return "the Pipeline has a memory of its own"
        if getattr(estimator, "transform_input", None) is not None:
            return "the Pipeline transforms inputs of fit parameters"
        return next((reason for _, step in estimator.steps if (reason := _odd(step))), None)
    return None


def _split(step: Step, parts: tuple[Branch, ...]) -> Iterator[Step]:
    """Yield a step for each training and each part of the tree that shares something; the rest stays brute force."""
    alone = tuple(sorted(part.candidates[0] for part in parts if len(part.candidates) == 1))
    for training in step.trainings:
        for part in parts:
            if len(part.candidates) > 1:
                yield replace(
                    step,
                    kernel="within",
                    rule=_words(part),
                    candidates=part.candidates,
                    trainings=(training,),
                    fits=part.fits,
                )
    if alone:
        yield brute_step(alone, step.trainings)


def _words(part: Branch) -> str:
    paths = sorted({leaf.path.name for leaf in _leaves(part) if leaf.path is not None and len(leaf.members) > 1})
    shared = ["shared prefix"] if part.transformer is not None else []
    return ", ".join(shared + paths) or "equal candidates"


def _leaves(part: Branch) -> Iterator[Any]:
    yield from part.leaves
    for branch in part.branches:
        yield from _leaves(branch)
