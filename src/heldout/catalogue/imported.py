"""A learner of the user's own, by where it is: ``package.module:Name``. Importing runs code, so it must be allowed."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from heldout.base.errors import LearnerError, OptionError, did_you_mean


def is_import_path(name: str) -> bool:
    """Whether a learner's name says where to import it from.

    >>> is_import_path("mypackage.models:Forest"), is_import_path("forest")
    (True, False)
    """
    return ":" in name


def imported_name(path: str) -> str:
    """What a learner of the user's own is called in a study.

    >>> imported_name("mypackage.models:Forest")
    'Forest'
    """
    return path.rpartition(":")[2].rpartition(".")[2]


def import_learner(path: str, *, allowed: bool) -> Any:
    """The estimator that an import path names: an estimator, or a class or function that gives one when called.

    Parameters
    ----------
    path : str
        ``package.module:Name``. The working folder is looked in last.
    allowed : bool
        Whether the user said that code may run.

    Examples
    --------
    >>> import_learner("sklearn.linear_model:HuberRegressor", allowed=True)
    HuberRegressor()
    """
    if not allowed:
        raise OptionError(f"--learner {path} would import code and run it. If you trust that code, add --allow-import.")
    module_name, _, name = path.rpartition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        raise LearnerError(f"--learner {path}: an own learner is written as package.module:Name.")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that a file there hides no library
    try:
        found: Any = import_module(module_name)
    except Exception as error:  # a module may raise anything
        raise LearnerError(f"--learner {path}: {module_name!r} cannot be imported: {_words(error)}.") from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = [one for one in dir(found) if not one.startswith("_")]
            raise LearnerError(f"--learner {path}: there is no {part!r} in it. {did_you_mean(part, known[:200])}")
        found = getattr(found, part)
    return _made(found, path)


def _made(found: Any, path: str) -> Any:
    if isinstance(found, type) or not hasattr(found, "fit"):
        if not callable(found):
            raise LearnerError(f"--learner {path}: it is a {type(found).__name__}, not an estimator.")
        try:
            found = found()
        except Exception as error:
            raise LearnerError(f"--learner {path}: it cannot be made without arguments: {_words(error)}.") from error
    if not hasattr(found, "fit") or not hasattr(found, "get_params"):
        raise LearnerError(
            f"--learner {path}: {type(found).__name__} has no fit and get_params. Derive it from "
            "sklearn.base.BaseEstimator."
        )
    return found


def _words(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}".rstrip(".: ")
