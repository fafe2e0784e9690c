"""heldout chooses a model and says how good it really is.

>>> import heldout as ho
>>> from sklearn.datasets import load_diabetes
>>> from sklearn.linear_model import Ridge
>>> X, y = load_diabetes(return_X_y=True)
>>> learner = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 1, 5)})
>>> result = ho.evaluate(learner, X, y, test=ho.KFold(5), loss="squared")
>>> result.risk.low < result.risk.value < result.risk.high
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout.base.registered import PUBLIC, REGISTERED

if TYPE_CHECKING:
    from heldout.api.advise import advise
    from heldout.api.chance import chance
    from heldout.api.check import Checked, check
    from heldout.api.compare import Comparison, compare
    from heldout.api.compare_across import compare_across
    from heldout.api.draw import DrawnSplits, draw, load_splits
    from heldout.api.evaluate import evaluate, explain
    from heldout.api.named import learner
    from heldout.api.result import Result, load
    from heldout.api.tuned import Tuned
    from heldout.base.errors import HeldoutError
    from heldout.base.options import Options
    from heldout.losses import row_loss
    from heldout.models.model import SavedModel, load_model, save_model
    from heldout.search.search import Sample, log_grid
    from heldout.splits import Forward, Given, Holdout, KFold, LeaveOneOut, Resample, SharedBlocks

__version__ = "0.1.0"

__all__ = [
    "Checked",
    "Comparison",
    "DrawnSplits",
    "Forward",
    "Given",
    "HeldoutError",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "Options",
    "Resample",
    "Result",
    "Sample",
    "SavedModel",
    "SharedBlocks",
    "Tuned",
    "advise",
    "chance",
    "check",
    "compare",
    "compare_across",
    "draw",
    "evaluate",
    "explain",
    "learner",
    "load",
    "load_model",
    "load_splits",
    "log_grid",
    "row_loss",
    "save_model",
]


def __getattr__(name: str) -> Any:
    home = PUBLIC.get(name) or REGISTERED.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
