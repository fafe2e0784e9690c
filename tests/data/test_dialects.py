"""Tables of text as people have them: one table in many dialects, odd files whose lines are named, amounts in text."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from heldout.base.errors import HeldoutError, InputError, OptionError
from heldout.data.amounts import plain_numbers
from heldout.data.read_table import open_table, read_source, read_table

FRAME = pd.DataFrame(
    {
        "fläche": [173.6, 74.0, 1116.9, 0.125, 38.75],
        "menge": [1, 20, 1300, 4, 17],
        "ort": ["Zürich", "Genève", "Bern, Stadt", "a;b", "x|y"],
        "tag": pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03"]),
        "preis": [1234.5, np.nan, 0.5, 1e-3, 98765.25],
    }
)


def text_of(**how: Any) -> str:
    return FRAME.to_csv(index=False, **how)


DIALECTS: dict[str, bytes] = {
    "plain.csv": text_of().encode(),
    "mark.csv": text_of().encode("utf-8-sig"),
    "semicolons.csv": text_of(sep=";", decimal=",").encode(),
    "semicolons-points.csv": text_of(sep=";").encode(),
    "tabs.csv": text_of(sep="\t").encode(),
    "tabs.tsv": text_of(sep="\t", decimal=",").encode(),
    "bars.txt": text_of(sep="|").encode(),
    "western.csv": text_of(sep=";", decimal=",", lineterminator="\r\n").encode("cp1252"),
    "latin.csv": text_of().encode("latin-1"),
    "utf16.txt": text_of(sep="\t").encode("utf-16"),
    "utf16-without-mark.csv": text_of(sep=";", decimal=",").encode("utf-16-le"),
    "old-mac.csv": text_of(lineterminator="\r").encode(),
    "hint.csv": b"sep=;\r\n" + text_of(sep=";", decimal=",").encode(),
    "comments.csv": b'# exported "today"\n# by hand, as it is\n' + text_of().encode(),
    "quoted.csv": text_of(quoting=1, decimal=",").encode(),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_one_table_in_many_dialects_is_one_table(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(DIALECTS[name])
    pd.testing.assert_frame_equal(read_table(tmp_path / name), read_table(io_free(tmp_path)))


def io_free(folder: Path) -> Path:
    place = folder / "as it is.csv"
    place.write_bytes(DIALECTS["plain.csv"])
    return place


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plain.csv", ""),
        ("mark.csv", ""),
        ("semicolons.csv", "columns separated by semicolons, decimal commas"),
        ("tabs.csv", "columns separated by tabs"),
        ("tabs.tsv", "decimal commas"),
        ("bars.txt", "columns separated by bars"),
        ("western.csv", "columns separated by semicolons, decimal commas, Latin-1 (cp1252)"),
        ("utf16.txt", "UTF-16"),
        ("comments.csv", "2 lines above the header left out"),
    ],
)
def test_what_is_not_as_usual_is_said(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_bytes(DIALECTS[name])
    assert read_source(open_table(tmp_path / name))[1].read_as == words


def read(folder: Path, text: str, name: str = "a.csv", **how: Any) -> tuple[pd.DataFrame, str]:
    (folder / name).write_bytes(text.encode())
    frame, source = read_source(open_table(folder / name, **how))
    return frame, source.read_as


def test_a_comma_that_may_be_either_is_decided_by_the_table_and_said(tmp_path: Path) -> None:
    frame, words = read(tmp_path, "a;b\n1,234;1\n5,678;2\n")
    assert frame["a"].tolist() == [1.234, 5.678]
    assert "decimal commas ('1,234' is 1.234; --decimal . makes it 1234)" in words
    assert read(tmp_path, "a;b\n1,234;1\n5,678;2\n", decimal=".")[0]["a"].tolist() == [1234, 5678]
    frame, words = read(tmp_path, 'a,b\n"1,234",1\n"5,678",2\n')
    assert frame["a"].tolist() == [1234, 5678]
    assert "a ('1,234' is 1234; --decimal , makes it 1.234)" in words
    assert read(tmp_path, 'a,b\n"1,234",1\n"5,678",2\n', decimal=",")[0]["a"].tolist() == [1.234, 5.678]
    frame, words = read(tmp_path, "a;b\n1.234;1,5\n5.678;2,5\n")  # b says that commas are decimal
    assert (frame["a"].tolist(), frame["b"].tolist()) == ([1234, 5678], [1.5, 2.5])
    assert "a ('1.234' is 1234; --decimal . makes it 1.234)" in words
    frame, words = read(tmp_path, "a;b\n0,123;1\n1,234;2\n")  # no number of thousands begins with 0
    assert (frame["a"].tolist(), "makes it" in words) == ([0.123, 1.234], False)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$1,234.50", "$2", "$ -3"], [1234.5, 2, -3]),
        (["1.234,50 €", "2 €", "-3,5 €"], [1234.5, 2, -3.5]),
        (["CHF 1'234.50", "CHF 2"], [1234.5, 2]),
        (["12 %", "3.5%", "100%"], [12, 3.5, 100]),
        (["1 234,5", "12\u202f345", "7"], [1234.5, 12345, 7]),
        (["1,234,567", "89"], [1234567, 89]),
        (["1.5", "2,5", "3"], None),
        (["$5", "5 €"], None),
        (["044 123 456", "079 987 654"], None),
        (["12.05.24", "13.05.24"], None),
        (["10-20", "20-30"], None),
        (["1,2,3", "4,5,6"], None),
        (["BMW 320", "BMW 530"], None),
        (["1,23,456", "1"], None),
    ],
)
def test_columns_of_amounts_are_numbers_and_others_stay_text(
    tmp_path: Path, texts: list[str], numbers: list[float] | None
) -> None:
    frame, words = read(tmp_path, "v\tn\n" + "".join(f"{text}\t1\n" for text in texts), "a.tsv")
    assert frame["v"].tolist() == (texts if numbers is None else numbers)
    assert ("v (" in words) == (numbers is not None)


def test_gaps_are_no_texts_and_whole_numbers_stay_whole(tmp_path: Path) -> None:
    frame, _ = read(tmp_path, 'v,n\n"1,234",1\nNA,2\n"12,000",3\n')
    assert frame["v"].isna().tolist() == [False, True, False]
    whole, _ = read(tmp_path, 'v,n\n"1,234",1\n"12,000",3\n')
    assert whole["v"].dtype.kind == "i"


def test_the_type_that_the_user_gives_counts_more(tmp_path: Path) -> None:
    text = 'v,n\n"1,234",1\n"5,678",2\n'
    assert read(tmp_path, text, types={"v": "category"})[0]["v"].tolist() == ["1,234", "5,678"]
    with pytest.raises(InputError, match=r"Column 'v' .* 'n/k' in line 3 is no number"):
        read(tmp_path, 'v,n\n"1,234",1\nn/k,2\n"2,345",2\n', types={"v": "number"})


def test_empty_columns_without_a_name_are_left_out(tmp_path: Path) -> None:
    frame, words = read(tmp_path, "a;b;\n1;2;\n3;4;\n")
    assert list(frame.columns) == ["a", "b"]
    assert words == "columns separated by semicolons; 1 empty column without a name left out"
    assert list(read(tmp_path, ",b\n1,2\n3,4\n")[0].columns) == ["Unnamed: 0", "b"]


def test_what_the_user_says_overrules(tmp_path: Path) -> None:
    assert list(read(tmp_path, "a;b,c\n1;2,3\n", sep=";")[0].columns) == ["a", "b,c"]
    assert list(read(tmp_path, "a;b,c\n1;2,3\n", sep="comma")[0].columns) == ["a;b", "c"]
    (tmp_path / "r.csv").write_bytes("ort,n\nМосква,1\nТверь,2\n".encode("cp1251"))
    with pytest.raises(InputError, match=r"not UTF-8 text, and not likely Latin-1\..*--encoding cp1251"):
        read_table(tmp_path / "r.csv")
    assert read_table(tmp_path / "r.csv", encoding="cp1251")["ort"].tolist() == ["Москва", "Тверь"]
    with pytest.raises(InputError, match=r"is not UTF-8 text \(byte 6\)"):
        read_table(tmp_path / "r.csv", encoding="utf-8")
    for how, message in (
        ({"encoding": "klingon"}, "--encoding klingon: there is no such encoding"),
        ({"encoding": "hex"}, "--encoding hex: there is no such encoding"),
        ({"sep": "ab"}, "--sep ab: name one character, or comma, semicolon"),
        ({"sheet": "x"}, "--sheet is not for 'r.csv', a .csv file"),
    ):
        with pytest.raises(OptionError, match=message):
            read_table(tmp_path / "r.csv", **how)
    (tmp_path / "a.jsonl").write_bytes('{"ort": "Zürich"}\n'.encode("cp1252"))
    assert read_table(tmp_path / "a.jsonl")["ort"].tolist() == ["Zürich"]
    with pytest.raises(OptionError, match=r"--sep is not for 'a\.jsonl'"):
        read_table(tmp_path / "a.jsonl", sep=";")


def lines_of(place: Path) -> list[int]:
    numbers = read_source(open_table(place))[1].number()
    assert numbers is not None
    return numbers.tolist()


def test_rows_are_numbered_as_the_lines_of_the_file(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text('# one\n\na,b\n1,"x\ny"\n\n  \n2,z\n3,"u\n\nv"\n4,w\n')
    assert lines_of(place) == [4, 8, 9, 12]
    place.write_bytes(b"a,b\r1,2\r\r3,4\r")
    assert lines_of(place) == [2, 4]
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert lines_of(tmp_path / "a.jsonl") == [1, 3]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet='a1,;"\n\r\t #|.', max_size=80), form=st.sampled_from([".csv", ".tsv"]))
@example('a,b\n""\n1,2\n', ".csv")
@example("a\n \n\t\n1\n", ".csv")
@example("\r,\r1\r1", ".csv")
@example("a,b\r,2\r,3\r", ".csv")
@example("a\tb\n\t\n1\t2\n", ".tsv")
def test_lines_are_those_of_the_rows_in_any_text(tmp_path: Path, text: str, form: str) -> None:
    """Each row that pandas reads begins in the line that is said, whatever stands between."""
    place = tmp_path / f"any{form}"
    place.write_text(text, encoding="utf-8", newline="")
    with suppress(HeldoutError):
        frame, source = read_source(open_table(place))
        numbers = source.number()
        if numbers is None:  # a quoted blank alone in its line
            assert '"' in text
            return
        assert len(numbers) == len(frame)
        lines = io.StringIO(text, newline="").readlines()
        for row, number in enumerate(numbers):
            first, line = frame.iloc[row, 0], lines[number - 1]
            assert not isinstance(first, str) or '"' in line or first in line


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    widths=st.lists(st.integers(1, 4), min_size=2, max_size=30),
    blanks=st.sets(st.integers(0, 30)),
    separator=st.sampled_from(",;\t|"),
)
def test_the_first_ragged_line_is_named(tmp_path: Path, widths: list[int], blanks: set[int], separator: str) -> None:
    rows = ["a", "b", "c"], *([str(i)] * width for i, width in enumerate(widths))
    lines: list[str] = []
    ragged = None
    for place, row in enumerate(rows):
        lines += [""] * (place in blanks) + [separator.join(row)]
        if ragged is None and len(row) != 3:
            ragged = len(lines)
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    if ragged is None:
        assert len(read_table(tmp_path / "a.csv", sep=separator)) == len(widths)
        return
    with pytest.raises(InputError, match=f"Line {ragged} of 'a.csv' has "):
        read_table(tmp_path / "a.csv", sep=separator)


@pytest.mark.parametrize("text", ["a,b\n1,2\n# a note\n3,4\n", "a,b\n1,2\nend of the table\n"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"Line 3 of 'a\.csv' has 1 field, and the header names 2\. Correct that line"):
        read(tmp_path, text)


def test_a_cell_longer_than_the_csv_module_takes_is_read(tmp_path: Path) -> None:
    frame, _ = read(tmp_path, f"a,b\ny,1\n{'x' * 200_000},\n")
    assert [len(text) for text in frame["a"]] == [1, 200_000]


@given(
    numbers=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    cents=st.booleans(),
    way=st.sampled_from([(".", ","), (",", "."), (".", "'"), (",", " ")]),
)
def test_amounts_come_back_as_they_were(numbers: list[int], cents: bool, way: tuple[str, str]) -> None:
    mark, group = way
    texts = [f"{n / 100:,.2f}" if cents else f"{n:,}" for n in numbers]
    written = [text.translate(str.maketrans({",": group, ".": mark})) for text in texts]
    plain, _ = plain_numbers(written, usual=mark)
    assert [float(plain[text]) for text in written] == [n / 100 if cents else n for n in numbers]
