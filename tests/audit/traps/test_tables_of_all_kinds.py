"""Any container and any values: what is read, what is sampled, what is declared, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import heldout as ho
from heldout.audit.check_table import interpret
from heldout.base.errors import OptionError, SplitError, TargetError
from heldout.data.target_kind import target_kind
from heldout.task.target import looks_like_classes

ROWS = 300


def codes(checked: ho.Checked) -> list[str]:
    return [trap.code for trap in checked.findings]


def trapped() -> pd.DataFrame:
    """A table with a copy of the target, an identifier, a constant column, dates and telling gaps."""
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.5
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=ROWS),
            "colour": rng.choice(["red", "blue"], ROWS),
            "again": np.where(y, "on", "off"),
            "code": [f"x{i}" for i in rng.permutation(ROWS)],
            "same": 1,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.permutation(ROWS), unit="D"),
            "gaps": np.where(y & (rng.random(ROWS) < 0.7), np.nan, rng.normal(size=ROWS)),
        }
    )
    return frame.assign(y=np.where(y, "yes", "no"))


FOUND = ["H603", "H605", "H607", "H610", "H611"]


def as_nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes().astype({"colour": "category", "again": "category"})


CONTAINERS = {
    "pandas": lambda frame: frame,
    "nullable": as_nullable,
    "polars": pl.from_pandas,
    "written dates": lambda frame: frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d")),
    "dates as numbers": lambda frame: frame.assign(day=frame["day"].dt.strftime("%Y%m%d").astype(int)),
    "names that are numbers": lambda frame: frame.set_axis([*range(len(frame.columns) - 1), "y"], axis=1),
    "dates with a zone": lambda frame: frame.assign(day=frame["day"].dt.tz_localize("Europe/Zurich")),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_has_the_same_findings(container: str) -> None:
    assert codes(ho.check(CONTAINERS[container](trapped()), "y")) == FOUND


def test_an_array_of_objects_is_read_column_by_column() -> None:
    frame = trapped()
    X = frame.drop(columns="y").astype(object).to_numpy()
    checked = ho.check(X, frame["y"].to_numpy())
    assert [(trap.code, trap.columns) for trap in checked.findings] == [
        ("H603", ("column 3",)),
        ("H605", ("column 2",)),
        ("H607", ("column 5",)),
        ("H610", ("column 4",)),
        ("H611", ("column 6",)),
    ]


def test_sparse_matrices_and_texts_are_read() -> None:
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((ROWS, 6)) < 0.3, rng.normal(size=(ROWS, 6)), 0.0)
    y = rng.integers(0, 2, ROWS)
    dense[:, 2], dense[:, 4] = 3.0 * y, 0.0
    found = ho.check(csr_array(dense), y).findings
    assert [(trap.code, trap.columns) for trap in found if trap.columns] == [
        ("H605", ("column 2",)),
        ("H610", ("column 4",)),
    ]
    texts = np.array([f"a remark number {i} on {rng.integers(99)} things" for i in range(ROWS)], dtype=object)
    assert codes(ho.check(texts, y)) == []
    assert codes(ho.check(np.append(texts, texts[:30]), np.append(y, y[:30]))) == ["H601"]


def test_several_outputs_are_checked_one_by_one() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(ROWS, 3)), rng.normal(size=(ROWS, 2))
    found = ho.check(np.column_stack([X, np.exp(y[:, 1])]), y).findings
    assert [(trap.code, trap.columns) for trap in found] == [("H605", ("column 3",))]
    assert "output 1 of the target" in found[0].seen


def test_many_rows_are_sampled_and_that_is_said() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 4))
    again = rng.choice(20_000, 400, replace=False)
    X = np.vstack([X, X[again]])
    y = np.concatenate([a := rng.normal(size=20_000), a[again]])
    checked = ho.check(X, y, most_rows=1_000)
    assert (checked.rows, checked.rows_looked_at) == (20_400, 1_000)
    assert "1,000 rows drawn at random from 20,400" in str(checked)
    copies = [trap for trap in checked.findings if trap.code == "H601"]  # copies are counted in all rows
    assert [(trap.severity, trap.evidence["copies"]) for trap in copies] == [("warning", 400)]


def test_what_only_all_rows_show_is_looked_up() -> None:
    """Scaling, components and mean targets are exact over all rows only; codes may repeat outside a sample."""
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(4)
    n = 6_000
    raw = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    y, shops = rng.normal(size=n), rng.integers(0, 30, n)
    scaled = rng.exponential(size=n)
    frame = pd.DataFrame(PCA(3).fit_transform(raw), columns=list("abc")).assign(
        scaled=(scaled - scaled.mean()) / scaled.std(),
        shop=pd.Series(y).groupby(shops).transform("mean"),
        raw=rng.normal(size=n),
        mostly=np.where(np.arange(n) < 5_990, 5 * np.arange(n), 0),
    )
    found = {trap.code: trap.columns for trap in ho.check(frame, y, most_rows=500).findings}
    assert found == {"H612": ("scaled",), "H614": ("a", "b", "c"), "H615": ("shop",)}


def test_copies_can_be_held_together() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(ROWS, 4)), rng.normal(size=ROWS)
    jitter = rng.normal(0, 1e-5, (20, 4))
    X, y = np.vstack([X, X[:20], X[20:40] + jitter]), np.concatenate([y, y[:20], y[20:40]])
    checked = ho.check(X, y)
    assert codes(checked) == ["H601", "H602"]
    groups = checked.groups
    assert groups is not None
    assert (groups[ROWS:] == groups[:40]).all()
    assert len(np.unique(groups)) == ROWS
    assert codes(ho.check(X, y, groups=groups)) == []
    assert ho.check(X[:ROWS], y[:ROWS]).groups is None


def test_what_is_declared_is_not_undeclared() -> None:
    rng = np.random.default_rng(6)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(ROWS), unit="D")
    frame = pd.DataFrame({"x": rng.normal(size=ROWS), "day": days, "y": np.cumsum(rng.normal(size=ROWS))})
    assert codes(ho.check(frame, "y")) == ["H607"]
    assert codes(ho.check(frame, "y", time="day")) == []
    clusters = np.repeat(np.arange(60), 5)
    frame = pd.DataFrame({"x": rng.normal(size=ROWS), "user_id": clusters, "y": rng.normal(size=60)[clusters]})
    assert codes(ho.check(frame, "y")) == ["H606"]
    assert codes(ho.check(frame, "y", groups="user_id")) == []


def test_numbers_that_change_smoothly_are_no_groups() -> None:
    rng = np.random.default_rng(7)
    age = rng.integers(20, 90, 600)
    frame = pd.DataFrame({"age": age, "age_group": age // 10})
    assert codes(ho.check(frame, np.sin(age / 15) + rng.normal(0, 0.4, 600))) == []


def test_a_given_part_is_compared_and_folds_are_not() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(ROWS, 4)), rng.normal(size=ROWS)
    X[:100, 1] += 2
    found = ho.check(X, y, test=ho.Given(np.arange(100)), ignore="H608").findings
    assert [(trap.code, trap.columns) for trap in found] == [("H609", ("column 1",))]
    evidence = found[0].evidence
    assert 0.5 < evidence["low"] < evidence["right"] < evidence["high"] <= 1
    assert ho.check(X, y, test=ho.KFold(5)).findings == ()


def test_options_are_checked() -> None:
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    with pytest.raises(OptionError, match="no finding 'H999' to ignore"):
        ho.check(X, y, ignore="H999")
    with pytest.raises(OptionError, match="ignore= takes numbers"):
        ho.check(X, y, ignore=[601])  # type: ignore[list-item]
    with pytest.raises(OptionError, match="most_rows= is a whole number from 1 on"):
        ho.check(X, y, most_rows=0)
    with pytest.raises(OptionError, match="no severity 'grave'"):
        ho.check(X, y).at_least("grave")
    with pytest.raises(TargetError, match="requires y"):
        ho.check(X)
    with pytest.raises(TargetError, match="holds dates"):
        ho.check(X, np.arange(50).astype("datetime64[D]"))
    with pytest.raises(TargetError, match="only one class"):
        ho.check(X, np.zeros(50, dtype=int), classification=True)
    with pytest.raises(SplitError):
        ho.check(X, y, test=ho.KFold(60))


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 1, 0],
        [1.0, 2.0, 2.0],
        [1.5, 2.0, 1.5],
        list(range(40)),
        [1, 2, 3] * 20,
        ["a", "b", "a"],
        [True, False, True],
        [None, 1.0, 0.0],
    ],
)
def test_the_command_and_the_library_see_the_same_target(values: list[Any]) -> None:
    series = pd.Series(values)
    assert looks_like_classes(series.dropna().to_numpy()) == target_kind(series, wanted=None)[0]


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(),
    st.text(max_size=5),
    st.dates().map(str),
    st.lists(st.integers(), max_size=2),
)


@given(columns=st.lists(st.lists(CELLS, min_size=12, max_size=12), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_no_cell_breaks_a_column(columns: list[list[Any]], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(12)
    for cells in columns:
        values = np.fromiter(cells, dtype=object, count=12)
        column, other = interpret(values, name="c", position=0), interpret(values[order], name="c", position=0)
        assert column.kind == other.kind
        assert sorted(column.counts) == sorted(other.counts)
        same = column.codes[order][:, None] == column.codes[order]
        assert (same == (other.codes[:, None] == other.codes)).all()


KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, 2.0),
    "empty": lambda rng, n: np.full(n, np.nan),
    "words": lambda rng, n: rng.choice(["a", "b", "<b>c</b>"], n),
    "counts": lambda rng, n: np.arange(n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.5, np.nan, rng.random(n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.3, np.inf, rng.random(n)),
    "dates": lambda rng, n: pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, n), unit="D"),
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
}


@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4),
    rows=st.integers(12, 70),
    target=st.sampled_from(["classes", "normal", "huge", "words"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_any_table_is_checked_without_a_warning_of_python(kinds: list[str], rows: int, target: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"{i} {kind}": KINDS[kind](rng, rows) for i, kind in enumerate(kinds)})
    y = np.arange(rows) % 2 if target == "classes" else KINDS[target](rng, rows)
    checked = ho.check(X, y, test=ho.KFold(2))
    assert all(trap.severity in ("info", "warning", "error") and trap.message for trap in checked.findings)
    constant = {name for trap in checked.findings if trap.code == "H610" for name in trap.columns}
    assert constant == {name for name in X if name.endswith(("constant", "empty"))}
