"""`evaluate` and `compare` look for leaks and traps in the data before the first fit, and say what they found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stream_files import make_frame

import heldout as ho
from heldout.audit.trap import EXPLAINED
from heldout.base.errors import OptionError

ROWS = 300


def wages() -> pd.DataFrame:
    """A table such as R's `Wage`: the log of the target is among its columns."""
    rng = np.random.default_rng(0)
    age, school = rng.integers(18, 80, ROWS), rng.integers(8, 20, ROWS)
    wage = np.round(np.exp(3 + 0.01 * age + 0.08 * school + rng.normal(0, 0.3, ROWS)), 2)
    return pd.DataFrame({"age": age, "school": school, "logwage": np.round(np.log(wage), 6), "wage": wage})


def noise(share: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    return X.assign(y=np.where(rng.permutation(ROWS) < share * ROWS, "yes", "no"))


def study(frame: pd.DataFrame, y: str, learner: Any = None, **asked: Any) -> ho.Result:
    learner = learner or (DummyRegressor() if frame[y].dtype.kind in "if" else DummyClassifier())
    return ho.evaluate(learner, frame, y, test=ho.KFold(3), jobs=1, progress=False, **asked)


def found(result: Any) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in result.findings if one.code in EXPLAINED]


def test_a_log_of_the_target_is_an_error_in_every_door(tmp_path: Any) -> None:
    result = study(wages(), "wage", Ridge())
    assert found(result) == [("H605", "error")]
    message = result.findings[0].message
    assert message.startswith("Column 'logwage' rises with the target, without exception,")
    assert message.endswith("Leave the column out (--drop on the command line).")
    assert "Column 'logwage' rises with the target" in str(result)
    assert "(H605)" in str(result)
    assert "logwage" in result._repr_html_()
    summary = result.summary()
    assert {"code": "H605", "severity": "error", "message": message} in summary["findings"]
    checks = summary["checks"]
    assert (checks["ran"], checks["mode"], checks["rows_looked_at"]) == (True, "quick", ROWS)
    assert (checks["found"]["error"], checks["found"]["warning"]) == (1, 0)
    assert "columns that give the target away" in checks["looked"]
    assert "a test part unlike its training part (the test parts are drawn, not given)" in checks["not_looked"]
    result.save(tmp_path / "wage.heldout")
    loaded = ho.load(tmp_path / "wage.heldout")
    assert loaded.findings == result.findings
    assert loaded.summary()["checks"] == checks


def test_an_identifier_two_traps_noise_and_few_positives() -> None:
    rng = np.random.default_rng(2)
    frame = wages().assign(order=rng.permutation(ROWS) + 5000)
    assert found(study(frame.drop(columns="logwage"), "wage")) == [("H603", "warning")]
    assert found(study(frame, "wage")) == [("H603", "warning"), ("H605", "error")]
    for share in (0.5, 0.06):
        assert found(study(noise(share), "y", LogisticRegression())) == []


def test_ids_are_found_sorted_or_shuffled_and_by_any_name() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.choice(10**6, ROWS, replace=False)
    far = 2**60 + rng.permutation(ROWS) * 7  # floats do not hold them
    ids = {"key": drawn, "sorted": np.sort(drawn), "x": rng.permutation(ROWS), "nine": drawn + 10**9, "far": far}
    for name, values in ids.items():
        result = study(noise().assign(**{name: values}), "y")
        assert [code for code, _ in found(result)] == ["H603"], name
        assert repr(name) in result.findings[0].message


def test_amounts_are_neither_identifiers_nor_groups() -> None:
    """Whole numbers that never repeat, or seldom, but whose order means something."""
    rng = np.random.default_rng(4)
    area = rng.choice(np.arange(800, 3000, 10), ROWS)
    price = 150 * area + rng.normal(0, 30_000, ROWS)
    frame = pd.DataFrame(
        {
            "area": area,
            "lot": 3 * area + rng.integers(0, 2000, ROWS),
            "built": rng.integers(1950, 2020, ROWS),
            "income": np.round(price / 4 + rng.normal(0, 9_000, ROWS)).astype(int),
        }
    )
    assert frame["income"].is_unique
    assert found(study(frame.assign(price=np.round(price, -3)), "price")) == []


def test_what_is_ignored_or_switched_off_is_not_said_and_that_is() -> None:
    frame = wages().assign(order=np.random.default_rng(2).permutation(ROWS) + 5000)
    result = study(frame, "wage", ignore="h605")
    assert found(result) == [("H603", "warning")]
    assert result.summary()["checks"]["ignored"] == ["H605"]
    assert "ignore='h605'" in result.summary()["about"]["call"]
    result = study(frame, "wage", checks="none")
    checks = result.summary()["checks"]
    assert found(result) == []
    assert (checks["ran"], checks["looked"], checks["not_looked"]) == (False, [], ['everything (checks="none")'])
    with pytest.raises(OptionError, match="checks= is one of quick, all, none"):
        study(frame, "wage", checks="some")
    with pytest.raises(OptionError, match="no finding 'H999' to ignore"):
        study(frame, "wage", ignore=["H999"])


