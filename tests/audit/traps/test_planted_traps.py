"""Each trap planted in a table is found, by its number and severity; without it the table is clean."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import heldout as ho
from heldout.audit.trap import EXPLAINED

ROWS = 600


def clean(*, seed: int = 0, rows: int = ROWS, classes: bool = True) -> dict[str, Any]:
    """A plain table: numbers, categories, gaps at random, and a target that they tell in part."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "height": rng.normal(170, 10, rows),
            "income": rng.lognormal(10, 1, rows),
            "rate": rng.beta(2, 3, rows),
            "age": rng.integers(18, 90, rows),
            "rooms": rng.poisson(3, rows),
            "city": rng.choice(["Bern", "Basel", "Chur", "Genf"], rows),
            "smokes": rng.random(rows) < 0.3,
        }
    )
    signal = (X["height"] - 170) / 10 + 0.03 * X["age"] + X["city"].eq("Bern") + rng.normal(0, 1, rows)
    X.loc[rng.random(rows) < 0.1, "rate"] = np.nan
    y = np.where(signal > signal.median(), "yes", "no") if classes else signal.to_numpy()
    return {"X": X, "y": y}


def same_rows() -> dict[str, Any]:
    data, rng = clean(), np.random.default_rng(1)
    again = rng.choice(ROWS, 30, replace=False)
    X = pd.concat([data["X"], data["X"].iloc[again]], ignore_index=True)
    return {"X": X, "y": np.concatenate([data["y"], data["y"][again]])}


def same_rows_under_ids() -> dict[str, Any]:
    data = same_rows()
    data["X"]["row_id"] = np.random.default_rng(2).permutation(len(data["X"])) + 1000
    return data


def same_rows_across_a_given_split() -> dict[str, Any]:
    return {**same_rows(), "test": ho.Given(np.arange(ROWS - 60, ROWS + 30))}


def jittered_rows() -> dict[str, Any]:
    data, rng = clean(), np.random.default_rng(1)
    again = rng.choice(ROWS, 60, replace=False)
    copies = data["X"].iloc[again].copy()
    for name in ("height", "income", "rate"):
        copies[name] += rng.normal(0, 1e-4, 60) * data["X"][name].std()
    X = pd.concat([data["X"], copies], ignore_index=True)
    return {"X": X, "y": np.concatenate([data["y"], data["y"][again]])}


def corrected_rows() -> dict[str, Any]:
    data, rng = clean(), np.random.default_rng(1)
    again = rng.choice(ROWS, 30, replace=False)
    copies = data["X"].iloc[again].copy()
    copies["income"] = rng.lognormal(10, 1, 30)
    X = pd.concat([data["X"], copies], ignore_index=True)
    return {"X": X, "y": np.concatenate([data["y"], data["y"][again]])}


def with_column(make: Callable[[np.random.Generator, dict[str, Any]], Any], **options: Any) -> Callable[[], Any]:
    """The clean table with one column more."""

    def planted() -> dict[str, Any]:
        data = clean(**options)
        data["X"] = data["X"].assign(extra=make(np.random.default_rng(5), data))
        return data

    return planted


def strong_but_honest(rng: np.random.Generator, data: dict[str, Any]) -> Any:
    return (data["y"] == "yes") + rng.normal(0, 0.9, ROWS)


def given_away(rng: np.random.Generator, data: dict[str, Any]) -> Any:
    return (data["y"] == "yes") + rng.normal(0, 0.05, ROWS)


def given_away_mostly(rng: np.random.Generator, data: dict[str, Any]) -> Any:
    right = rng.random(ROWS) < 0.995
    return np.where((data["y"] == "yes") == right, "closed", "open")


def noise_of(y: Any, rng: np.random.Generator, share: float) -> Any:
    return y + rng.normal(0, share * np.std(y), len(y))


