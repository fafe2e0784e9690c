"""`heldout evaluate --dask`: the numbers of the same command at home, and the words for an address that is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from heldout.cli.main import main


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,y", comments="")
    return str(tmp_path / "data.csv")


def called(data: str, *more: str) -> Result:
    words = ["evaluate", data, "--target", "y", "--learner", "tree", "--test", "kfold:3", "--validation", "kfold:3"]
    return CliRunner().invoke(main, [*words, "--json", *more])


def test_the_command_gives_the_numbers_of_a_local_one(data: str, address: str) -> None:
    here, there = called(data, "--jobs", "1"), called(data, "--dask", address.removeprefix("dask://"))
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    estimates = [json.loads(ended.stdout)["estimates"] for ended in (here, there)]
    assert estimates[0] == estimates[1]


def test_a_wrong_address_is_an_error_in_words(data: str) -> None:
    ended = called(data, "--dask", "nowhere:at-all")
    assert ended.exit_code != 0
    assert "Write dask://host:8786" in ended.output
    assert "Traceback" not in ended.output
