"""Classes that pickles, model files and journal keys call ``heldout.<name>``, wherever they are defined."""

from __future__ import annotations

from typing import TypeVar

# Public names and the modules that define them, which are imported when a name is first used.
PUBLIC = {
    "advise": "heldout.api.advise",
    "compare_across": "heldout.api.compare_across",
    "chance": "heldout.api.chance",
    "check": "heldout.api.check",
    "Checked": "heldout.api.check",
    "compare": "heldout.api.compare",
    "Comparison": "heldout.api.compare",
    "draw": "heldout.api.draw",
    "DrawnSplits": "heldout.api.draw",
    "evaluate": "heldout.api.evaluate",
    "explain": "heldout.api.evaluate",
    "learner": "heldout.api.named",
    "SavedModel": "heldout.models.model",
    "load_model": "heldout.models.model",
    "save_model": "heldout.models.model",
    "Result": "heldout.api.result",
    "load": "heldout.api.result",
    "load_splits": "heldout.api.draw",
    "Tuned": "heldout.api.tuned",
    "HeldoutError": "heldout.base.errors",
    "row_loss": "heldout.losses",
    "Options": "heldout.base.options",
    "Forward": "heldout.splits",
    "Given": "heldout.splits",
    "Holdout": "heldout.splits",
    "KFold": "heldout.splits",
    "LeaveOneOut": "heldout.splits",
    "Resample": "heldout.splits",
    "SharedBlocks": "heldout.splits",
    "Sample": "heldout.search.search",
    "log_grid": "heldout.search.search",
}

# Classes that model files, pickles and journal keys name by a short name too, though users make none of them.
REGISTERED = {
    "AsNumbers": "heldout.catalogue.transformers",
    "AsText": "heldout.catalogue.transformers",
    "AveragedClassifier": "heldout.kernels.ensemble",
    "AveragedRegressor": "heldout.kernels.ensemble",
    "ByTarget": "heldout.catalogue.transformers",
    "CodedClasses": "heldout.catalogue.boosters",
    "DateParts": "heldout.catalogue.transformers",
    "FillVoid": "heldout.catalogue.transformers",
    "TextParts": "heldout.catalogue.transformers",
}

Kind = TypeVar("Kind", bound=type)


def registered(kind: Kind) -> Kind:
    """Set ``__module__`` of the class to "heldout", so that moving the class changes no file and no key.

    Its name must be in a table above, by which ``heldout/__init__.py`` finds it again.

    >>> from heldout.splits.kfold import KFold
    >>> f"{KFold.__module__}.{KFold.__qualname__}"
    'heldout.KFold'
    """
    if kind.__name__ not in PUBLIC and kind.__name__ not in REGISTERED:
        raise TypeError(f"{kind.__name__} is in neither table of heldout/base/registered.py.")
    kind.__module__ = "heldout"
    return kind
