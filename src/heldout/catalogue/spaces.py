"""Parses spaces: ``ridge.alpha=log:1e-6:1e2:17``, ``knn.n_neighbors=1,3,5``, ``forest=fixed``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from heldout.base.errors import SpaceError, did_you_mean

Space = dict[str, list[Any]]
FIXED = "fixed"
MOST_VALUES = 10_000
_WORDS: Mapping[str, Any] = {"none": None, "true": True, "false": False}
_FORMS = "log:1e-6:1e2:17, lin:0:1:11, a list such as 1,3,5, or fixed"


def parse_spaces(texts: Iterable[str]) -> dict[str, dict[str, list[Any] | None] | None]:
    """Parse spaces to a dict of learners, parameters and their values; None stands for what is fixed.

    Values are ``log:low:high:count`` (from low to high, uniform on the log scale), ``lin:low:high:count``, a list, or
    ``fixed`` (not searched: the learner's own default); ``learner=fixed`` fixes all parameters of a learner.

    >>> parse_spaces(["knn.n_neighbors=1,3,5", "knn.weights=fixed", "ridge.alpha=log:0.01:100:3", "forest=fixed"])
    {'knn': {'n_neighbors': [1, 3, 5], 'weights': None}, 'ridge': {'alpha': [0.01, 1.0, 100.0]}, 'forest': None}
    """
    spaces: dict[str, dict[str, list[Any] | None] | None] = {}
    for text in texts:
        place, sign, values = (part.strip() for part in text.partition("="))
        learner, dot, parameter = place.rpartition(".")
        if not sign or not values:
            raise SpaceError(f"A space is learner.parameter=values, not {text!r}. Values are {_FORMS}.")
        if dot:
            of_learner = spaces.setdefault(learner, {})
            if of_learner is not None and parameter not in of_learner:
                of_learner[parameter] = parse_values(values, place)
                continue
        elif values != FIXED:
            raise SpaceError(f"{text!r} names no parameter. Write {place}.parameter={values}, or {place}=fixed.")
        elif place not in spaces:
            spaces[place] = None
            continue
        raise SpaceError(f"The space of {place} is given twice. Give it once.")
    return spaces


def as_spaces(space: Any, names: Sequence[str]) -> dict[str, dict[str, list[Any] | None] | None] | None:
    """Return the spaces of learners from a dict: of parameters for a single learner, or of such dicts by learner.

    Values are listed, a single value, or written as in `parse_values`; None fixes a parameter or a learner.

    >>> as_spaces({"n_neighbors": np.array([1, 3]), "weights": None}, ["knn"])
    {'knn': {'n_neighbors': [1, 3], 'weights': None}}
    >>> as_spaces({"ridge": {"alpha": "log:0.01:100:3"}, "knn": None}, ["ridge", "knn"])
    {'ridge': {'alpha': [0.01, 1.0, 100.0]}, 'knn': None}
    """
    if space is None:
        return None
    if not isinstance(space, Mapping):
        raise SpaceError(f"space= is a dict of parameters and values, {{'alpha': [0.1, 1, 10]}}, not {space!r}.")
    if len(names) == 1 and names[0] not in space and not any(isinstance(one, Mapping) for one in space.values()):
        space = {names[0]: space}
    for learner, values in space.items():
        if not (values is None or isinstance(values, Mapping)):
            raise SpaceError(f"With several learners, each has a space of its own: {{{learner!r}: {{'alpha': [1]}}}}.")
    return {
        learner: None if values is None else {name: _listed(one, f"{learner}.{name}") for name, one in values.items()}
        for learner, values in space.items()
    }


def _listed(values: Any, place: str) -> list[Any] | None:
    if isinstance(values, str):
        return parse_values(values, place)
    if values is None or isinstance(values, list):
        return values
    return values.tolist() if isinstance(values, np.ndarray) else list(values) if np.iterable(values) else [values]


def parse_values(text: str, place: str) -> list[Any] | None:
    """Parse the values of one parameter; return None if it is fixed.

    >>> parse_values("lin:1:9:3", "knn.n_neighbors"), parse_values("gini,none,0.5", "tree.x")
    ([1.0, 5.0, 9.0], ['gini', None, 0.5])
    """
    if text == FIXED:
        return None
    form, colon, rest = text.partition(":")
    if colon and form in ("log", "lin", FIXED):
        return [_value(rest)] if form == FIXED else _range(form, rest, place)
    if colon and _value(form) == form and form.isalpha():
        raise SpaceError(f"{place}={text}: there is no range {form!r}. Values are {_FORMS}.")
    values = [_value(value.strip()) for value in text.split(",")]
    if any(value == "" for value in values):
        raise SpaceError(f"{place}={text}: a value is empty. Values are {_FORMS}.")
    for number, value in enumerate(values):
        if value in values[:number]:
            raise SpaceError(f"{place}={text}: {value!r} is there twice.")
    return values


def narrowed(space: Mapping[str, Any], given: Mapping[str, list[Any] | None] | None, model: Any, learner: str) -> Space:
    """Return a learner's default space with the user's values in it, checked against the model's parameters.

    Values become integers if the parameter's default is one, so that ``lin:1:21:5`` suits counts. If `given` is None,
    the space is empty.
    """
    if given is None:
        return {}
    result = {name: list(values) for name, values in space.items()}
    defaults = model.get_params(deep=True)
    for parameter, values in given.items():
        if parameter not in defaults:
            raise SpaceError(f"{learner!r} has no parameter {parameter!r}. {did_you_mean(parameter, defaults)}")
        if values is None:
            result.pop(parameter, None)
            continue
        result[parameter] = _whole(values) if _counts(defaults[parameter], result.get(parameter)) else values
        _check_values(model, parameter, result[parameter], learner)
    return result


def _counts(default: Any, values: list[Any] | None) -> bool:
    """Check whether a parameter takes integers, judged by its default and the values of the default space."""
    known = [default, *(values or ())]
    numbers = [value for value in known if isinstance(value, int | float | np.number) and not isinstance(value, bool)]
    return bool(numbers) and all(isinstance(value, int | np.integer) for value in numbers)


def _whole(values: list[Any]) -> list[Any]:
    """Round the numbers of a range to distinct integers; a fraction in a written list is kept, and refused later."""
    spread = isinstance(values, _Range)
    turns = [isinstance(value, float) and (spread or value.is_integer()) for value in values]
    return list(dict.fromkeys(round(value) if turn else value for value, turn in zip(values, turns, strict=True)))


def _check_values(model: Any, parameter: str, values: list[Any], learner: str) -> None:
    """Raise SpaceError for values that scikit-learn would refuse, before any fit."""
    from sklearn.base import clone

    owner_name, _, last = parameter.rpartition("__")
    owner = model.get_params(deep=True)[owner_name] if owner_name else model
    constraints = getattr(owner, "_parameter_constraints", {})
    if last not in constraints:
        return
    for value in values:
        try:
            clone(owner).set_params(**{last: value})._validate_params()
        except ValueError as error:
            raise SpaceError(f"{learner}.{parameter}: {error}") from None


class _Range(list[Any]):
    """Holds values that were spread over a range rather than listed."""


def _range(form: str, text: str, place: str) -> list[Any]:
    parts = text.split(":")
    numbers = [_value(part.strip()) for part in parts]
    if len(parts) != 3 or any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        raise SpaceError(f"{place}={form}:{text}: a range is {form}:low:high:count, such as {form}:0.01:100:9.")
    low, high, count = numbers
    if not isinstance(count, int) or not 1 <= count <= MOST_VALUES:
        raise SpaceError(
            f"{place}={form}:{text}: the count is a whole number from 1 to {MOST_VALUES:,}, not {parts[2]}."
        )
    if not (math.isfinite(low) and math.isfinite(high)) or high < low:
        raise SpaceError(f"{place}={form}:{text}: a range goes from a finite low to a finite high.")
    if form == "lin":
        return _Range(float(value) for value in np.linspace(low, high, count))
    if low <= 0:
        raise SpaceError(f"{place}={form}:{text}: a log range begins above 0, not at {parts[0]}.")
    # Exponents are rounded, so that 1e-6 … 1e2 contains 0.1 and not 0.09999999999999999.
    exponents = np.linspace(math.log10(low), math.log10(high), count)
    return _Range(float(value) for value in np.power(10.0, np.round(exponents, 12)))


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
