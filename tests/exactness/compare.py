"""Comparing a study with a rule on and with it off, at the tier that the rule states, and counting who answered it.

A difference of 0 says nothing where the kernel answered nothing: because its rule refused, because a spot check failed
and everything was brute force, or because the kernel itself fell back. So each comparison also says whether the plan
used the kernel, whether all spot checks passed, and how many fits the kernel saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

import heldout as ho
from heldout.base.errors import FitFailed

Build = Callable[[], tuple[Any, Any, Any, dict[str, Any]]]
Methods = Sequence[tuple[type, str]]
ROUNDING = 1e-9
WITHIN = "within"  # the rule that shares parts of fits, so fits of all parts are counted
NOT_COUNTED = (Pipeline, ColumnTransformer, FeatureUnion)  # these only hold the parts that are


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between a study with a rule on and with it off, and how much of it the kernel answered."""

    label: str
    claimed: bool  # the plan gives cells to the kernel
    brute_fits: int  # that the study takes by brute force
    fallback_fits: int  # that are left with the rule on, without those of spot checks
    checks_passed: bool  # no spot check of the kernel failed, so that its answers are the ones compared
    difference: float  # largest of the responses, relative to the largest response
    allowed: float
    same_choices: bool
    refusals: tuple[str, ...]
    examined: int | None = None  # fits of the kernel that were looked at one by one, where that is how they are held

    @property
    def passed(self) -> bool:
        return self.difference <= self.allowed and self.same_choices and self.checks_passed

    @property
    def answered_share(self) -> float:
        """The share of fits that the kernel answered without fitting."""
        return max(0.0, 1 - self.fallback_fits / self.brute_fits) if self.brute_fits else 0.0


