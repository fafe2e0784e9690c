"""Six rows, and a task of them."""

from __future__ import annotations

import numpy as np

from heldout.task import declare

X6 = np.arange(12.0).reshape(6, 2)
Y6 = np.array([0, 1, 0, 1, 0, 1])


def regress(X=X6, y=Y6, **roles):
    return declare(X, y, classification=False, **roles)


def classify(X=X6, y=Y6, **roles):
    return declare(X, y, classification=True, **roles)
