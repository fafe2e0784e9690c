"""The defaults of every drawing, in one place, as the texts advise them.

- Data imbalance in classification: "proportions of each class should be kept in all sets". So classes are kept in their
  shares wherever chance deals rows (`STRATIFY`), but not where it deals whole groups.
- How to choose K? "In practice K = 5 or K = 10." Five by default, at each level of a nested study: ten takes four times
  the fits of a nested study for a training set that is an eighth larger (`FOLDS`); `KFold(10)` is there for the asking.
- Where data drift with time "the validation/test sets have to be the most recent data". So with time declared the
  default is `Forward`, which always tests on later rows, and `Holdout` takes the most recent ones. It is so at both
  levels: for `evaluate(test=None)`, for `Tuned(validation=None)` and for the command. A number k is `KFold(k)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heldout.splits.strategy import Strategy

STRATIFY = "auto"  # the strata declared, else the classes where no groups are
FOLDS = 5  # of KFold; blocks of Forward
HELD_OUT = 0.2  # of Holdout and Resample: as much as one of five folds


def default_strategy(*, timed: bool) -> Strategy:
    """How rows are held out when nobody said how.

    >>> default_strategy(timed=False), default_strategy(timed=True)
    (KFold(5), Forward(5))
    """
    # Imported late because the strategies take their own defaults from this file.
    from heldout.splits.forward import Forward
    from heldout.splits.kfold import KFold

    return Forward(FOLDS) if timed else KFold(FOLDS)
