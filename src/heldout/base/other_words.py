"""Arguments as other libraries call them, each with heldout's word for it. They are refused, since they may differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.errors import Argument, Sentence, UnknownArgument, did_you_mean

_LOSS, _JOBS, _LEARNER = (Argument(name) for name in ("loss", "jobs", "learner"))
_TEST, _VALIDATION = Argument("test", 5), Argument("validation", 5, of="Tuned")
ARGUMENTS: Mapping[str, tuple[Any, ...]] = {  # the first word that a function has is the one that is meant
    **dict.fromkeys(("cv", "folds", "n_folds", "n_splits", "splitter"), (_TEST, _VALIDATION)),
    **dict.fromkeys(("scoring", "scorer", "metric", "metrics", "eval_metric"), (_LOSS,)),
    **dict.fromkeys(("n_jobs", "cores", "n_cores", "processes"), (_JOBS,)),
    **dict.fromkeys(("random_state", "rng", "random_seed"), (Argument("seed"),)),
    "seed": (Argument("random_state"),),
    **dict.fromkeys(("estimator", "model", "models", "algorithm", "clf"), (_LEARNER, Argument("learners"))),
    **dict.fromkeys(("weight", "weights", "weight_column"), (Argument("sample_weight"),)),
    **dict.fromkeys(("label", "labels", "outcome", "response", "y_column"), (Argument("target"),)),
    **dict.fromkeys(("test_size", "holdout"), (Argument("test", "holdout:0.2"),)),
    **dict.fromkeys(("param_grid", "param_distributions", "params", "grid"), (Argument("space"),)),
    "validation": (_VALIDATION,),
    "refit": (Argument("final"),),
    "verbose": (Argument("progress"),),
    **dict.fromkeys(("alpha", "confidence"), (Argument("level"),)),
}


def our_argument(name: str, known: Any) -> str | Sentence:
    """Return what an argument is called among those that are known, or what is near.

    >>> str(our_argument("cv", ["test", "loss"])), our_argument("leve", ["level", "loss"])
    ('It is called test=5 here; Tuned(validation=5) says how parameters are chosen.', "Did you mean 'level'?")
    """
    ours = [one for one in ARGUMENTS.get(name, ()) if one.name in known or one is _VALIDATION]
    if not ours:
        return did_you_mean(name, known)
    if ours[0] is _TEST:
        return Sentence("It is called {} here; {} says how parameters are chosen.", *ours)
    only = ours[0] if ours[0].name not in known else Argument(ours[0].name, ours[0].value)
    return Sentence("It is called {} here.", only)


def unknown_argument(function: str, name: str, known: Any) -> UnknownArgument:
    """Return the error for an argument that a function does not have."""
    names = [one for one in known if one != "self"]
    return UnknownArgument(Sentence("{} has no argument {!r}. {}", function, name, our_argument(name, names)))
