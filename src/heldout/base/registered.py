"""Classes that pickles, model files and journal keys name ``heldout.<name>``, wherever they are defined."""

from __future__ import annotations

from typing import TypeVar

import heldout

Kind = TypeVar("Kind", bound=type)


def registered(kind: Kind) -> Kind:
    """Class decorator: the class carries ``__module__ = "heldout"``, so that moving it changes no file and no key.

    Its name must be in a table of ``heldout/__init__.py``, which finds it again by that name.

    Examples
    --------
    >>> from heldout.splits.kfold import KFold
    >>> f"{KFold.__module__}.{KFold.__qualname__}"
    'heldout.KFold'
    """
    if kind.__name__ not in heldout.homes():
        raise TypeError(f"{kind.__name__} is registered nowhere: heldout/__init__.py has no home for it.")
    kind.__module__ = "heldout"
    return kind