def compare(label: str, build: Build, rule: str, tier: str, **more: Any) -> Comparison:
    """Run one study twice and compare every response of its test cells, every validation loss and every choice.

    `reference` gives brute force's own error, and `counted` the methods that stand for fits, where they are given.
    """
    reference, counted = more.get("reference"), more.get("counted")
    on, off = (run(build, rule, ho.Options(rules={rule: switch}), counted) for switch in (True, False))
    if on.result is None or off.result is None:  # every fit fails: by brute force too, or it is a difference
        same = on.result is off.result
        return Comparison(
            label=label,
            **counts(on, off, rule),
            difference=0.0 if same else np.inf,
            allowed=0.0,
            same_choices=same,
            refusals=("every fit of the study fails, by brute force too",),
        )
    allowed = 0.0 if tier == "identical" else ROUNDING
    difference = response_difference(on.result, off.result)
    if tier == "identical":
        difference = max(difference, validation_difference(on.result, off.result))
    if difference > allowed and tier == "rounding" and reference is not None:
        allowed = max(allowed, reference(build))  # brute force's own error, where that is larger
    return Comparison(
        label=label,
        **counts(on, off, rule),
        difference=difference,
        allowed=allowed,
        same_choices=same_choices(on.result, off.result),
        refusals=refusals(on, rule),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A study that ran, and how many fits that took."""

    result: Any  # None where not one fit of the study works
    fits: int


def run(build: Build, rule: str, options: ho.Options, counted: Methods | None = None) -> Run:
    """Run a study with these options, counting fits: of models, and for `within` of all parts of a Pipeline."""
    learner, X, y, more = build()
    with counted_calls(counted or fit_methods(learner, all_parts=rule == WITHIN)) as counter:
        try:
            result = ho.evaluate(learner, X, y, jobs=1, progress=False, options=options, **more)
        except FitFailed:
            result = None
    return Run(result=result, fits=counter.count)


def counts(on: Run, off: Run, rule: str) -> dict[str, Any]:
    """The fields of a Comparison that say who answered."""
    if on.result is None:
        return {"claimed": False, "brute_fits": off.fits, "fallback_fits": on.fits, "checks_passed": True}
    checks = [check for check in on.result.summary()["plan"]["checks"] if check["kernel"] == rule]
    return {
        "claimed": pass_of(on.result, rule).used,
        "brute_fits": off.fits,
        "fallback_fits": max(0, on.fits - len(checks)),
        "checks_passed": all(check["passed"] for check in checks),
    }


def pass_of(result: Any, rule: str) -> Any:
    """What the plan says of a rule."""
    return next(one for one in result.plan.passes if one.name == rule)


def refusals(on: Run, rule: str) -> tuple[str, ...]:
    """Why the rule left what it left."""
    return tuple(pass_of(on.result, rule).refusals)


@dataclass(slots=True)
class Counter:
    """Counts fits; one inside another of the same object is part of it."""

    count: int = 0
    running: set[int] = field(default_factory=set)

    def counting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(estimator: Any, *given: Any, **named: Any) -> Any:
            if id(estimator) in self.running:
                return method(estimator, *given, **named)
            self.count += 1
            self.running.add(id(estimator))
            try:
                return method(estimator, *given, **named)
            finally:
                self.running.discard(id(estimator))

        return counted


@contextmanager
def recorded_calls(module: Any, name: str) -> Iterator[list[tuple[tuple[Any, ...], Any]]]:
    """The arguments and the answer of each call of a module's function meanwhile; an error where there is no such one.

    Whoever records fits says how many were `examined`: none of a claimed study is an error of the suite.
    """
    calls: list[tuple[tuple[Any, ...], Any]] = []
    own = getattr(module, name)

    def recorded(*given: Any) -> Any:
        answer = own(*given)
        calls.append((given, answer))
        return answer

    with patch.object(module, name, recorded):
        yield calls


@contextmanager
def counted_calls(methods: Methods) -> Iterator[Counter]:
    """Count the calls of these methods meanwhile."""
    counter = Counter()
    with ExitStack() as stack:
        for kind, name in methods:
            stack.enter_context(patch.object(kind, name, counter.counting(getattr(kind, name))))
        yield counter


def fit_methods(learner: Any, *, all_parts: bool) -> list[tuple[type, str]]:
    """What fits, of every class of estimator that the learner or its space names; of models alone, or of all parts."""
    kinds = sorted(_kinds(learner), key=lambda kind: -len(kind.__mro__))  # a subclass before what it inherits from
    wanted = [kind for kind in kinds if all_parts or hasattr(kind, "predict")]
    return [(kind, name) for kind in wanted for name in ("fit", "fit_transform") if hasattr(kind, name)]


def _kinds(learner: Any) -> set[type]:
    made = [learner]
    if isinstance(learner, ho.Tuned):
        search = learner.as_search(seed=0, timed=False)
        made = [family.estimator for family in search.families]
        made += [value for place in range(len(search)) for value in search.params_of(place).values()]
    inside = [one.get_params(deep=True).values() for one in made if hasattr(one, "get_params")]
    parts = [*made, *(value for values in inside for value in values)]
    found = {type(part) for part in parts if hasattr(part, "fit") and not isinstance(part, type)}
    return {kind for kind in found if not issubclass(kind, NOT_COUNTED)}


def test_responses(result: Any) -> dict[tuple[int, str], Any]:
    """The responses of every test cell that has an answer, by fold and kind of response."""
    frame = result.predictions
    names = [name for name in frame.columns if name.partition("_")[0] in ("predict", "proba", "decision")]
    if not names:
        return {}
    folds = np.asarray(frame["fold"])
    blocks: dict[str, list[str]] = {}
    for name in names:
        blocks.setdefault(name.partition("_")[0], []).append(name)
    return {
        (int(fold), kind): np.column_stack([np.asarray(frame[name])[folds == fold] for name in columns])
        for kind, columns in blocks.items()
        for fold in np.unique(folds)
    }


def response_difference(on: Any, off: Any) -> float:
    """The largest relative difference of test responses; infinity where one side has an answer and the other none."""
    ours, theirs = test_responses(on), test_responses(off)
    if ours.keys() != theirs.keys():
        return np.inf
    return max((array_difference(ours[key], theirs[key]) for key in ours), default=0.0)


def validation_difference(on: Any, off: Any) -> float:
    """The largest difference of validation losses, which identical responses make zero."""
    a, b = on.candidates, off.candidates
    worst = 0.0
    for name in a.columns:
        if name.startswith("validation_") and not name.endswith("_sd"):
            worst = max(worst, array_difference(np.asarray(a[name]), np.asarray(b[name])))
    return worst


def array_difference(a: Any, b: Any) -> float:
    if (a is None) != (b is None):
        return np.inf
    if a is None:
        return 0.0
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return np.inf
    if b.dtype.kind not in "fiu":
        return 0.0 if np.array_equal(a, b) else np.inf
    if not np.array_equal(np.isnan(a.astype(float)), np.isnan(b.astype(float))):
        return np.inf
    scale = float(np.nanmax(np.abs(b), initial=0.0)) or 1.0
    return float(np.nanmax(np.abs(a.astype(float) - b.astype(float)), initial=0.0)) / scale


def same_choices(on: Any, off: Any) -> bool:
    """The same candidate in each fold, unless the two candidates' validation losses tie within rounding."""
    a, b = on.choices, off.choices
    if not len(a):  # nothing is chosen
        return True
    name = next(n for n in a.columns if n.startswith("validation_"))
    loss_a, loss_b = np.asarray(a[name], dtype=float), np.asarray(b[name], dtype=float)
    same = np.asarray(a["candidate"]) == np.asarray(b["candidate"])
    tied = np.isclose(loss_a, loss_b, rtol=1e-9, atol=0)
    return bool((same | tied).all())
