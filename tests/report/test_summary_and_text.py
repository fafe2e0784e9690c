from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.words import line, safe
from heldout.report.show import as_text
from heldout.report.words import amount
from heldout.results.study_record import VERSION, rows_of

X, y = (part[:60] for part in load_diabetes(return_X_y=True))


class Picky(Ridge):
    """Cannot be fitted with a negative strength."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha == 666:
            raise RuntimeError("wicked\x1b[2J\nnumber")
        return super().fit(X, y)


@pytest.fixture(scope="module")
def result():
    learner = ho.Tuned(Picky(), {"alpha": [0.1, 1.0, 666]}, validation=ho.KFold(3))
    return ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)


def summary_of(result):
    return result.summary()


def test_a_summary_is_plain_and_whole(result):
    summary = summary_of(result)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["version"] == VERSION
    assert summary["risk"]["value"] == result.risk.value
    assert [fold["squared"] for fold in summary["folds"]] == result.folds["squared"].tolist()
    assert [choice["candidate"] for choice in summary["choices"]] == result.choices["candidate"].tolist()
    assert len(summary["failures"]) == 12
    assert {finding["code"] for finding in summary["findings"]} == {f.code for f in result.findings}


def test_the_text_answers_and_says_what_the_number_is(result):
    first, empty, score, *_ = as_text("result", summary_of(result)).splitlines()
    assert first == "y from 10 columns   60 rows: median 133"
    assert empty == ""
    assert score.startswith("  RMSE 59   (95 % interval 49 to 82)   always the mean: 7")
    assert result.risk.value**0.5 == pytest.approx(59, abs=0.5)


def test_at_length_every_number_says_what_it_is(result):
    text = as_text("whole result", summary_of(result))
    for words in (
        result.risk.method,
        result.risk.guarantee,
        "60 held-out rows",
        "No value: it needs the validation fits on all rows",
        "  Picky alpha=",
        "! 12 fits failed",
        "(H202)",
        "seed 0",
        "left alone, and why",
    ):
        assert words in text, text
    assert result.risk.estimand in " ".join(text.split())
    assert "left alone, and why" not in str(result)


def test_nothing_that_a_terminal_acts_on_comes_through(result):
    text = as_text("result", summary_of(result))
    assert "wicked" in text
    assert "\x1b" not in text
    assert not any(unit.startswith("number") for unit in text.splitlines())


def test_without_an_interval_the_reason_stands_there():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = ho.evaluate(DummyRegressor(), X, y, test=ho.Holdout(rows=1), loss="squared", jobs=1)
    assert made.risk.low is None
    text = as_text("result", summary_of(made))
    assert "  interval    No interval" in text
    assert "trained on  held out" not in text
    assert "  chosen  " not in text


def test_the_rows_of_leave_one_out_are_not_listed_as_folds(result):
    alone = ho.evaluate(Ridge(), X, y, test=ho.LeaveOneOut(), loss="squared", jobs=1)
    assert "\nFolds\n" in as_text("whole result", summary_of(result))
    assert "Folds" not in as_text("whole result", summary_of(alone))


def edited(result, **changes):
    summary = summary_of(result)
    first, *others = summary["metrics"]
    return summary | {"metrics": [first | changes, *others]}


def test_the_level_is_shown_as_it_is(result):
    assert "99.9 % interval" in as_text("result", edited(result, level=0.999))
    assert "90 % interval" in as_text("result", edited(result, level=0.9))


def test_an_infinite_number_is_shown(result):
    text = as_text("result", edited(result, value="inf", low="-inf", high="inf"))
    assert "  RMSE ∞   (95 % interval -∞ to ∞)" in text


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (29_437.2, 27_912.0, 31_188.0, "RMSE 29,400   (95 % interval 27,900 to 31,200)"),
        (0.083214, 0.0612, 0.0991, "RMSE 0.083   (95 % interval 0.061 to 0.099)"),
        (1.23456e7, 1.1e7, 1.4e7, "RMSE 12,300,000   (95 % interval 11,000,000 to 14,000,000)"),
    ],
)
def test_two_digits_of_the_width_of_the_interval_decide_the_rounding(result, value, low, high, shown):
    assert f"  {shown}" in as_text("result", edited(result, value=value, low=low, high=high))


def test_a_fold_where_nothing_could_be_chosen_is_named(result):
    summary = summary_of(result)
    choices = [summary["choices"][0] | {"candidate": -1}, *summary["choices"][1:]]
    assert "nothing: every candidate failed in 1" in as_text("result", summary | {"choices": choices})


def test_many_folds_and_choices_are_counted(result):
    summary = summary_of(result)
    folds = [summary["folds"][0] | {"fold": i, "squared": float(i)} for i in range(30)]
    choices = [summary["choices"][0] | {"fold": i, "candidate": i, "params": {"alpha": float(i)}} for i in range(30)]
    text = as_text("whole result", summary | {"folds": folds, "choices": choices})
    assert "… 18 more" in text
    assert "1 of 30  Picky alpha=0" in text
    assert "… 22 more" in text
    assert "  chosen      alpha=0 in 1 fold, alpha=1 in 1, alpha=2 in 1, 27 others in 27\n" in text


def test_names_with_line_breaks_stay_on_their_line(result):
    summary = summary_of(result)
    params = {"solver": "svd\nsquared 0.0   95% interval 0 to 0\r\u2028x"}
    choices = [summary["choices"][0] | {"params": params}]
    lines = as_text("result", summary | {"choices": choices}).splitlines()
    assert sum(one.strip().startswith("squared") for one in lines) == 0


@pytest.mark.parametrize("mark", ["\x00", "\x07", "\x1b", "\x9b", "\r", "\x7f", "\u202e", "\u2066", "\u200f"])
def test_marks_that_terminals_act_on_are_shown_as_unknown(mark):
    assert safe(f"a{mark}b") == "a�b"


def test_a_line_is_one_line():
    assert line("a\n b\tc\u2028d") == "a b c d"


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.123456, "0.1235"), (12345.6, "12,346"), (0, "0"), ("inf", "∞")]
)
def test_numbers_have_four_digits(value, shown):
    assert amount(value) == shown


def test_columns_become_rows():
    assert rows_of({"a": np.array([1, 2]), "b": ["x", None]}) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert rows_of({}) == []
    assert rows_of({"a": pd.Series([np.nan])}) == [{"a": None}]
    with pytest.raises(ValueError, match="shorter"):
        rows_of({"a": [1, 2], "b": [1]})
