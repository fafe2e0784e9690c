"""Saves and loads the predictor of a study in a file without code, with the input it expects and its risk."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from heldout.backends.threads import one_thread
from heldout.base.environment import environment
from heldout.base.errors import ColumnError, InputError, LearnerError, PredictionError, StoredError, first_line
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.base.shown import plain
from heldout.base.words import listed
from heldout.models.file import pack, read_file, write_file
from heldout.models.input import arranged
from heldout.models.schema import Schema, classes_of, schema_of
from heldout.risk.estimate import Estimate, stored_values
from heldout.task.arrays import is_frame, take_rows

_TRIED = 100  # rows on which a model is compared with what its file gives
_COMPARED = ("heldout", "scikit-learn", "numpy", "scipy", "pandas")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelParts:
    """Holds a predictor, the estimate of its risk and what that covers, and the rows it was fitted on."""

    predictor: Any
    estimate: Estimate | None = None
    covers: str | None = None
    rows: Any = None


class _StoredModel(msgspec.Struct):
    """Holds the data about a model; msgspec checks their types once, when they are read."""

    schema: Schema
    estimate: dict[str, Any] | None
    covers: str | None
    versions: dict[str, str]
    trust: list[str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Holds the predictions of a model on new rows, and notes for the user."""

    predictions: NDArray[Any]
    probabilities: NDArray[Any] | None
    notes: tuple[str, ...]


@registered
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedModel:
    """A predictor from a file, with the input it expects. Made by :func:`heldout.load_model`.

    Attributes
    ----------
    predictor : estimator
        The fitted predictor itself.
    schema : Schema
        The columns it learned from, in order, what they hold, and the target.
    estimate : Estimate or None
        The estimate that speaks of it; `covers` says how far.
    versions : dict
        The libraries it was saved with.
    notes : tuple of str
        What differs from them here.
    """

    predictor: Any
    schema: Schema
    estimate: Estimate | None
    covers: str | None
    versions: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Return the classes, in the order of the columns of probabilities."""
        return self.schema.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict each row. Columns may be in any order; what is not as in training is refused, or warned of."""
        return _told(self.answer(X)).predictions

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probability of each class."""
        probabilities = _told(self.answer(X, proba=True)).probabilities
        assert probabilities is not None
        return probabilities

    def answer(self, X: Any, *, proba: bool = False, name: str = "X") -> Answers:
        """Predict, with probabilities if asked for, and notes on all that is not as in training."""
        if proba and not hasattr(self.predictor, "predict_proba"):
            raise PredictionError("This model has no probabilities, since its learner gives none. Ask for predictions.")
        rows, notes = arranged(X, self.schema, name=name)
        try:
            predictions = np.asarray(self.predictor.predict(rows))
            probabilities = np.asarray(self.predictor.predict_proba(rows)) if proba else None
        except Exception as error:  # an estimator may raise anything
            raise _cannot_predict(error, rows, notes, name) from error
        if len(predictions) != rows.shape[0]:
            raise PredictionError(f"The model gave {len(predictions)} predictions for {rows.shape[0]} rows.")
        return Answers(predictions=predictions, probabilities=probabilities, notes=tuple(notes))

    def __repr__(self) -> str:
        target = "" if self.schema.target is None else f" of {self.schema.target}"
        return f"<SavedModel{target} from {self.schema.width} columns>"


def save_model(
    model: Any,
    path: str | Path,
    *,
    X: Any = None,
    target: str | None = None,
    missing: Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Write a predictor to a file that holds no code, with the input it expects and the risk it has.

    Before it is left there, the file is read again and asked about some rows: the answers must be the same.

    Parameters
    ----------
    model : Result, Tuned or estimator
        A result gives its predictor, the rows it learned from and the estimate that covers it. Else a fitted estimator.
    path : str or Path
        Such as ``"model.skops"``.
    X : data frame or array, optional
        The rows it learned from, or some of them, where `model` is no result: they tell what the columns hold.
    target : str, optional
        The name of what is predicted.
    missing : iterable of str, optional
        Texts that stand for a missing value in files; the command reads new files so.

    Returns
    -------
    tuple of str
        The packages that whoever loads it must trust by name: empty, but for LightGBM, XGBoost and CatBoost.

    Examples
    --------
    >>> import heldout as ho, tempfile, pathlib
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> data = load_diabetes(as_frame=True)
    >>> result = ho.evaluate(Ridge(), data.data, data.target, test=ho.KFold(5))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> ho.save_model(result, file, target="progression")
    ()
    >>> model = ho.load_model(file)
    >>> bool((model.predict(data.data) == result.predictor.predict(data.data)).all())
    True
    >>> model.estimate.value == result.risk.value
    True
    """
    parts = _parts(model)
    predictor, estimate, X = parts.predictor, parts.estimate, parts.rows if X is None else X
    data, again, packages = pack(predictor)
    schema = schema_of(X, predictor, target=target, missing=None if missing is None else tuple(missing))
    if X is not None:
        _try_again(predictor, again, X)
    manifest = {
        "schema": plain({**asdict(schema), "columns": list(map(asdict, schema.columns))}),
        "estimate": None if estimate is None else plain(stored_values(estimate)),
        "covers": parts.covers,
        "trust": packages,
        "versions": _versions(packages),
    }
    write_file(path, data, manifest)
    return tuple(packages)


