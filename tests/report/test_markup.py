"""The main table of a result or a comparison as Markdown, LaTeX and a data frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import heldout as ho

HOSTILE = "a_b & 5% | <x>\n$y$ #1 {z} ~^\\"


@pytest.fixture(scope="module")
def comparison() -> ho.Comparison:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] + rng.normal(size=80)})
    return ho.compare({HOSTILE.replace("\n", " "): "ridge", "mean": "dummy"}, table, "y", progress=False)


def test_a_result_is_a_table_of_scores(comparison: ho.Comparison) -> None:
    result = comparison.results["mean"]
    head, rule, *rows = result.to_markdown().splitlines()
    assert head.startswith("| score | held out | 95")
    assert rule == "| :-- | --: | --: | --: |"
    assert [row.split(" | ")[0] for row in rows] == ["| RMSE", "| MAE", "| R²"]
    frame = result.frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["label"].to_list() == ["RMSE", "MAE", "R²"]
    assert {"value", "low", "high", "no_model", "gain"} <= set(frame.columns)
    latex = result.to_latex().splitlines()
    assert latex[0] == r"\begin{tabular}{lrrr}"
    assert latex[-1] == r"\end{tabular}"
    assert all(line.count("&") == 3 for line in latex if line.endswith(r"\\"))


def test_scores_without_a_value_are_left_out() -> None:
    frame = pd.DataFrame({"a": np.arange(40.0) % 7, "y": ["no", "yes"] * 20})
    text = ho.evaluate("ridge", frame, "y", progress=False).to_markdown()
    assert "| accuracy |" in text
    assert "log loss" not in text


def test_a_comparison_is_a_table_of_learners(comparison: ho.Comparison) -> None:
    head, _, *rows = comparison.to_markdown().splitlines()
    assert head.startswith("| learner | RMSE | 95 % interval | less the best |")
    assert len(rows) == 3  # the learners, and no model
    assert rows[-1].startswith("| no model ")
    assert rows[1].startswith("| mean | ")
    assert rows[1].endswith(" | worse |")
    frame = comparison.frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["learner"].to_list() == [name for name in comparison.ranking for _ in range(3)]


def test_names_from_the_data_are_escaped(comparison: ho.Comparison) -> None:
    row = comparison.to_markdown().splitlines()[2]
    assert row.replace(r"\|", "").count("|") == comparison.to_markdown().splitlines()[1].count("|")
    assert row.startswith(r"| a\_b &amp; 5% \| \<x\> \$y\$ \#1 \{z\} \~^\\ | ")
    row = comparison.to_latex().splitlines()[3 + 1]
    assert row.startswith(
        r"a\_b \& 5\% \textbar{} \textless{}x\textgreater{} \$y\$ \#1 \{z\} "
        r"\textasciitilde{}\textasciicircum{}\textbackslash{} & "
    )
