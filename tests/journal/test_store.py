"""The store: rows committed in batches, checked when read; damaged, torn, other, older and newer files; a full disk."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.errors import JournalError
from heldout.journal import schema
from heldout.journal.records import decode
from heldout.journal.store import Store, open_journal
from heldout.journal.studies import head_in

FIXTURES = Path(__file__).parents[1] / "fixtures"
FIXTURE = FIXTURES / "journal-4.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def fill(path: Path, count: int, size: int = 100) -> None:
    with open_journal(path) as store:
        for number in range(count):
            store.put([("cells", key(number), bytes([number % 256]) * size)])


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def found(store: Store, count: int) -> set[bytes]:
    return {one for one, _ in store.rows("cells", map(key, range(count)))}


def test_rows_come_back_under_their_keys(path: Path):
    fill(path, 50)
    with open_journal(path) as store:
        rows = list(store.rows("cells", [key(3), key(99), key(7)]))
    assert rows == [(key(3), b"\3" * 100), (key(7), b"\7" * 100)]


def test_a_row_is_committed_soon_though_nothing_follows_it(path: Path):
    with open_journal(path) as store:
        store.put([("cells", key(1), b"first")])
        deadline = time.monotonic() + 60
        other = sqlite3.connect(path)
        try:
            while not other.execute("SELECT count(*) FROM cells").fetchone()[0]:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        finally:
            other.close()


def test_rows_that_belong_together_are_committed_together_and_many_share_a_commit(path: Path):
    statements: list[str] = []
    with open_journal(path) as store:
        store.connection.set_trace_callback(statements.append)
        for number in range(500):
            store.put([("cells", key(number), b"x"), ("cells", key(1000 + number), b"y")])
        store.flush()
        assert store.query("SELECT count(*) FROM cells") == [(1000,)]
    assert 0 < statements.count("COMMIT") < 50


def test_of_two_steps_with_one_key_the_first_stays(path: Path):
    with open_journal(path) as store:
        store.put([("steps", key(1), b"first")])
        store.put([("steps", key(1), b"second")])
        assert list(store.rows("steps", [key(1)])) == [(key(1), b"first")]


def flip(path: Path, content: bytes) -> None:
    """Change one byte in the middle of this content."""
    raw = bytearray(path.read_bytes())
    at = raw.index(content) + len(content) // 2
    raw[at] ^= 1
    path.write_bytes(bytes(raw))


def test_a_flipped_byte_costs_its_row_which_is_named_and_the_file_as_it_was_is_kept(path: Path):
    fill(path, 20)
    flip(path, b"\5" * 100)
    damaged = path.read_bytes()
    with open_journal(path) as store:
        assert found(store, 20) == {key(number) for number in range(20) if number != 5}
        (note,) = store.notes
        assert store.query("SELECT count(*) FROM cells") == [(19,)]
    assert "1 damaged rows" in note
    assert "(cells/6)" in note
    assert "study.db.damaged-1" in note
    assert (path.parent / "study.db.damaged-1").read_bytes() == damaged


def whole_in(raw: bytes, count: int, size: int) -> set[bytes]:
    """The rows whose bytes, checksum included, all stand in this part of a file."""
    contents = {key(number): bytes([number % 256]) * size for number in range(count)}
    sums = {one: schema.checksum("cells", one, content) for one, content in contents.items()}
    return {one for one, content in contents.items() if one + content + sums[one] in raw}


@pytest.mark.parametrize("share", [0.35, 0.6, 0.9])
def test_of_a_torn_file_all_that_can_be_read_is_kept(path: Path, share: float):
    fill(path, 400, size=500)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with open_journal(path) as store:
        (note,) = store.notes
        left = found(store, 400)
        store.put([("cells", key(1000), b"goes on")])
    assert left == whole_in(raw[: int(len(raw) * share)], 400, 500)
    assert 0 < len(left) < 400
    assert f"was damaged: {len(left)} rows could be read" in note
    assert (path.parent / "study.db.damaged-1").read_bytes() == raw[: int(len(raw) * share)]
    with open_journal(path) as store:
        assert store.notes == []
        assert found(store, 400) == left


def test_rows_are_found_though_the_pages_that_lead_to_them_are_lost(path: Path):
    fill(path, 2_400, size=900)  # three levels of pages
    raw = path.read_bytes()
    for cut in (int(len(raw) * 0.62), int(len(raw) * 0.97)):
        path.write_bytes(raw[:cut])
        with open_journal(path) as store:
            left = found(store, 2_400)
        assert left == whole_in(raw[:cut], 2_400, 900)
        assert len(left) > 0.8 * 2_400 * cut / len(raw)


def test_garbage_in_the_middle_costs_what_it_covers(path: Path):
    fill(path, 400, size=500)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 8192] = b"\xff" * 8192
    path.write_bytes(bytes(raw))
    with open_journal(path) as store:
        left = found(store, 400)
    assert 370 < len(left) < 400
    assert left <= whole_in(bytes(raw), 400, 500)
    assert (path.parent / "study.db.damaged-1").exists()


def test_long_rows_splits_and_studies_are_rescued_too(path: Path):
    shutil.copyfile(FIXTURE, path)
    with open_journal(path) as store:
        store.put([("steps", key(1), bytes(range(256)) * 200), ("looks", key(2), b"a look")])
    before = every_row(path)
    raw = path.read_bytes()
    header = bytearray(raw)
    header[16:18] = b"\x01\x00"  # a page size that is not the file's, so that SQLite reads nothing
    path.write_bytes(bytes(header))
    with open_journal(path) as store:
        (note,) = store.notes
    assert every_row(path) == before
    assert f"{sum(map(len, before.values()))} rows could be read and are kept, what is missing" in note


def test_rows_that_cannot_be_read_are_named(path: Path):
    fill(path, 400, size=500)
    raw = bytearray(path.read_bytes())
    start = raw.index(b"\x64" * 500) // 4096 * 4096
    raw[start : start + 4096] = b"\xff" * 4096  # the page of row 101
    path.write_bytes(bytes(raw))
    with open_journal(path) as store:
        (note,) = store.notes
        left = found(store, 400)
    assert left == whole_in(bytes(raw), 400, 500)
    lost = sorted(set(map(key, range(400))) - left)
    assert f"are kept (not cells/{int.from_bytes(lost[0], 'big') + 1}, " in note


def every_row(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in schema.TABLES
        }


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=40),
    cut=st.floats(0, 1),
    whole=st.booleans(),
)
def test_whatever_happens_to_the_bytes_no_wrong_row_is_read(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[float, int]], cut: float, whole: bool
):
    path = tmp_path_factory.mktemp("bytes") / "study.db"
    shutil.copyfile(FIXTURE, path)
    before = {(key, content) for table in schema.TABLES for key, content, *_ in keyed_rows(path, table)}
    raw = bytearray(path.read_bytes())
    for place, mask in changes:
        raw[int(place * len(raw))] ^= mask
    path.write_bytes(bytes(raw if whole else raw[: int(cut * len(raw))]))
    after: set[tuple[bytes, bytes]] = set()
    try:
        with open_journal(path) as store:
            for table in schema.TABLES:
                after |= set(store.all_rows(table))
            for table in schema.ANSWER_TABLES:
                after |= set(store.rows(table, [key for key, _ in before]))
            store.put([("cells", key(1), b"goes on")])
    except JournalError:  # its first bytes were changed: it is left alone
        assert list(path.parent.iterdir()) == [path]
    assert after <= before


def keyed_rows(path: Path, table: str) -> list[tuple[bytes, bytes]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT key, content FROM {table}").fetchall()


def test_a_file_that_is_no_journal_is_refused_and_left_alone(path: Path):
    path.write_text("age,price\n1,2\n" * 20)
    with pytest.raises(JournalError, match=r"is no journal of heldout .* and is left as it is"), open_journal(path):
        pass
    assert path.read_text() == "age,price\n1,2\n" * 20
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (a)")
    other.close()
    with pytest.raises(JournalError, match="is no journal"), open_journal(path):
        pass


def test_an_empty_file_becomes_a_journal(path: Path):
    path.touch()
    fill(path, 1)
    with open_journal(path) as store:
        assert found(store, 2) == {key(0)}


def test_a_folder_that_is_not_there_and_a_folder_as_a_file_are_refused(tmp_path: Path):
    with pytest.raises(JournalError, match="needs a folder that exists"), open_journal(tmp_path / "no" / "study.db"):
        pass
    with pytest.raises(JournalError, match="is not a file"), open_journal(tmp_path):
        pass


@pytest.mark.parametrize("version", [0, 1, 2, 3, 99])
def test_a_journal_of_another_format_is_refused_and_left_as_it_is(path: Path, version: int):
    shutil.copyfile(FIXTURE, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    words = f"has format {version}, this heldout reads format 4 alone. Use the heldout that wrote it, or name another"
    with pytest.raises(JournalError, match=words), open_journal(path):
        pass
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == before


def test_a_damaged_journal_of_another_format_is_refused_and_left_as_it_is(path: Path):
    raw = bytearray(FIXTURE.read_bytes())
    raw[16:18] = b"\x01\x00"  # SQLite reads nothing
    raw[63] = 2
    path.write_bytes(bytes(raw))
    with pytest.raises(JournalError, match="has format 2, this heldout reads format 4 alone"), open_journal(path):
        pass
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == bytes(raw)


def test_the_fixture_is_read(path: Path):
    shutil.copyfile(FIXTURE, path)
    with open_journal(path) as store:
        assert store.notes == []
        tables = {name: store.query(f"SELECT count(*) FROM {name}")[0][0] for name in schema.TABLES}
        (cells, *_), (step, *_) = ([decode(content) for _, content in store.all_rows(t)] for t in ("cells", "steps"))
        studies = {key for key, _ in store.all_rows("studies")}
        heads = {key: head_in(content) for key, content in store.all_rows("summaries")}
    assert min(tables.values()) >= 1
    columns = {"asked", "candidates", "losses", "fit", "score", "rows", "responses", "failures", "warnings"}
    assert set(cells) == columns
    assert set(step["answers"][0]) == {*columns, "panel", "part"}
    assert set(heads) == studies
    assert [head["risk"]["loss"] for head in heads.values()] == ["squared", "squared"]


def fill_until_full(path: Path, kept: list[int]) -> None:
    with open_journal(path) as store:
        for number in range(100, 10_000):
            store.put([("cells", key(number), bytes([number % 251]) * 10_000)])
            store.flush()
            kept.append(number)


def test_a_full_disk_ends_cleanly_and_all_that_was_committed_stays_readable(path: Path):
    fill(path, 20)
    kept: list[int] = []
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        with pytest.raises(JournalError, match=r"cannot grow: .* stays readable"):
            fill_until_full(path, kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (path.parent / "study.db.lock").exists()
    with open_journal(path) as store:
        assert store.notes == []
        assert found(store, 20) == {key(number) for number in range(20)}
        assert len(list(store.rows("cells", map(key, range(100, 10_000))))) == len(kept) > 5
