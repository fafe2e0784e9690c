"""What went wrong stays in sight, however long the name of the candidate it went wrong with."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from fragments import read
from rich.console import Console
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import heldout as ho
from heldout.report.result import findings_block
from heldout.report.terminal import terminal_view

X, y = (part[:60] for part in load_diabetes(return_X_y=True))
LONG = "neighbours " * 400 + "to the end"
ERROR = "InvalidParameterError: The 'n_neighbors' parameter"


@pytest.fixture(scope="module")
def result():
    learners = {LONG: (KNeighborsRegressor(), {"n_neighbors": [-1]}), "ridge": (Ridge(), {"alpha": [1.0]})}
    tuned = ho.Tuned(learners, validation=ho.KFold(3))
    return ho.evaluate(tuned, X, y, test=ho.KFold(3), backend="inline", progress=False)


def test_the_finding_clips_the_name_and_not_the_error(result):
    (finding,) = [one for one in result.findings if one.code == "H202"]
    assert ERROR in finding.message
    assert len(finding.message) < 600
    assert "neighbours neighbours" in finding.message
    assert "to the end(n_neighbors=-1) on validation" in finding.message
    assert result.failures["candidate"][0].startswith(LONG)


def test_every_view_of_it_shows_the_error(result, tmp_path):
    console = Console(file=io.StringIO(), width=200)
    console.print(terminal_view([findings_block(result.summary()["findings"])]))
    assert ERROR in " ".join(console.file.getvalue().split())
    assert ERROR in " ".join(str(result).partition("(H202)")[0].split())
    assert ERROR in read(result._repr_html_()).text.partition("(H202)")[0]
    page = tmp_path / "study.html"
    result.report(page)
    shown = re.sub(r"<[^>]*>", " ", unescape(page.read_text(encoding="utf-8")))
    assert ERROR in " ".join(shown.partition("H202")[2].split())[:300]


def test_an_exception_that_tells_of_it_says_the_error_early():
    broken = (KNeighborsRegressor(), {"n_neighbors": [-1]})
    with pytest.raises(ho.HeldoutError) as raised:
        ho.Tuned({LONG: broken, "short": broken}, validation=3, jobs=1).fit(X, y)
    assert ERROR in str(raised.value)[:300]
