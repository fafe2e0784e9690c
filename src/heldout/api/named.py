"""Learners by name: what `evaluate("ridge", df, "price")` and the command make of a name, a table and its target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heldout.api.call_text import with_our_words
from heldout.api.learners import is_named, refuse_name_of_stream, tuned_learner
from heldout.base.errors import InputError, LearnerError, Sentence, TargetError
from heldout.base.findings import Finding
from heldout.base.words import listed
from heldout.catalogue.learners import expand_names, only_kind
from heldout.catalogue.preparation import Table, survey_table
from heldout.catalogue.spaces import as_spaces
from heldout.data.stream import is_stream, table_of, target_of
from heldout.data.target_kind import target_kind
from heldout.results.study_record import Request
from heldout.results.subgroups import read_slices
from heldout.task.arrays import as_array, as_pandas, container_kind, is_frame, without_columns
from heldout.task.column_kinds import IDENTIFIERS
from heldout.task.features import accept_features, check_features
from heldout.task.roles import END, split_time
from heldout.task.task import named_columns_out

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Holds what a learner of the catalogue is made for: a table without identifiers, and the kind of its target."""

    X: Any  # without identifiers; the target and the roles may be columns of it
    table: Table
    classification: bool
    kind: Sentence  # of the target, in words
    identifiers: tuple[Any, ...] = ()


@with_our_words
def learner(
    names: str | Iterable[str],
    X: Any,
    y: Any = None,
    *,
    target: Any = None,
    classification: bool | None = None,
    loss: Any = None,
    validation: Any = None,
    space: Any = None,
    random_state: Any = 0,
) -> Any:
    """Make the learner that a name of the catalogue stands for, with preparation and space for these columns.

    Parameters
    ----------
    names : str or list of str
        Names such as "ridge", "forest" or "boosting". Several, in a list or joined by commas, compete inside one
        :class:`~heldout.Tuned`. "auto" is a penalised linear model and boosting; "all" is every learner that suits.
    X, y : array-like
        The data that the learner is made for; nothing is fitted. With a frame, `y` may name a column, which the learner
        then does not expect. Columns of roles such as groups are to be left out before.
    target : str, optional
        Another name for `y`, where it names a column.
    classification : bool, optional
        Whether the target is classes; None sees it from the target.
    loss, validation, random_state
        As in :class:`~heldout.Tuned`.
    space : dict, optional
        Values in place of the default ones: ``{"alpha": [0.1, 1, 10]}``, or by learner ``{"ridge": {"alpha": [1]}}``.
        None in place of values searches nothing.

    Returns
    -------
    Tuned, or a Pipeline where there is nothing to tune
        A scikit-learn estimator. Identifiers among the columns are not learned from.

    Examples
    --------
    >>> import heldout as ho
    >>> import pandas as pd
    >>> houses = pd.DataFrame({"price": [3.1, 2.5, 4.0] * 9, "area": [70, 50, 90] * 9, "in": ["Bern", None, "Ulm"] * 9})
    >>> ridge = ho.learner("ridge", houses, "price")
    >>> ridge.fit(houses.drop(columns="price"), houses["price"]).predict(houses[:1]).shape
    (1,)
    """
    named, y = split_names(names), target_of(y, target)
    if y is None and classification is None:
        classification = only_kind(named)
    if is_stream(X):
        refuse_name_of_stream(named)
    with table_of(X) as table:
        columns = columns_of(table, y, {}, classification=classification)
    options = {"loss": loss, "validation": validation, "random_state": random_state, "allow_import": None}
    return learner_of(named, columns, spaces=as_spaces(space, named), **options)[0]


def split_names(names: Any) -> list[str]:
    """Return each name of learners that compete, given as text or list; commas and + join them.

    >>> split_names("ridge, knn+tree"), split_names(["ridge", "forest"])
    (['ridge', 'knn', 'tree'], ['ridge', 'forest'])
    """
    if not is_named(names):
        raise LearnerError(f"Names of learners are text, or a list of texts, not {type(names).__name__}.")
    texts = [names] if isinstance(names, str) else names
    return [part.strip() for text in texts for part in text.replace("+", ",").split(",") if part.strip()]