def test_what_is_declared_and_what_no_learner_sees_is_not_reported() -> None:
    rng = np.random.default_rng(5)
    user, frame = rng.integers(0, 60, ROWS), wages()
    frame["wage"] += 60 * rng.normal(size=60)[user]
    frame = frame.drop(columns="logwage").assign(user_id=user, leak=2 * frame["wage"])
    assert found(study(frame, "wage")) == [("H605", "error"), ("H606", "warning")]
    assert found(study(frame, "wage", groups="user_id")) == [("H605", "error")]
    for columns in (["age", "school"], [0, 1], slice(0, 2)):
        chosen = make_pipeline(ColumnTransformer([("kept", StandardScaler(), columns)]), Ridge())
        assert found(study(frame, "wage", chosen)) == []
        assert "H605" in dict(
            found(study(frame, "wage", chosen.set_params(columntransformer__remainder="passthrough")))
        )
    beside = {"chosen": chosen.set_params(columntransformer__remainder="drop"), "mean": DummyRegressor()}
    assert "H605" in dict(found(ho.compare(beside, frame, "wage", test=ho.KFold(3), jobs=1, progress=False)))


def test_a_comparison_looks_once_and_says_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import heldout.api.evaluate as api

    looks: list[Any] = []
    look = api.check_study
    monkeypatch.setattr(api, "check_study", lambda *given, **asked: looks.append(given) or look(*given, **asked))
    learners = {"ridge": Ridge(), "mean": DummyRegressor()}
    how: dict[str, Any] = {"test": ho.KFold(3), "jobs": 1, "progress": False}
    comparison = ho.compare(learners, wages(), "wage", **how)
    assert len(looks) == 1
    assert found(comparison) == [("H605", "error")]
    assert found(comparison.results["mean"]) == [("H605", "error")]
    assert comparison.summary()["checks"]["found"]["error"] == 1
    assert found(ho.compare(learners, wages(), "wage", ignore="H605", **how)) == []
    assert (
        comparison.summary()["about"]["call"]
        != ho.compare(learners, wages(), "wage", ignore="H605", **how).about["call"]
    )


def test_the_same_is_found_by_any_number_of_jobs_and_when_resumed(tmp_path: Any) -> None:
    frame = wages().assign(order=np.random.default_rng(2).permutation(ROWS) + 5000)
    learner = ho.Tuned(RandomForestRegressor(5, random_state=0), {"max_depth": [1, 3]}, validation=ho.KFold(3))
    seen = []
    for jobs, journal in ((1, None), (2, None), (1, tmp_path / "j.db"), (1, tmp_path / "j.db")):
        result = ho.evaluate(learner, frame, "wage", test=ho.KFold(3), jobs=jobs, journal=journal, progress=False)
        seen.append((result.findings, {**result.summary()["checks"], "seconds": 0}))
    assert seen.count(seen[0]) == 4
    assert seen[0][0][1].code == "H605"


def test_a_large_table_is_looked_at_in_drawn_rows() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60_000, 20))
    y = X[:, 0] + rng.normal(size=60_000)
    X[:, 7] = y**3
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), jobs=1, progress=False)
    assert found(result) == [("H605", "error")]
    checks = result.summary()["checks"]
    assert 1_000 < checks["rows_looked_at"] < 30_000
    assert any('checks="all" looks' in words for words in checks["not_looked"])
    everything = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), jobs=1, progress=False, checks="all")
    assert everything.summary()["checks"]["rows_looked_at"] == 60_000
    assert not any('checks="all"' in words for words in everything.summary()["checks"]["not_looked"])


def test_costly_checks_run_where_they_are_cheap_beside_the_study() -> None:
    frame = (
        pd.DataFrame(np.random.default_rng(7).normal(size=(ROWS, 20))).rename(columns={0: "wage"}).rename(columns=str)
    )
    near = "nearly equal rows on both sides of a split"
    assert near not in study(frame, "wage", Ridge()).summary()["checks"]["looked"]
    forest = RandomForestRegressor(300, random_state=0)
    learner = ho.Tuned(forest, {"max_depth": [1, 2, 3, 4]}, validation=ho.KFold(5))
    options = ho.Options(timeout=0.001)  # the study ends at once; what it would cost decides
    result = study(frame, "wage", learner, options=options)
    assert near in result.summary()["checks"]["looked"]
    assert near in study(frame, "wage", Ridge(), checks="all").summary()["checks"]["looked"]


def test_a_stream_says_that_nothing_was_looked_for(tmp_path: Any) -> None:
    path = tmp_path / "numbers.parquet"
    make_frame().to_parquet(path)
    checks = ho.evaluate(Ridge(), path, target="y", test=ho.KFold(5)).summary()["checks"]
    reason = "a stream is read in passes; heldout check looks at a part that is loaded"
    assert checks["not_looked"][0] == f"leaks and traps in the data ({reason})"
    assert "columns that give the target away" not in checks["looked"]


