"""Formats beside CSV, packed files, types that the user gives, and files made to do harm."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heldout.base.errors import ColumnError, HeldoutError, InputError, OptionError
from heldout.data.read_table import is_read_whole, read_table
from heldout.data.stream import is_stream

pa = pytest.importorskip("pyarrow")
zstandard = pytest.importorskip("zstandard")

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 3.25],
        "whole": [1, 2, 3],
        "word": ["a", None, "ü,\t"],
        "day": pd.to_datetime(["2024-01-31", None, "2024-02-29"]),
    }
)


def packed(data: bytes, packing: str) -> bytes:
    if packing == ".gz":
        return gzip.compress(data)
    return zstandard.compress(data) if packing == ".zst" else data


def as_bytes(form: str, frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    if form == ".parquet":
        frame.to_parquet(out)
    elif form == ".feather":
        frame.to_feather(out)
    elif form == ".arrow":
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    elif form in (".jsonl", ".ndjson"):
        text = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d")).to_json(orient="records", lines=True)
        return text.encode()
    else:
        return frame.to_csv(index=False, sep="," if form == ".csv" else "\t").encode()
    return out.getvalue()


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("form", [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson"])
def test_every_format_gives_the_same_table(tmp_path: Path, form: str, packing: str) -> None:
    place = tmp_path / f"data{form}{packing}"
    place.write_bytes(packed(as_bytes(form, FRAME), packing))
    frame = read_table(place)
    assert list(frame.columns) == list(FRAME.columns)
    np.testing.assert_array_equal(frame["number"], FRAME["number"])
    assert frame["whole"].tolist() == [1, 2, 3]
    assert frame["whole"].dtype.kind == "i"
    assert frame["word"].isna().tolist() == [False, True, False]
    assert frame["word"].iloc[2] == "ü,\t"
    assert frame["day"].dtype.kind == "M"
    assert frame["day"].iloc[2] == pd.Timestamp("2024-02-29")


@pytest.mark.parametrize("library", ["zstandard", "pyarrow"])
def test_zstd_by_either_library(tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.csv.zst"
    place.write_bytes(packed(b"x\n1\n", ".zst") + packed(b"2\n", ".zst"))  # two frames, one after the other
    monkeypatch.setattr("heldout.data.compressed.find_spec", lambda name: name == library or None)
    assert read_table(place)["x"].tolist() == [1, 2]
    place.write_bytes(packed(b"x\n1\n" * 1000, ".zst")[:-9])
    with pytest.raises(InputError, match=r"'a\.csv\.zst' is not a whole zstd file"):
        read_table(place)


def test_zstd_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv.zst").write_bytes(packed(b"x\n1\n", ".zst"))
    monkeypatch.setattr("heldout.data.compressed.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs zstandard or pyarrow.*pip install zstandard.*gzip"):
        read_table(tmp_path / "a.csv.zst")


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_a_bomb_is_refused_with_both_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    place = tmp_path / f"bomb.csv{packing}"
    place.write_bytes(packed(b"x\n" + b"0\n" * 4_000_000, packing))
    assert len(read_table(place)) == 4_000_000
    monkeypatch.setattr("heldout.data.compressed.most_unpacked", lambda path: 1_000_000)
    with pytest.raises(InputError, match=r"'bomb\.csv\S+' has [\d.]+ k?B but unpacks to more than 1 MB.*unpack it"):
        read_table(place)


def test_a_parquet_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"x": np.zeros(3_000_000)}).to_parquet(tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", lambda *_: pytest.fail("it was read"))
    monkeypatch.setattr("heldout.data.compressed.most_unpacked", lambda path: 1_000_000)
    with pytest.raises(InputError, match="unpacks to 24 MB, more than 1 MB"):
        read_table(tmp_path / "bomb.parquet")


def test_an_arrow_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"x": np.zeros(3_000_000)}).to_feather(tmp_path / "bomb.feather", compression="zstd")
    monkeypatch.setattr("heldout.data.compressed.most_unpacked", lambda path: 1_000_000)
    with pytest.raises(InputError, match=r"'bomb\.feather'.*more than 1 MB"):
        read_table(tmp_path / "bomb.feather")


def test_damaged_gzip_empty_gzip_and_damaged_arrow(tmp_path: Path) -> None:
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"x\n1\n" * 999)[:-20])
    with pytest.raises(InputError, match="not a whole gzip file"):
        read_table(tmp_path / "cut.csv.gz")
    (tmp_path / "no.csv.gz").write_bytes(b"x\n1\n")
    with pytest.raises(InputError, match="not a whole gzip file"):
        read_table(tmp_path / "no.csv.gz")
    (tmp_path / "void.csv.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(InputError, match="is empty"):
        read_table(tmp_path / "void.csv.gz")
    (tmp_path / "a.arrow").write_bytes(b"ARROW1 nothing more")
    with pytest.raises(InputError, match="not a whole Arrow file"):
        read_table(tmp_path / "a.arrow")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', "Line 2 of 'a.jsonl' is not JSON"),
        ("[1, 2]\n", "Line 1 of 'a.jsonl' is no object"),
        ('{"a": [1]}\n', "Line 1 of 'a.jsonl': 'a' holds a list or an object"),
        ('{"a": 1, "a": 2}\n', "Line 1 of 'a.jsonl' has 'a' more than once"),
        ("\n\n", "is empty: it has no rows"),
        ("[" * 100_000 + "\n", "Line 1 of 'a.jsonl' is not JSON"),
    ],
)
def test_json_lines_that_are_no_table(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "a.jsonl")


def test_json_lines_may_lack_names_and_hold_flags(tmp_path: Path) -> None:
    rows = [{"a": True, "n": 1}, {"a": None, "b": "x"}, {"a": False, "n": 2.5}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    frame = read_table(tmp_path / "a.jsonl")
    assert str(frame["a"].dtype) == "boolean"
    assert frame["n"].isna().tolist() == [False, True, False]
    assert frame["b"].isna().tolist() == [True, False, True]


def test_missing_texts_replace_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("land,n\nNA,1\nCH,?\n,3\n")
    usual = read_table(tmp_path / "a.csv")
    assert usual["land"].isna().tolist() == [True, False, True]
    typed = read_table(tmp_path / "a.csv", missing=("?",))
    assert typed["land"].tolist()[:2] == ["NA", "CH"]
    assert typed["n"].isna().tolist() == [False, True, False]
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"n": "?"}\n')
    read = read_table(tmp_path / "a.jsonl", missing=("?",))["n"]
    assert read.dtype.kind == "f"
    assert read.isna().tolist() == [False, True]


def test_types_that_the_user_gives(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,when,size,day\n00700,20240131,1,2024-01-31\n10000,20240229,2,2024-02-29\n")
    types = {"zip": "category", "when": "date", "size": "text", "day": "category"}
    frame = read_table(tmp_path / "a.csv", types=types)
    assert list(frame.columns) == ["zip", "when", "size", "day"]
    assert frame["zip"].tolist() == ["00700", "10000"]
    assert frame["when"].iloc[1] == pd.Timestamp("2024-02-29")
    assert frame["size"].tolist() == ["1", "2"]
    assert frame["day"].tolist() == ["2024-01-31", "2024-02-29"]
    assert read_table(tmp_path / "a.csv", types={"zip": "number"})["zip"].tolist() == [700, 10000]


def test_types_that_cannot_be_are_refused_with_the_value(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("size,day\n1,x\ntwo,y\n")
    with pytest.raises(ColumnError, match=r"'size' of 'a\.csv'.*'two' in line 3 is no number"):
        read_table(tmp_path / "a.csv", types={"size": "number"})
    with pytest.raises(ColumnError, match=r"'day'.*'x' in line 2 is no date"):
        read_table(tmp_path / "a.csv", types={"day": "date"})
    with pytest.raises(ColumnError, match=r"no such column.*Did you mean 'size'"):
        read_table(tmp_path / "a.csv", types={"sizes": "number"})
    with pytest.raises(OptionError, match=r"no type 'categry'.*Did you mean 'category'"):
        read_table(tmp_path / "a.csv", types={"size": "categry"})


def test_what_is_streamed() -> None:
    for name in ("a.csv", "a.csv.gz", "a.feather", "a.parquet.zst", "a.ndjson"):
        assert is_read_whole(name)
        assert not is_stream(name)
    assert is_stream("a.parquet")
    assert is_stream("folder")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), form=st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".csv.gz"]))
def test_any_bytes_are_a_table_or_a_named_error(tmp_path: Path, data: bytes, form: str) -> None:
    place = tmp_path / f"any{form}"
    place.write_bytes(data)
    with suppress(HeldoutError):
        assert len(read_table(place)) > 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(alphabet='a1,."\n\r\t{}[]:;- NA\x00\ufeff', max_size=60),
    form=st.sampled_from([".csv", ".tsv", ".jsonl"]),
)
def test_any_text_is_a_table_or_a_named_error(tmp_path: Path, text: str, form: str) -> None:
    place = tmp_path / f"any{form}"
    place.write_text(text, encoding="utf-8", newline="")
    with suppress(HeldoutError):
        assert len(read_table(place, missing=("NA",))) > 0