def load_model(path: str | Path, *, trust: Iterable[str] = ()) -> SavedModel:
    """Read a model that :func:`heldout.save_model` wrote. No code in the file can run.

    Parameters
    ----------
    path : str or Path
    trust : iterable of str
        ``"lightgbm"``, ``"xgboost"`` or ``"catboost"``: libraries that may read what the file holds of theirs. Name
        them only for files of your own, since their readers were not made for files from strangers.

    Returns
    -------
    SavedModel
        A warning says where the libraries here are not those it was saved with.
    """
    model = open_model(path, trust=trust)
    if model.notes:
        warnings.warn(" ".join(model.notes), stacklevel=2)
    return model


def open_model(path: str | Path, *, trust: Iterable[str] = ()) -> SavedModel:
    """Read a model; differences between library versions are in its `notes`, without a warning."""
    predictor, manifest = read_file(path, trust=tuple(trust))
    try:
        page = msgspec.convert(manifest, _StoredModel)
        _check_agree(page.schema, predictor)
        return SavedModel(
            predictor=predictor,
            schema=page.schema,
            estimate=None if page.estimate is None else Estimate.from_dict(page.estimate),
            covers=page.covers,
            versions=page.versions,
            notes=_differences(page.versions),
        )
    except StoredError as error:
        raise StoredError(f"{str(path)!r} is not a whole model file: {error}.") from None
    except (KeyError, TypeError, ValueError, AttributeError, msgspec.ValidationError) as error:
        raise StoredError(f"{str(path)!r} is not a whole model file: {type(error).__name__}: {error}.") from None


def _parts(model: Any) -> ModelParts:
    """Return what a file stores of a model; for a plain estimator, the predictor alone."""
    if isinstance(model, type) or not (hasattr(model, "predict") or hasattr(model, "model_parts")):
        raise LearnerError(f"A model is a Result or a fitted estimator, not {type(model).__name__}.")
    if hasattr(model, "model_parts"):  # a Result, or a Tuned
        parts: ModelParts = model.model_parts()
        return parts
    check_is_fitted(model)
    return ModelParts(predictor=model)


def _try_again(predictor: Any, again: Any, X: Any) -> None:
    """Raise StoredError if the predictor read back from the file does not predict the same as the original."""
    first: Rows = np.arange(min(_TRIED, X.shape[0]), dtype=np.intp)
    rows = take_rows(X, first)
    for method in ("predict", "predict_proba"):
        if hasattr(predictor, method):
            with one_thread():
                one, other = (np.asarray(getattr(model, method)(rows)) for model in (predictor, again))
            if one.dtype != other.dtype or not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
                raise StoredError(
                    f"{type(predictor).__name__} does not answer the same once it is read again, so it was not saved. "
                    "Keep it in Python by result.predictor."
                )


def _check_agree(schema: Schema, predictor: Any) -> None:
    """Raise StoredError if the data about a model have other columns or classes than the model itself."""
    names = getattr(predictor, "feature_names_in_", None)
    if names is not None and list(names) != schema.names:
        raise StoredError("its input schema has other columns than its predictor")
    width = getattr(predictor, "n_features_in_", None) or schema.width  # CatBoost loses it, and returns 0
    if schema.width is not None and width != schema.width:
        raise StoredError("its input schema has another width than its predictor")
    if plain(classes_of(predictor)) != plain(schema.classes):
        raise StoredError("its input schema has other classes than its predictor")


def _versions(packages: Iterable[str]) -> dict[str, str]:
    others = {name: version(name) for name in ("pandas", "skops")}
    return {**environment(), **others, **{name: _installed(name) or "" for name in packages}}


def _differences(saved: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note on the library versions that differ from those at saving; empty if none does."""
    here = {name: _installed(name) for name in saved if name in _COMPARED or name not in environment()}
    here.pop("skops", None)  # it reads and writes files, and computes nothing
    pairs = [(name, saved[name], now or "not installed") for name, now in here.items() if now != saved[name]]
    python = platform.python_version()
    if str(saved["python"]).split(".")[:2] != python.split(".")[:2]:
        pairs.append(("python", saved["python"], python))
    if not pairs:
        return ()
    words = "; ".join(f"{name} {then}, here {now}" for name, then, now in pairs)
    return (f"The model was saved with other versions ({words}): its predictions may differ from those of then.",)


def _installed(package: str) -> str | None:
    for name in (package, f"{package}-cpu"):  # the name of XGBoost without GPU support
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def _cannot_predict(error: Exception, rows: Any, notes: list[str], name: str) -> Exception:
    gaps = [column for column in rows.columns if rows[column].isna().any()] if is_frame(rows) else []
    if gaps and "NaN" in str(error):
        shown = listed([repr(name) for name in gaps])
        return InputError(
            f"Values of {shown} are missing in {name}, and this model learned from rows without gaps, so it cannot "
            "predict such rows. Fill them in or leave these rows out; or train it on rows with gaps."
        )
    strange = " ".join(notes)
    return ColumnError(f"The model cannot predict the rows of {name}: {first_line(error)}. {strange}".strip())


def _told(answers: Answers) -> Answers:
    if answers.notes:
        warnings.warn(" ".join(answers.notes), stacklevel=3)
    return answers