def grouped(*, named: str, agree: bool = True) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data, rng = clean(classes=False), np.random.default_rng(3)
        codes = rng.integers(0, 120, ROWS)
        effect = rng.normal(0, 2, 120) if agree else np.zeros(120)
        names = rng.permutation(np.arange(5000, 5120))
        data["X"] = data["X"].assign(**{named: names[codes]})
        data["y"] = data["y"] + effect[codes]
        return data

    return planted


def patients() -> dict[str, Any]:
    """Visits of patients whose height and city never change."""
    data, rng = clean(), np.random.default_rng(3)
    codes = rng.integers(0, 150, ROWS)
    X = data["X"]
    X["height"], X["city"] = X["height"].to_numpy()[codes], X["city"].to_numpy()[codes]
    data["X"] = X.assign(patient=[f"P{code:04d}" for code in codes])
    data["y"] = rng.permutation(data["y"])
    return data


def dated(*, drifts: bool, in_order: bool, written: bool = False) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data, rng = clean(classes=False), np.random.default_rng(4)
        days = np.arange(ROWS) if in_order else rng.permutation(ROWS)
        dates = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
        data["X"] = data["X"].assign(seen=dates.strftime("%Y-%m-%d") if written else dates)
        if drifts:
            walk = np.cumsum(rng.normal(0, 0.3, ROWS))
            data["y"] = data["y"] + walk[days]
        return data

    return planted


def walking() -> dict[str, Any]:
    """A target that walks from row to row, with nothing that says when."""
    data = clean(classes=False)
    data["y"] = data["y"] + np.cumsum(np.random.default_rng(4).normal(0, 0.3, ROWS))
    return data


def drifting_parts(*, shift: float) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data = clean()
        tested = np.arange(400, ROWS)
        data["X"].loc[tested, "height"] += shift
        return {**data, "test": ho.Given(tested)}

    return planted


def rare_class() -> dict[str, Any]:
    data = clean()
    data["y"] = data["y"].copy()
    data["y"][[3, 77, 400]] = "so"
    return data


def telling_gaps(*, share: float) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data, rng = clean(), np.random.default_rng(6)
        data["X"].loc[(data["y"] == "yes") & (rng.random(ROWS) < share), "income"] = np.nan
        return data

    return planted


