from __future__ import annotations

import numpy as np
import pytest

from heldout.risk.comparison.sentences import verdict_of_comparison


@pytest.fixture(scope="module")
def compared():
    from sklearn.dummy import DummyRegressor
    from sklearn.linear_model import LinearRegression, Ridge

    import heldout as ho

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [3.0, 1.0, 0.0] + rng.normal(size=200)
    learners = {"ridge": Ridge(alpha=1e-3), "least squares": LinearRegression(), "mean": DummyRegressor()}
    return ho.compare(learners, X, y, test=ho.KFold(5), rope=0.05, jobs=1)


def test_the_sentence_says_of_whom_it_is_shown(compared):
    told = verdict_of_comparison(compared.ranking, compared.pairs, level=0.95)
    best, second, last = compared.ranking
    assert last == "mean"
    assert told["sentence"].startswith(f"{best} has the smallest squared risk")
    assert f"shown to be better than {last}" in told["sentence"]
    assert f"practically equal to {second}" in told["sentence"]
    assert "95 %" in told["promise"]
    assert "heuristic" in told["promise"]
    assert told["surer"] == []  # nothing is open


def test_what_is_open_is_called_open(compared):
    ranking = {name: compared.ranking[name] for name in list(compared.ranking)[:2]}
    told = verdict_of_comparison(ranking, (), level=0.95)
    assert "not comparable with" in told["sentence"]
    assert "better" not in told["sentence"]


def test_the_summary_has_it(compared):
    summary = compared.summary(figures=True)
    assert summary["verdict"]["sentence"].startswith(next(iter(compared.ranking)))
    figure = summary["figures"]["comparison"]
    assert [row["name"] for row in figure["ranking"]] == list(compared.ranking)
    assert figure["folds"]["names"] == list(compared.ranking)
    values = [np.sqrt(compared.results[name].folds["squared"]).tolist() for name in compared.ranking]
    assert figure["folds"]["values"] == values
    assert figure["score"] == {"loss": "RMSE", "greater_is_better": False}
    assert [pair["difference"] for pair in figure["pairs"]] == compared.table["difference"].tolist()
    assert "rope=0.05" in summary["about"]["call"]
