"""Files that users name are replaced by whole ones, or left as they were."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.archive import replacing

WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    "result": lambda result, path: result.save(path),
    "model": lambda result, path: ho.save_model(result, path, target="y"),
    "page": lambda result, path: result.report(path),
}


@pytest.fixture(scope="module")
def result() -> Any:
    return ho.evaluate(Ridge(), *load_diabetes(return_X_y=True), test=ho.KFold(3), jobs=1, progress=False)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_write_that_fails_leaves_neither_a_part_nor_another_file(
    kind: str, result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("the old one")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        WRITERS[kind](result, path)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "the old one")]
    monkeypatch.undo()
    WRITERS[kind](result, path)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes()[:3] != b"the"


def test_an_interrupt_in_the_middle_of_a_write_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with replacing(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as first:
        first.write(b"first, ")
        with replacing(path) as second:
            second.write(b"second")
        first.write(b"whole")
    assert path.read_bytes() == b"first, whole"
