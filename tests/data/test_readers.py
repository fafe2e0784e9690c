"""Reading data files: types, and every way a file can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heldout.base.errors import ColumnError, InputError
from heldout.data.read_table import read_table


def written(folder: Path, text: str, name: str = "data.csv") -> Path:
    place = folder / name
    place.write_text(text, encoding="utf-8")
    return place


def test_types_of_columns(tmp_path: Path) -> None:
    text = "n,word,flag,day,moment\n1,a,True,2024-01-31,2024-01-31T10:00\n2.5,,,,2024-02-01T11:30\n"
    frame = read_table(written(tmp_path, text))
    assert frame["n"].tolist() == [1.0, 2.5]
    assert frame["word"].iloc[0] == "a"
    assert frame["word"].isna().tolist() == [False, True]
    assert str(frame["flag"].dtype) == "boolean"
    assert frame["day"].dtype.kind == "M"
    assert frame["day"].isna().tolist() == [False, True]
    assert frame["moment"].iloc[1] == pd.Timestamp("2024-02-01 11:30")


def test_dates_with_dots_have_the_day_first(tmp_path: Path) -> None:
    text = "day;n\n31.01.2024;1\n1.2.2024;2\n;3\n"
    frame = read_table(written(tmp_path, text))
    assert frame["day"].tolist()[:2] == [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-01")]
    typed = read_table(written(tmp_path, text), types={"day": "date"})
    assert typed["day"].tolist()[:2] == frame["day"].tolist()[:2]
    assert read_table(written(tmp_path, text + "31.02.2024;4\n"))["day"].iloc[0] == "31.01.2024"
    with pytest.raises(ColumnError, match=r"'31\.02\.2024' in line 5 is no date"):
        read_table(written(tmp_path, text + "31.02.2024;4\n"), types={"day": "date"})


@pytest.mark.parametrize("last", ["soon", "2024-13-01", "2024-01-31x"])
def test_a_column_with_something_else_than_dates_stays_text(tmp_path: Path, last: str) -> None:
    frame = read_table(written(tmp_path, "day\n" + "2024-01-31\n" * 30 + last + "\n"))
    assert frame["day"].iloc[-1] == last


def test_tabs_and_byte_order_mark(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, "\ufeffa\tb\n1\tx,y\n", "data.TSV"))
    assert frame.to_dict("list") == {"a": [1], "b": ["x,y"]}


def test_parquet_keeps_types_and_a_named_index(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], "c": pd.Categorical(["x", "y"])}, index=pd.Index([7, 8], name="who"))
    frame.to_parquet(tmp_path / "data.parquet")
    read = read_table(tmp_path / "data.parquet")
    assert list(read.columns) == ["who", "a", "c"]
    assert isinstance(read["c"].dtype, pd.CategoricalDtype)
    assert read.index.tolist() == [0, 1]


def test_parquet_without_pyarrow_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = written(tmp_path, "PAR1", "data.parquet")
    monkeypatch.setattr("heldout.data.read_table.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs pyarrow.*pip install pyarrow.*\.csv"):
        read_table(place)


def test_a_broken_parquet_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="not a whole Parquet file"):
        read_table(written(tmp_path, "PAR1 nothing more", "data.parquet"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: it has no header and no rows"),
        ("\n\n", "is empty: it has no header and no rows"),
        ("a,b\n", r"has a header \(2 columns\) but no rows"),
        ("a\n", r"has a header \(1 column\) but no rows"),
        ("a,b\n1,2,3\n4,5,6\n", r"Line 2 .* more fields than its header has names \(2\)"),
        ("a,b\n1,2\n3,4,5\n", "Line 3 of 'data.csv' has 3 fields, and the header names 2"),
        ("a,b,c\n1,2,3\n\n3,4\n", "Line 4 of 'data.csv' has 2 fields, and the header names 3"),
        ('a,b\n1,"x\n3,4\n5,6\n', "a quote that opens in the row of line 2 is never closed"),
        ("Report of 2024\n\na;b\n1;2\n3;4\n", r"Line 3 .* more fields than its header has names \(1\).*lines above it"),
    ],
)
def test_files_that_are_no_table(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table(written(tmp_path, text))


def test_the_same_name_twice(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="more than one column named 'a'"):
        read_table(written(tmp_path, "a,b,a\n1,2,3\n"))


def test_no_such_file_names_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path, "a\n1\n", "houses.csv")
    with pytest.raises(InputError, match=r"no file .*house\.csv'\. Did you mean 'houses\.csv'\?"):
        read_table(tmp_path / "house.csv")


def test_other_suffixes_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '\.xls'.*It reads \.csv, \.tsv, \.txt, \.xlsx.*as \.gz or \.zst"):
        read_table(written(tmp_path, "x", "data.xls"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path / "folder.csv")


def test_numbers_survive_exactly(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=50)
    pd.DataFrame({"v": values}).to_csv(tmp_path / "v.csv", index=False)
    assert read_table(tmp_path / "v.csv")["v"].tolist() == values.tolist()
