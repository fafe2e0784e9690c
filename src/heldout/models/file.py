"""Writes and reads model files: one zip with what skops writes, which holds no pickle, and plain data about it.

Reading a file runs no code of it, whoever wrote it: types outside a fixed list are refused by name, sizes are checked
before anything is unpacked, and the loaded objects are checked before they are used.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heldout.base.archive import Format, opened_archive, refused_unless_whole
from heldout.base.errors import LearnerError, OptionError, StoredError, did_you_mean, named_line
from heldout.base.registered import REGISTERED
from heldout.base.warnings import catch_warnings
from heldout.base.words import show_bytes
from heldout.data.compressed import most_unpacked
from heldout.models.soundness import check_sound

# Besides these, skops itself allows scikit-learn's estimators, the ufuncs of numpy and scipy, arrays and plain values.
_SKLEARN = (
    "functools.partial",  # of a function that is itself allowed: boosting checks its columns with one
    "numpy.dtype",
    *(f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("matrix", "array")),
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    *(
        f"sklearn.gaussian_process.kernels.{name}"
        for name in ("ConstantKernel", "DotProduct", "Matern", "Product", "RBF", "RationalQuadratic", "Sum")
    ),
    "sklearn.gaussian_process.kernels.WhiteKernel",
    *(
        f"sklearn.metrics._dist_metrics.{name}Distance64"
        for name in ("Chebyshev", "Euclidean", "Manhattan", "Minkowski")
    ),
    "sklearn.model_selection._split.KFold",  # the folds of cross-fitting, in an encoder of categories
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)
ALLOWED = frozenset((*(f"heldout.{name}" for name in REGISTERED), *_SKLEARN))

# These libraries read their models with native code that was not made for files from strangers.
PACKAGES: Mapping[str, frozenset[str]] = {
    "catboost": frozenset({"catboost.core.CatBoostClassifier", "catboost.core.CatBoostRegressor"}),
    "lightgbm": frozenset(
        {
            "collections.OrderedDict",
            "lightgbm.basic.Booster",
            "lightgbm.sklearn.LGBMClassifier",
            "lightgbm.sklearn.LGBMRegressor",
        }
    ),
    "xgboost": frozenset({"xgboost.core.Booster", "xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"}),
}


def allowed_types(trust: Iterable[str] = ()) -> frozenset[str]:
    """Return the types that are allowed besides skops' own, with those of the packages that the user trusts.

    >>> "lightgbm.basic.Booster" in allowed_types(["lightgbm"])
    True
    """
    allowed = ALLOWED
    for name in trust:
        if name not in PACKAGES:
            raise OptionError(f"{name!r} is no package that can be trusted. {did_you_mean(name, PACKAGES)}")
        allowed |= PACKAGES[name]
    return allowed


def packages_of(types: Iterable[str]) -> list[str]:
    """Return the packages that must be trusted to allow these types; empty if that would not be enough.

    >>> packages_of(["lightgbm.basic.Booster"]), packages_of(["lightgbm.basic.Booster", "os.system"])
    (['lightgbm'], [])
    """
    types = set(types)
    needed = sorted(name for name, known in PACKAGES.items() if any(kind.startswith(name) for kind in types & known))
    return needed if types <= allowed_types(needed) else []


FORMAT = Format(
    name="heldout model",
    words="a model file",
    manifest="heldout.json",
    version=1,
    again="evaluate again and save the model anew",
)
_TREE = "schema.json"  # the member in which skops stores the tree of objects
_DIGEST = "sha256"
MOST_TEXT = 256 << 20  # bytes of the tree of objects, and of the manifest
_NESTED = "SparseMatrixNode"  # the kind of node that skops stores as a zip inside the zip


def need_skops() -> None:
    """Raise an OptionError that says how to install skops, if it is missing."""
    if find_spec("skops") is None:
        raise OptionError("Model files need skops, which is not installed. Install it: pip install 'heldout[models]'.")


def pack(predictor: Any) -> tuple[bytes, Any, list[str]]:
    """Return a predictor as bytes, the predictor read back from them, and the packages that a reader must trust.

    Raises LearnerError for a type that a model file may not hold.
    """
    need_skops()
    import skops.io as sio

    try:
        data = sio.dumps(predictor, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:  # an estimator may hold anything
        raise LearnerError(f"This predictor cannot be kept in a model file: {named_line(error)}. {_WAY_OUT}") from error
    strange = _strange_types(data, allowed_types())
    packages = packages_of(strange)
    if strange and not packages:
        raise LearnerError(f"A model file may not hold the type {', '.join(strange[:3])}. {_WAY_OUT}")
    return data, _unpack(data, allowed_types(packages), Path("model")), packages


def check_packable(learner: Any) -> None:
    """Raise LearnerError for a learner with a type that no model file may hold, before anything is fitted."""
    estimators = getattr(learner, "estimator", learner)
    families = estimators.values() if isinstance(estimators, Mapping) else [estimators]
    for family in families:
        pack(family[0] if isinstance(family, tuple) else family)


def write_file(path: str | Path, data: bytes, manifest: Mapping[str, Any]) -> None:
    """Write a model file atomically: an existing file is replaced only after the new one is complete."""
    head = {"format": FORMAT.name, "version": FORMAT.version, **manifest}
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as file:
        digest = _digest(file, head)
        file.writestr(FORMAT.manifest, json.dumps({**head, _DIGEST: digest}, ensure_ascii=False, allow_nan=False))
    target = Path(path)
    unfinished = target.with_name(target.name + ".part")
    unfinished.write_bytes(buffer.getvalue())
    os.replace(unfinished, target)


def read_file(path: str | Path, *, trust: Iterable[str] = ()) -> tuple[Any, dict[str, Any]]:
    """Return the predictor of a model file and the data about it; raise StoredError for a file that is not sound."""
    allowed = allowed_types(trust)
    need_skops()
    place = Path(path)
    if place.is_dir():
        raise StoredError(f"{str(path)!r} is a folder. Name a model file in it.")
    try:
        with refused_unless_whole(path, FORMAT), zipfile.ZipFile(place) as file:
            _check_members(file, place)
        with opened_archive(path, FORMAT) as (manifest, file):
            if manifest.pop(_DIGEST, None) != _digest(file, manifest):
                raise StoredError(f"{str(path)!r} was changed after it was written. Save the model anew.")
        return _unpack(place.read_bytes(), allowed, place), manifest
    except OSError as error:
        raise StoredError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def _strange_types(data: bytes, allowed: frozenset[str]) -> list[str]:
    import skops.io as sio

    return [kind for kind in sio.get_untrusted_types(data=data) if kind not in allowed]


def _unpack(data: bytes, allowed: frozenset[str], place: Path) -> Any:
    import skops.io as sio
    from sklearn.exceptions import InconsistentVersionWarning
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        with catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # versions are compared by heldout, all at once
            predictor = sio.loads(data, trusted=sorted(allowed))
        check_sound(predictor)
    except UntrustedTypesFoundException:
        raise StoredError(_strangers(_strange_types(data, allowed), place)) from None
    except StoredError as error:
        raise StoredError(f"{place.name!r} is not a sound model: {error}. Nothing was predicted with it.") from None
    except Exception as error:  # a file may be wrong in any way
        raise StoredError(f"{place.name!r} is not {_WHOLE}: {named_line(error)}.") from error
    return predictor


def _strangers(types: list[str], place: Path) -> str:
    packages = packages_of(types)
    if packages:
        names = " and ".join(packages)
        return (
            f"{place.name!r} holds a model of {names}, which code of that library reads, not Python. If you trust "
            f"whoever made the file: --trust {','.join(packages)}, or load_model(…, trust={packages!r})."
        )
    shown = ", ".join(types[:5]) + (f", … {len(types)} in all" if len(types) > 5 else "")
    return f"{place.name!r} holds types that no model file of heldout has: {shown}. It was not loaded, nothing ran."


def _check_members(file: zipfile.ZipFile, place: Path) -> None:
    """Raise StoredError for a file of another kind, or one too large once unpacked, before unpacking any of it."""
    sizes = {info.filename: info.file_size for info in file.infolist()}
    if len(sizes) < len(file.infolist()):
        raise StoredError(f"{place.name!r} is not {_WHOLE}: a part is there twice.")
    if FORMAT.manifest not in sizes:
        raise StoredError(_other_file(sizes, place))
    if _TREE not in sizes:
        raise StoredError(f"{place.name!r} is not {_WHOLE}: its predictor is not there.")
    limit = most_unpacked(place.stat().st_size)
    text = max(sizes[FORMAT.manifest], sizes[_TREE])
    if text > MOST_TEXT or sum(sizes.values()) > limit:
        raise _too_large(place, sum(sizes.values()))
    used = _used_bytes(json.loads(file.read(_TREE)), sizes, file)
    if used > limit:
        raise _too_large(place, used)


def _other_file(sizes: Mapping[str, int], place: Path) -> str:
    if "result.json" in sizes:
        return (
            f"{place.name!r} is a saved result, which holds numbers and no model. Save the model too: "
            "heldout evaluate … --save model.skops."
        )
    if _TREE in sizes:
        return f"{place.name!r} was written by skops, but not by heldout: it does not say which columns it needs."
    return f"{place.name!r} is not {FORMAT.words}."


def _used_bytes(tree: Any, sizes: Mapping[str, int], file: zipfile.ZipFile) -> int:
    """Return the bytes that loading unpacks: each part as often as it is named, and the content of inner zips."""
    used: dict[tuple[Any, str], int] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            name = node.get("file")
            if isinstance(name, str) and name in sizes:
                inner = 0
                if node.get("__loader__") == _NESTED:
                    inner = sum(info.file_size for info in zipfile.ZipFile(io.BytesIO(file.read(name))).infolist())
                used[str(node.get("__id__")), name] = sizes[name] + inner
    return sum(used.values())


def _too_large(place: Path, count: int) -> StoredError:
    return StoredError(
        f"{place.name!r} has {show_bytes(place.stat().st_size)} but unpacks to {show_bytes(count)}: too much for a "
        "model of that size, or for this machine. It was not loaded."
    )


def _digest(file: zipfile.ZipFile, manifest: Mapping[str, Any]) -> str:
    """Return a hash of all parts. It detects an edited part, but does not prove who wrote the file."""
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode())
    for name in sorted(set(file.namelist()) - {FORMAT.manifest}):
        digest.update(name.encode() + b"\0" + hashlib.sha256(file.read(name)).digest())
    return digest.hexdigest()


_WHOLE = "a whole model file"
_WAY_OUT = (
    "It may hold estimators of scikit-learn, the catalogue's own parts, and "
    + ", ".join(PACKAGES)
    + ". Keep this one in Python by result.predictor."
)
