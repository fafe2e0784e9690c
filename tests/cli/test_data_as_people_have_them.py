"""The command on tables as people have them: dialects, Excel, standard input, no target, the line in errors."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from workbook import workbook

import heldout as ho
from heldout.cli.main import main

ASK = ("--target", "preis", "--learner", "ridge", "--test", "kfold:3", "--validation", "kfold:3")
FAST = ("--jobs", "1", "--no-journal")


def run(*words: str, told: bytes | str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=told, env={"COLUMNS": "100"}, prog_name="heldout")


def summary_of(*words: str, told: bytes | None = None) -> dict[str, Any]:
    done = run("evaluate", *words, *FAST, "--json", told=told)
    assert done.exit_code == 0, done.output
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def error_of(*words: str, told: bytes | None = None) -> str:
    done = run(*words, told=told)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


@pytest.fixture
def houses() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"fläche": rng.uniform(30, 200, 40).round(1), "ort": rng.choice(["Zürich", "Genève"], 40)})
    table["preis"] = (table["fläche"] * 3000 + rng.normal(0, 9000, 40)).round(2)
    return table


def as_written(table: pd.DataFrame, name: str) -> bytes:
    def german(values: pd.Series, unit: str = "") -> list[str]:
        return [f"{value:,.2f}{unit}".translate(str.maketrans(",.", ".,")) for value in values]

    dialects = {
        "point.csv": {},
        "tab.tsv": {"sep": "\t"},
        "bar.txt": {"sep": "|"},
        "semicolon.csv": {"sep": ";"},
        "decimal.csv": {"sep": ";", "decimal": ","},
        "quoted.csv": {"decimal": ",", "quoting": 1},
    }
    if name in dialects:
        return table.to_csv(index=False, **dialects[name]).encode()
    if name == "excel.xlsx":
        return workbook({"Häuser": [list(table.columns), *table.to_numpy().tolist()], "other": [["x"], [1]]})
    if name == "german.csv":
        told = table.assign(fläche=german(table["fläche"]), preis=german(table["preis"], " €"))
        return told.to_csv(index=False, sep=";").encode("cp1252")
    encoding = {"latin.csv": "latin-1", "utf16.csv": "utf-16", "mark.csv": "utf-8-sig", "big.csv": "utf-16-be"}[name]
    return table.to_csv(index=False, lineterminator="\r\n").encode(encoding)


WRITTEN = ["point.csv", "tab.tsv", "bar.txt", "semicolon.csv", "decimal.csv", "quoted.csv", "excel.xlsx", "german.csv"]
WRITTEN += ["latin.csv", "utf16.csv", "mark.csv", "big.csv"]


def test_one_table_in_twelve_dialects_has_one_risk(houses: pd.DataFrame) -> None:
    pytest.importorskip("python_calamine")
    found = {}
    for name in WRITTEN:
        Path(name).write_bytes(as_written(houses, name))
        summary = summary_of(name, *ASK)
        assert (summary["about"]["source"], summary["about"]["target"]) == (name, "preis")
        found[name] = (summary["risk"]["value"], summary["about"]["fingerprint"])
    assert len(found) == 12
    assert set(found.values()) == {found["point.csv"]}


def test_how_a_table_was_read_is_said_in_the_head_lines(houses: pd.DataFrame) -> None:
    Path("german.csv").write_bytes(as_written(houses, "german.csv"))
    text = " ".join(run("explain", "german.csv", *ASK).stdout.split())
    assert "read as columns separated by semicolons, decimal commas, Latin-1 (cp1252); preis ('" in text
    Path("point.csv").write_bytes(as_written(houses, "point.csv"))
    assert "read as" not in run("explain", "point.csv", *ASK).stdout
    for command in (("check", "german.csv", "-t", "preis"), ("advise", "german.csv", *ASK[:4])):
        assert "columns separated by semicolons" in " ".join(run(*command).stdout.split()), command


def test_options_overrule_and_a_study_file_keeps_them(houses: pd.DataFrame) -> None:
    Path("a.csv").write_bytes(houses.to_csv(index=False, sep="|", decimal=",").encode("cp1251", "replace"))
    how = ("--sep", "|", "--decimal", ",", "--encoding", "cp1251")
    summary = summary_of("a.csv", *ASK, *how, "--write-study", "study.toml")
    text = Path("study.toml").read_text()
    assert all(line in text for line in ('sep = "|"', 'decimal = ","', 'encoding = "cp1251"'))
    assert summary_of("study.toml")["risk"] == summary["risk"]
    assert "decimal is one of ., ," in error_of("evaluate", *with_line("study.toml", 'decimal = ";"'))
    told = error_of("evaluate", "a.csv", *ASK, "--encoding", "klingon")
    assert "--encoding klingon: there is no such encoding." in told


def with_line(name: str, line: str) -> tuple[str, ...]:
    key = line.partition(" ")[0]
    lines = [one for one in Path(name).read_text().splitlines() if not one.startswith(key)]
    Path("other.toml").write_text("\n".join([line, *lines]))
    return ("other.toml",)


def test_a_table_comes_by_standard_input_in_any_form(houses: pd.DataFrame) -> None:
    Path("a.csv").write_bytes(as_written(houses, "point.csv"))
    whole = summary_of("a.csv", *ASK)
    lines = houses.to_json(orient="records", lines=True, double_precision=15).encode()
    forms = [as_written(houses, "decimal.csv"), gzip.compress(as_written(houses, "utf16.csv")), lines]
    if pd.io.common.import_optional_dependency("pyarrow", errors="ignore"):
        out = io.BytesIO()
        houses.to_parquet(out)
        forms.append(out.getvalue())
    for content in forms:
        summary = summary_of("-", *ASK, told=content)
        assert summary["risk"] == whole["risk"]
        assert summary["about"]["source"] == "standard input"
    assert "standard input: 40 rows" in run("explain", "-", *ASK, told=forms[0]).stdout
    assert "'standard input' is empty" in error_of("explain", "-", *ASK, told=b"")
    told = error_of("evaluate", "-", *ASK, "--write-study", "s.toml", *FAST, told=forms[0])
    assert "--write-study s.toml: a study file names its table, and standard input has no name." in told


def test_the_sheet_of_a_workbook_is_named(houses: pd.DataFrame) -> None:
    pytest.importorskip("python_calamine")
    rows: list[list[Any]] = [list(houses.columns), *houses.to_numpy().tolist()]
    Path("a.xlsx").write_bytes(workbook({"notes": [["read me"]], "Häuser": [rows[0], [], *rows[1:20], [], *rows[20:]]}))
    assert "'a.xlsx' has a header (1 column) but no rows" in error_of("explain", "a.xlsx", *ASK)
    done = run("explain", "a.xlsx", *ASK, "--sheet", "Häuser")
    assert "a.xlsx: 40 rows, 2 columns" in done.stdout
    assert "--sheet Haus: no such sheet in 'a.xlsx'. Did you mean 'Häuser'?" in error_of(
        "explain", "a.xlsx", *ASK, "--sheet", "Haus"
    )
    gap = [*rows[:5], [], [rows[5][0], "Bern", None], *rows[6:]]
    Path("gap.xlsx").write_bytes(workbook({"one": gap, "two": [["x"]]}))
    assert "The target 'preis' is missing in sheet row 7." in error_of("explain", "gap.xlsx", *ASK)
    done = run("explain", "gap.xlsx", *ASK, "--missing-target", "drop")
    assert "read as     the sheet 'one', the first of 2 (--sheet names another)" in done.stdout
    Path("title.xlsx").write_bytes(workbook({"one": [["Houses of 2024"], *rows]}))
    assert "Row 1 of the sheet 'one' of 'title.xlsx' names 1 of 3 columns." in error_of("explain", "title.xlsx", *ASK)
    Path("broken.xlsx").write_bytes(b"PK\x03\x04 nothing more")
    assert "'broken.xlsx' is not a whole Excel workbook" in error_of("explain", "broken.xlsx", *ASK)


def test_excel_without_its_library_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.xlsx").write_bytes(workbook({"one": [["x"], [1]]}))
    monkeypatch.setattr("heldout.data.excel.find_spec", lambda name: None)
    assert "needs python-calamine, which is not installed." in error_of("explain", "a.xlsx", *ASK)


def test_a_large_workbook_in_a_small_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("python_calamine")
    Path("a.xlsx").write_bytes(workbook({"one": [["x"], *([1] for _ in range(3000))]}))
    monkeypatch.setattr("heldout.data.compressed.FREE_BYTES", 1000)
    monkeypatch.setattr("heldout.data.compressed.MOST_TIMES", 2)
    assert "'a.xlsx' has" in error_of("explain", "a.xlsx", *ASK)


@pytest.fixture
def gaps(houses: pd.DataFrame) -> list[int]:
    """A table without the target in three lines, one of them after a cell of two lines."""
    houses.loc[[2, 15, 30], "preis"] = np.nan
    houses.loc[9, "ort"] = "Bern\nStadt"
    houses.to_csv("gaps.csv", index=False)
    return [4, 18, 33]


@pytest.mark.parametrize("command", ["evaluate", "explain", "compare", "advise", "check"])
def test_rows_without_a_target_are_named_by_their_lines_and_dropped_on_request(gaps: list[int], command: str) -> None:
    learner = {"compare": ("-l", "ridge,tree"), "check": ()}.get(command, ("-l", "ridge"))
    run_fast = FAST if command in ("evaluate", "compare") else ()
    words = (command, "gaps.csv", "-t", "preis", *learner, *run_fast)
    told = error_of(*words)
    assert "The target 'preis' is missing in lines 4, 18, 33. Leave such rows out by --missing-target drop" in told
    done = run(*words, "--missing-target", "drop")
    assert done.exit_code in (0, 1), done.output
    assert "left out    3 of 40 rows, which have no target" in done.stdout


def test_dropped_rows_are_not_counted_by_a_file_of_row_numbers(gaps: list[int]) -> None:
    Path("rows.txt").write_text("0\n1\n35\n")
    words = ("explain", "gaps.csv", "-t", "preis", "-l", "ridge", "--test", "rows:rows.txt")
    told = error_of(*words, "--missing-target", "drop")
    assert "--test rows:FILE counts the rows of 'gaps.csv', and 3 of them are left out." in told


def test_lines_are_right_after_rows_were_dropped(gaps: list[int]) -> None:
    text = Path("gaps.csv").read_text().splitlines()
    text[36] = "inf" + text[36][text[36].index(",") :]
    Path("gaps.csv").write_text("\n".join(text))
    told = error_of("evaluate", "gaps.csv", "-t", "preis", "-l", "ridge", "--missing-target", "drop")
    assert "Column 'fläche' of 'gaps.csv' holds infinite numbers (line 37)." in told


def test_a_target_that_is_missing_everywhere_is_refused(houses: pd.DataFrame) -> None:
    houses.assign(preis=np.nan).to_csv("none.csv", index=False)
    told = error_of("evaluate", "none.csv", "-t", "preis", "--missing-target", "drop")
    assert "The target 'preis' is missing in every row." in told


def test_amounts_that_are_mixed_are_named_with_the_way_out(houses: pd.DataFrame) -> None:
    prices = [f"{price:,.2f}" for price in houses["preis"]]
    houses.assign(preis=[*prices[:20], "on request", *prices[21:]]).to_csv("a.csv", index=False)
    told = error_of("evaluate", "a.csv", "-t", "preis", "-l", "ridge")
    assert "holds numbers and, in line 22, the text 'on request'. Correct it, name it by --missing" in told
    words = ("-t", "preis", "-l", "ridge", "--missing", "on request", "--missing-target", "drop")
    assert run("explain", "a.csv", *words).exit_code == 0


def test_new_rows_are_read_by_the_same_rules(houses: pd.DataFrame) -> None:
    pytest.importorskip("skops")
    Path("a.csv").write_bytes(as_written(houses, "point.csv"))
    done = run("evaluate", "a.csv", *ASK, *FAST, "--save", "m.skops")
    assert done.exit_code == 0, done.output
    new = houses.drop(columns="preis")
    new.to_csv("new.csv", index=False)
    plain = run("predict", "m.skops", "new.csv", "--quiet").stdout
    assert plain.count("\n") == 41
    Path("german.csv").write_bytes(new.to_csv(index=False, sep=";", decimal=",").encode("cp1252"))
    done = run("predict", "m.skops", "german.csv")
    assert done.stdout == plain
    assert "german.csv was read as columns separated by semicolons, decimal commas" in " ".join(done.stderr.split())
    content = new.to_csv(index=False, sep="|", decimal=",").encode("utf-16")
    assert run("predict", "m.skops", "-", "--quiet", told=content).stdout == plain
    words = ("--sep", "bar", "--decimal", ",", "--encoding", "utf-16")
    assert run("predict", "m.skops", "-", "--quiet", *words, told=content).stdout == plain
    new.astype({"fläche": object}).assign(fläche=["much", *new["fläche"][1:]]).to_csv("bad.csv", index=False)
    told = error_of("predict", "m.skops", "bad.csv")
    assert "Column 'fläche' of 'bad.csv' holds 'much' in line 2, but the model learned from numbers there." in told


def test_columns_are_completed_whatever_separates_them(houses: pd.DataFrame) -> None:
    Path("a.csv").write_bytes(houses.to_csv(index=False, sep=";").encode())
    env = {"_HELDOUT_COMPLETE": "bash_complete", "COMP_WORDS": "heldout evaluate a.csv --target o", "COMP_CWORD": "4"}
    done = CliRunner().invoke(main, [], env=env, prog_name="heldout")
    assert done.stdout.split() == ["plain,ort"]


def test_python_reads_a_path_by_the_same_rules(houses: pd.DataFrame) -> None:
    from sklearn.linear_model import Ridge

    numbers = houses.drop(columns="ort")
    here = ho.evaluate(Ridge(), numbers, "preis", progress=False)
    assert (here.record.about["source"], here.record.about["target"]) == (None, "preis")
    Path("a.csv").write_bytes(numbers.to_csv(index=False, sep=";", decimal=",").encode("utf-16"))
    there = ho.evaluate(Ridge(), "a.csv", "preis", progress=False)
    assert there.risk == here.risk
    about = there.summary()["about"]
    assert (about["source"], about["target"]) == ("a.csv", "preis")
    assert about["read_as"] == "columns separated by semicolons, decimal commas, UTF-16"
    numbers.loc[3, "preis"] = np.nan
    numbers.to_csv("a.csv", index=False)
    for verb in (ho.evaluate, ho.explain):
        with pytest.raises(ho.HeldoutError, match="The target is missing in line 5: drop or fill these rows"):
            verb(Ridge(), "a.csv", "preis")
    with pytest.raises(ho.HeldoutError, match="missing in line 5"):
        ho.check("a.csv", "preis")
    with pytest.raises(ho.HeldoutError, match="missing in row 3"):
        ho.evaluate(Ridge(), numbers, "preis")