def by_name(learners: Mapping[str, Any], X: Any, y: Any, request: Request) -> tuple[dict[str, Any], Any, Request]:
    """Make the learners that are given by name, all for the same columns of X; return X without identifiers."""
    if y is None:
        raise TargetError("heldout requires y to be passed: the target, or the name of its column.")
    columns = columns_of(X, y, request.roles)
    if request.slices is not None:  # of columns that may be left out
        request = replace(request, slices=read_slices(request.slices, X))
    made, left_out = dict(learners), dict[str, str]()
    for key, one in learners.items():
        if is_named(one):
            options = {"loss": request.loss, "random_state": request.seed, "allow_import": None}
            made[key], _, without = learner_of(split_names(one), columns, **options)
            left_out |= without
    keep = "To keep it, give it the type category."
    return made, columns.X, replace(request, remarks=remarks(columns.identifiers, left_out, keep=keep))


def learner_of(names: Iterable[str], columns: Columns, **options: Any) -> tuple[Any, tuple[str, ...], dict[str, str]]:
    """Make one learner of these names. Return also the names, and the learners that "all" and "auto" leave out.

    Options are those of :func:`~heldout.api.learners.tuned_learner`.
    """
    kind = columns.classification
    expanded, left_out = expand_names(names, columns.table, classification=kind, loss=options.get("loss"))
    made = tuned_learner(expanded, columns.X, classification=kind, table=columns.table, **options)
    return made, expanded, left_out


def columns_of(X: Any, y: Any, roles: Mapping[str, Any], *, classification: bool | None = None) -> Columns:
    """Return what is known of the columns of X, which y and the roles may name, before any fit."""
    data = accept_features(X)
    check_features(data)
    if container_kind(data) in ("sparse", "objects"):
        raise InputError("A learner by name prepares the columns of a table, and X is none. Pass an estimator for it.")
    start, end = (None, None) if roles.get("time") is None else split_time(roles["time"])
    rest, given = named_columns_out(data, {"y": y, **roles, "time": start, END: end})
    if y is None:
        return read_columns(data, rest, None, classification=classification)
    return read_columns(data, rest, _as_column(given["y"], y), classification=classification)


def read_columns(
    data: Any,
    rest: Any,
    target: pd.Series[Any] | None,
    *,
    types: Mapping[str, str] | None = None,
    classification: bool | None = None,
    command: bool = False,
) -> Columns:
    """Return the kinds of the columns in `rest`, which are those of `data` without target and roles, and the target's.

    `types` sets the kinds of columns, and `classification` that of the target. `command` lets errors name options.
    """
    table = survey_table(as_pandas(rest), types=types)
    identifiers = tuple(_name(rest, name) for name in table.kinds[IDENTIFIERS])
    if identifiers and table.columns:
        data = without_columns(data, set(identifiers))
        table = survey_table(as_pandas(without_columns(rest, set(identifiers))), types=types)
    if target is None:
        kind, words, classes = bool(classification), Sentence("not given"), 2
    else:
        kind, words = target_kind(target, wanted=classification, command=command)
        classes = int(target.nunique())
    return Columns(
        X=data,
        table=replace(table, classes=classes if kind else 0),
        classification=kind,
        kind=words,
        identifiers=identifiers,
    )


def remarks(identifiers: Collection[Any], left_out: Mapping[str, str], *, keep: str) -> tuple[Finding, ...]:
    """Return findings on the columns and the learners that a name leaves out; `keep` says how to keep a column."""
    found = []
    if identifiers:
        names = listed([name if isinstance(name, str) else f"column {name}" for name in identifiers])
        text = f"Left out: {names}. Identifiers tell rows apart, and nothing can be learned from them. {keep}"
        found.append(Finding(code="H110", severity="info", message=text))
    found += [
        Finding(code="H111", severity="info", message=f"{name} is left out: {reason}.")
        for name, reason in left_out.items()
    ]
    return tuple(found)


def _as_column(y: Any, name: Any) -> pd.Series[Any]:
    import pandas as pd

    if isinstance(y, pd.Series):
        return y
    values = as_array(y)
    if values.ndim > 1 and values.shape[1] > 1:
        raise TargetError(f"A learner by name predicts one target, and y has {values.shape[1]}. Pass an estimator.")
    return pd.Series(values.reshape(-1), name=name if isinstance(name, str) else "y")


def _name(X: Any, name: Any) -> Any:
    """Return the name that a column has in X; `as_pandas` numbers the columns whose names are no text."""
    return name if isinstance(name, str) or not is_frame(X) else X.columns[name]