def test_a_check_that_fails_does_not_end_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("heldout.audit.run_checks.find_copies", fail)
    result = study(wages(), "wage", Ridge())
    assert result.risk.value is not None
    assert (
        "the target under another name (the check failed by ZeroDivisionError: by zero)"
        in (result.summary()["checks"]["not_looked"])
    )
    monkeypatch.setattr("heldout.audit.run_checks.screen", fail)
    result = study(wages(), "wage", Ridge())
    reason = "reading the columns failed: ZeroDivisionError: by zero"
    assert result.summary()["checks"]["not_looked"][0] == f"leaks and traps in the data ({reason})"


def test_explain_says_that_the_data_are_looked_at() -> None:
    frame = wages()
    assert "leaks and traps in the data are looked for first" in str(ho.explain(Ridge(), frame, "wage"))
    assert "all leaks and traps" in str(ho.explain(Ridge(), frame, "wage", checks="all"))
    assert "leaks" not in str(ho.explain(Ridge(), frame, "wage", checks="none"))


ODD = {
    "normal": lambda rng, n: rng.normal(size=n),
    "missing": lambda rng, n: np.full(n, np.nan),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.9, np.nan, rng.normal(size=n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.3, np.inf, -np.inf),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-310,
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "long": lambda rng, n: rng.integers(2**62, 2**63 - 1, n),
    "unsigned": lambda rng, n: rng.integers(0, 2**64 - 1, n, dtype=np.uint64),
    "nothing": lambda rng, n: np.array([None] * n, dtype=object),
    "words": lambda rng, n: pd.Series(rng.choice(["a b", "<b>", ""], n)).astype(object),
    "some words": lambda rng, n: np.where(rng.random(n) < 0.5, None, rng.choice(["a", "b"], n)),
    "categories": lambda rng, n: pd.Categorical(rng.choice(["x", "y"], n), categories=["x", "y", "z"]),
    "numbered": lambda rng, n: pd.Categorical(rng.integers(0, 3, n)),
    "dates": lambda rng, n: pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, n), unit="D"),
    "no dates": lambda rng, n: np.array([np.datetime64("NaT")] * n, dtype="datetime64[ns]"),
    "zoned": lambda rng, n: pd.date_range("2024-01-01", periods=n, tz="Europe/Zurich", freq="h"),
    "periods": lambda rng, n: pd.period_range("2024-01", periods=n, freq="M"),
    "lengths": lambda rng, n: pd.to_timedelta(rng.integers(0, 9, n), unit="h"),
    "truths": lambda rng, n: rng.random(n) < 0.5,
    "maybe": lambda rng, n: pd.array(np.where(rng.random(n) < 0.5, None, True), dtype="boolean"),
    "nullable": lambda rng, n: pd.array(np.where(rng.random(n) < 0.5, None, 1), dtype="Int64"),
    "one": lambda rng, n: np.zeros(n),
    "lists": lambda rng, n: pd.Series([[1, 2]] * n),
}
TARGETS = {
    "a class a row": lambda rng, n: np.array([f"k{i}" for i in range(n)]),
    "one row of a class": lambda rng, n: np.r_[np.zeros(n - 1, dtype=int), 1],
    "numbers": lambda rng, n: rng.normal(size=n),
    "huge numbers": lambda rng, n: rng.normal(size=n) * 1e300,
    "two outputs": lambda rng, n: rng.normal(size=(n, 2)),
    "labels": lambda rng, n: rng.integers(0, 2, (n, 3)),
    "constant": lambda rng, n: np.full(n, 7.0),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [2, 24, 130])
@pytest.mark.parametrize("mode", ["quick", "all"])
def test_no_table_makes_a_check_fail(target: str, rows: int, mode: str) -> None:
    """Every odd column alone, and all together, as a frame and as an array."""
    rng = np.random.default_rng(rows)
    y = TARGETS[target](rng, rows)
    learner, loss = (DummyRegressor(), "absolute") if y.dtype.kind == "f" else (DummyClassifier(), None)
    tables = [pd.DataFrame({name: make(rng, rows) for name, make in ODD.items()})]
    tables += [tables[0][[name]].rename(columns={name: 3}) for name in ODD]
    tables += [rng.normal(size=(rows, 2)).astype(np.float16), rng.integers(0, 2, (rows, 3)).astype(bool)]
    tables += [tables[0][["normal", "gaps", "one"]].to_numpy(), tables[0][["words", "nothing"]].to_numpy(dtype=object)]
    for X in tables:
        result = ho.evaluate(learner, X, y, test=ho.KFold(2, stratify=False), loss=loss, jobs=1, checks=mode)
        checks = result.summary()["checks"]
        assert checks["ran"]
        assert [words for words in checks["not_looked"] if "failed by" in words or "it failed" in words] == []