def scaled(how: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data = clean()
        names = ["height", "income"]
        data["X"] = data["X"].assign(**how(data["X"][names]))
        return data

    return planted


def imputed(statistic: str) -> Callable[[], Any]:
    def planted() -> dict[str, Any]:
        data = clean()
        data["X"]["rate"] = data["X"]["rate"].fillna(getattr(data["X"]["rate"], statistic)())
        return data

    return planted


def rotated() -> dict[str, Any]:
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(7)
    raw = rng.normal(size=(ROWS, 6)) @ rng.normal(size=(6, 6))
    return {"X": PCA(4).fit_transform(raw), "y": (raw[:, 0] + rng.normal(0, 2, ROWS) > 0).astype(int)}


def encoded() -> dict[str, Any]:
    data, rng = clean(classes=False), np.random.default_rng(8)
    shops = pd.Series(rng.integers(0, 40, ROWS))
    data["X"]["shop_value"] = pd.Series(data["y"]).groupby(shops).transform("mean")
    return data


def constant(value: Any) -> Callable[[], Any]:
    return with_column(lambda rng, data: value)


STANDARD = scaled(lambda x: (x - x.mean()) / x.std(ddof=0))
RANGED = scaled(lambda x: (x - x.min()) / (x.max() - x.min()))
ROBUST = scaled(lambda x: (x - x.median()) / (x.quantile(0.75) - x.quantile(0.25)))

# What is planted, its number, the severity it deserves, and the columns named.
PLANTED: dict[str, tuple[Callable[[], dict[str, Any]], str, str, tuple[str, ...]]] = {
    "same rows": (same_rows, "H601", "warning", ()),
    "same rows under ids": (same_rows_under_ids, "H601", "warning", ()),
    "same rows across a given split": (same_rows_across_a_given_split, "H601", "error", ()),
    "jittered rows": (jittered_rows, "H602", "warning", ()),
    "corrected rows": (corrected_rows, "H602", "warning", ()),
    "row counter": (with_column(lambda rng, _: np.arange(ROWS)), "H603", "warning", ("extra",)),
    "ids with gaps": (
        with_column(lambda rng, _: rng.choice(3 * ROWS, ROWS, replace=False)),
        "H603",
        "warning",
        ("extra",),
    ),
    "text ids": (
        with_column(lambda rng, _: [f"A-{i:05d}" for i in rng.permutation(ROWS)]),
        "H603",
        "warning",
        ("extra",),
    ),
    "long numbers": (
        with_column(lambda rng, _: rng.choice(8 * 10**9, ROWS, replace=False) + 10**9),
        "H603",
        "info",
        ("extra",),
    ),
    "given away": (with_column(given_away), "H604", "error", ("extra",)),
    "given away mostly": (with_column(given_away_mostly), "H604", "warning", ("extra",)),
    "given away, numbers": (
        with_column(lambda rng, d: noise_of(d["y"], rng, 0.02), classes=False),
        "H604",
        "error",
        ("extra",),
    ),
    "target itself": (with_column(lambda _, d: d["y"]), "H605", "error", ("extra",)),
    "target recoded": (with_column(lambda _, d: np.where(d["y"] == "yes", 7, 3)), "H605", "error", ("extra",)),
    "target times two": (with_column(lambda _, d: 2 * d["y"] + 1, classes=False), "H605", "error", ("extra",)),
    "target, exponential": (with_column(lambda _, d: -np.exp(d["y"]), classes=False), "H605", "error", ("extra",)),
    "target in steps": (
        with_column(lambda _, d: np.digitize(d["y"], [-1, 0, 1, 2]), classes=False),
        "H605",
        "error",
        ("extra",),
    ),
    "target in words": (
        with_column(lambda _, d: np.array(["low", "mid", "top"])[np.digitize(d["y"], [1, 2])], classes=False),
        "H605",
        "error",
        ("extra",),
    ),
    "groups that agree": (grouped(named="machine"), "H606", "warning", ("machine",)),
    "groups without a name": (grouped(named="extra"), "H606", "warning", ("extra",)),
    "patients": (patients, "H606", "warning", ("patient",)),
    "dates that matter": (dated(drifts=True, in_order=False), "H607", "warning", ("seen",)),
    "dates in order": (dated(drifts=False, in_order=True, written=True), "H607", "warning", ("seen",)),
    "dates that do not matter": (dated(drifts=False, in_order=False), "H607", "info", ("seen",)),
    "a walk": (walking, "H608", "warning", ()),
    "parts that drift": (drifting_parts(shift=10.0), "H609", "warning", ("height",)),
    "constant": (constant(3.5), "H610", "info", ("extra",)),
    "constant text": (constant("x"), "H610", "info", ("extra",)),
    "empty": (constant(np.nan), "H610", "warning", ("extra",)),
    "gaps that tell": (telling_gaps(share=0.6), "H611", "warning", ("income",)),
    "gaps that tell all": (telling_gaps(share=1.0), "H611", "error", ("income",)),
    "gaps that tell little": (telling_gaps(share=0.1), "H611", "info", ("income",)),
    "standardised": (STANDARD, "H612", "info", ("height", "income")),
    "ranged": (RANGED, "H612", "info", ("height", "income")),
    "robustly scaled": (ROBUST, "H612", "info", ("height", "income")),
    "mean imputed": (imputed("mean"), "H613", "info", ("rate",)),
    "median imputed": (imputed("median"), "H613", "info", ("rate",)),
    "rotated": (rotated, "H614", "warning", ()),
    "encoded": (encoded, "H615", "error", ("shop_value",)),
    "rare class": (rare_class, "H101", "warning", ()),
}

CLEAN: dict[str, Callable[[], dict[str, Any]]] = {
    "classes": clean,
    "numbers": lambda: clean(classes=False),
    "strong column": with_column(strong_but_honest),
    "shares": with_column(lambda rng, _: np.round(rng.random(ROWS), 1)),
    "codes that mean nothing": grouped(named="extra", agree=False),
    "parts alike": drifting_parts(shift=0.0),
    "a remark a row": with_column(
        lambda rng, _: [" ".join(rng.choice(["red", "old", "big", "low", "wet"], 6)) for _ in range(ROWS)]
    ),
}


@cache
def checked(name: str) -> ho.Checked:
    return ho.check(**PLANTED[name][0]())


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_trap_is_found(name: str) -> None:
    _, code, severity, columns = PLANTED[name]
    found = [trap for trap in checked(name).findings if trap.code == code]
    assert [(trap.severity, set(columns) <= set(trap.columns)) for trap in found] == [(severity, True)]


@pytest.mark.parametrize("name", PLANTED)
def test_nothing_else_is_found_where_one_trap_is_planted(name: str) -> None:
    expected = {PLANTED[name][1]} | ({"H603"} if name == "same rows under ids" else set())
    assert {trap.code for trap in checked(name).findings} <= expected


@pytest.mark.parametrize("name", [*PLANTED, *CLEAN])
@pytest.mark.parametrize("rows", [100_000, 400])
def test_a_screen_leaves_out_no_column_that_a_check_reports(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each column is looked at for leaks one by one, the same is found."""
    data = PLANTED[name][0]() if name in PLANTED else CLEAN[name]()
    screened = ho.check(**data, most_rows=rows)

    def all_of(columns: Any) -> Any:
        return np.ones(len(columns), dtype=bool)

    monkeypatch.setattr("heldout.audit.screens.roughness", lambda _, order, *__: (np.zeros(len(order)), all_of(order)))
    monkeypatch.setattr("heldout.audit.screens.spread_in_levels", lambda _, order, *__: (all_of(order), all_of(order)))
    assert list(map(str, ho.check(**data, most_rows=rows).findings)) == list(map(str, screened.findings))


def test_every_number_has_a_planted_trap() -> None:
    assert {code for _, code, _, _ in PLANTED.values()} == set(EXPLAINED)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_table_is_silent(name: str) -> None:
    assert [str(trap) for trap in ho.check(**CLEAN[name]()).findings] == []


@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("classes", [True, False])
def test_other_clean_tables_are_silent_too(seed: int, classes: bool) -> None:
    assert [str(trap) for trap in ho.check(**clean(seed=seed, classes=classes)).findings] == []


@pytest.mark.parametrize("frame", [True, False])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits])
def test_bundled_datasets_have_nothing_above_info(load: Any, frame: bool) -> None:
    X, y = load(as_frame=frame, return_X_y=True)
    assert [str(trap) for trap in ho.check(X, y).at_least("warning")] == []


def test_diabetes_is_delivered_scaled_and_raw() -> None:
    delivered = ho.check(*load_diabetes(return_X_y=True))
    raw = ho.check(*load_diabetes(return_X_y=True, scaled=False))
    assert [(trap.code, trap.severity) for trap in delivered.findings] == [("H612", "info")]
    assert "mean 0 and norm 1" in delivered.findings[0].seen
    assert raw.findings == ()


def test_rows_that_meet_by_chance_are_no_copies() -> None:
    rng = np.random.default_rng(9)
    found = ho.check(rng.integers(0, 2, (ROWS, 8)), rng.integers(0, 2, ROWS)).findings
    assert [(trap.code, trap.severity) for trap in found] == [("H601", "info")]
    assert "by chance" in found[0].seen


@pytest.mark.parametrize("name", ["same rows", "given away", "patients", "gaps that tell", "rotated"])
def test_the_order_of_the_rows_decides_nothing(name: str) -> None:
    data = PLANTED[name][0]()
    order = np.random.default_rng(0).permutation(len(data["y"]))
    X = data["X"][order] if isinstance(data["X"], np.ndarray) else data["X"].iloc[order].reset_index(drop=True)
    found = ho.check(X, data["y"][order]).findings
    assert [(t.code, t.severity, t.columns) for t in found] == [
        (t.code, t.severity, t.columns) for t in checked(name).findings
    ]
