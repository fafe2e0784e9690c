from __future__ import annotations

import copy
import json
from html import unescape

import pytest
from fragments import HOSTILE, SHOWN, poisoned, read
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report.show import as_html
from heldout.report.words import p_words

X, y = load_iris(return_X_y=True)
STRUCTURE = frozenset({"severity", "verdict", "fingerprint"})


@pytest.fixture(scope="module")
def result():
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [-1, 5, 15]}, validation=ho.KFold(3))
    found = ho.evaluate(tuned, X, y, test=ho.KFold(3), loss=["zero_one", "log"], backend="inline", progress=False)
    assert found.predictor is not None  # its fits give the best validation number
    return found


@pytest.fixture
def summary(result):
    return copy.deepcopy(result.summary())


@pytest.fixture(scope="module")
def compared():
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [5, 15]}, validation=ho.KFold(3))
    learners = {"tuned": tuned, "one": KNeighborsClassifier(1), "far": KNeighborsClassifier(90)}
    return ho.compare(learners, X, y, test=ho.KFold(3), rope=0.01, backend="inline", progress=False)


@pytest.fixture
def comparison(compared):
    return copy.deepcopy(compared.summary())


def test_a_result_shows_itself_from_its_summary_alone(result, summary):
    assert result._repr_html_() == as_html("result", json.loads(json.dumps(summary)))


def test_the_answer_stands_first(summary):
    lines = read(as_html("result", summary)).text.splitlines()
    assert lines[0] == 'y from 4 columns 150 rows: "0" 33 %, "1" 33 %, "2" 33 %'
    lead = summary["metrics"][0]
    assert lines[1].startswith(f"error rate {100 * lead['value']:.1f} % (95 % interval ")
    assert lines[2].startswith("always the commonest class: ")
    assert lines[3].startswith("Better than no model by ")
    assert lines[4].startswith("Tuned nearest neighbours, nested 3-fold cross-validation.")


def test_the_number_is_drawn_with_its_interval_its_folds_and_no_model(summary):
    html = as_html("result", summary)
    fragment = read(html)
    assert fragment.tags.count("svg") == 1
    assert html.count('class="heldout-fold"') == 3
    assert {"the number", "its interval", "folds", "no model"} < set(fragment.pieces)


def led(summary, **changes):
    """The summary with another leading score."""
    first, *others = summary["metrics"]
    return summary | {"metrics": [first | changes, *others]}


def test_the_scores_come_with_intervals_and_no_model(summary):
    rows = read(as_html("result", led(summary, value=0.1234567, low=0.05, high=0.25, no_model=0.6666))).rows
    assert ["score", "held out", "95 % interval", "no model"] in rows
    assert ["error rate", "0.12", "0.05 to 0.25", "0.67"] in rows
    assert [row[0] for row in rows[1:7]] == [
        "error rate",
        "log loss",
        "accuracy",
        "balanced accuracy",
        "AUC",
        "Brier score",
    ]


def test_without_an_interval_the_reason_is_shown_and_with_one_its_condition(summary):
    bare = {"low": None, "high": None, "method": None, "guarantee": None, "reason": "One part tells no spread."}
    assert ["interval", "One part tells no spread."] in read(as_html("result", led(summary, **bare))).rows
    but = summary["risk"] | {"reason": "Only if rows are independent."}
    assert ["but", "Only if rows are independent."] in read(as_html("result", summary | {"risk": but})).rows


def test_a_withheld_number_is_told_in_words(summary):
    risk = summary["risk"] | {"value": None, "answer": "pass: at most 0.2"}
    shown = led(summary, value=None, low=None, high=None) | {"risk": risk}
    assert "\nerror rate pass: at most 0.2\n" in read(as_html("result", shown)).text


def test_what_stands_beside_is_labelled_and_optimism_is_marked(summary):
    rows = read(as_html("result", summary)).rows
    best, log = summary["estimates"]["best_validation"], summary["estimates"]["risk_log"]
    assert ["best validation number optimistic", f"{best['value']:.4g}", "none", best["estimand"]] in rows
    between = f"{log['low']:.4g} to {log['high']:.4g}"
    assert ["log risk", f"{log['value']:.4g}", between, log["estimand"]] in rows
    assert [row[0] for row in rows if row and "optimistic" in row[0]] == ["best validation number optimistic"]


def test_every_fold_stands_beside_its_choice(summary):
    fragment = read(as_html("result", summary))
    assert ["fold", "trained on", "held out", "zero_one", "log", "validation", "chosen"] in fragment.rows
    for fold, choice in zip(summary["folds"], summary["choices"], strict=True):
        numbers = [f"{one:.4g}" for one in (fold["zero_one"], fold["log"], choice["validation_zero_one"])]
        chosen = f"KNeighborsClassifier n_neighbors={choice['param_n_neighbors']}"
        assert [str(fold["fold"]), "100", "50", *numbers, chosen] in fragment.rows


def test_only_the_first_twelve_folds_are_listed_and_the_rest_counted(summary):
    many = [summary["folds"][0] | {"fold": place, "repeat": place // 10} for place in range(1_030)]
    fragment = read(as_html("result", summary | {"folds": many, "choices": [], "failures": []}))
    assert "… 1,018 more" in fragment.text
    assert [row[:2] for row in fragment.rows if row[2:4] == ["100", "50"]] == [
        [str(place), "0" if place < 10 else "1"] for place in range(12)
    ]


def test_a_fold_where_nothing_could_be_chosen_says_so(summary):
    summary["choices"][1] |= {"candidate": -1, "validation_zero_one": None}
    rows = read(as_html("result", summary)).rows
    assert [row[-2:] for row in rows if row[:3] == ["1", "100", "50"]] == [["–", "nothing: every candidate failed"]]


def test_a_single_tested_predictor_has_no_table_of_folds():
    result = ho.evaluate(KNeighborsClassifier(), X, y, test=ho.Holdout(0.3), backend="inline", progress=False)
    assert not [row for row in read(result._repr_html_()).rows if "trained on" in row]


def test_grave_findings_stand_above_the_scores_and_the_others_at_a_click(summary):
    found = [
        {"code": f"H{100 + place}", "severity": "info" if place > 5 else "error", "message": f"remark {place}"}
        for place in range(18)
    ]
    fragment = read(as_html("result", summary | {"findings": found}))
    assert "\nremark 3 (H103)\n… 2 more findings.\n" in fragment.text
    assert (
        fragment.text.index("remark 0 (H100)") < fragment.text.index("held out") < fragment.text.index("Other findings")
    )
    assert "\nH105 error remark 5\n" in fragment.text
    assert fragment.pieces.count("6 more") == 1
    assert (
        fragment.text.index("remark 11") < fragment.text.index("6 more") < fragment.text.index("H117 info remark 17\n")
    )
    assert "heldout-error" in fragment.classes


def test_predictor_plan_call_failures_and_meanings_are_there(summary):
    fragment = read(as_html("result", summary))
    assert ["predictor", summary["covers"]["sentence"]] in fragment.rows
    assert summary["about"]["call"] in fragment.pieces
    assert f"{len(summary['failures'])} failed cells" in fragment.pieces
    meaning = summary["verdict"]["meanings"]["risk"]
    assert any(row[0] == meaning["label"] and row[1].startswith(meaning["text"]) for row in fragment.rows if row)
    assert all(one in fragment.pieces for one in summary["verdict"]["surer"])
    step = summary["plan"]["lines"][0]
    assert ["1", step["level"], f"{step['cells']:,}", f"{step['fits']:,}", step["rule"], step["tier"]] in [
        row[:6] for row in fragment.rows
    ]


def test_the_same_summary_gives_the_same_bytes_and_has_no_id_to_clash(summary, comparison):
    assert as_html("result", summary) == as_html("result", copy.deepcopy(summary))
    assert as_html("comparison", comparison) == as_html("comparison", copy.deepcopy(comparison))
    assert ' id="' not in as_html("result", summary) + as_html("comparison", comparison)


def hostile_result(summary):
    """Every text and the names of losses, parameters and estimates are hostile."""
    spoiled = poisoned(summary, STRUCTURE)
    spoiled["estimates"][HOSTILE] = spoiled["estimates"]["risk_log"]
    spoiled["folds"] = [{**fold, HOSTILE: 0.5} for fold in spoiled["folds"]]
    spoiled["choices"] = [{**choice, "params": {HOSTILE: HOSTILE}} for choice in spoiled["choices"]]
    return spoiled


def test_hostile_text_is_text_in_a_result(summary):
    html = as_html("result", hostile_result(summary))
    fragment = read(html)
    assert SHOWN in fragment.text
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "n" * 2_001 not in html
    assert len(html) < 60_000


def test_hostile_text_is_text_in_a_comparison(comparison):
    spoiled = poisoned(comparison, STRUCTURE)
    spoiled["learners"] = {HOSTILE: spoiled["learners"]["tuned"]}
    spoiled["failures"] = {HOSTILE: HOSTILE}
    html = as_html("comparison", spoiled)
    assert SHOWN in read(html).text
    assert "\u202e" not in html
    assert len(html) < 60_000


def test_a_comparison_shows_verdict_ranking_and_pairs(compared, comparison):
    assert compared._repr_html_() == as_html("comparison", comparison)
    fragment = read(as_html("comparison", comparison))
    lines = fragment.text.splitlines()
    assert lines[0] == "y from 4 columns 150 rows 3 learners, same folds"
    assert lines[1].startswith(f"Best: {comparison['verdict']['best']}, accuracy 9")
    assert ["learner", "accuracy", "95 % interval", "less the best", "interval", "verdict"] in fragment.rows
    ranked = [row[0] for row in fragment.rows if row and row[-1] in ("", "worse", "undecided") and len(row) == 6]
    names = [comparison["verdict"]["best"], *(one["name"] for one in comparison["against_best"])]
    assert ranked == [*names, "no model"]
    for pair in comparison["pairs"]:
        chances = [pair["chance_first_better"], pair["chance_equal"], pair["chance_second_better"]]
        names = [pair["first"], pair["second"]]
        between = f"{pair['low']:.4g} to {pair['high']:.4g}"
        assert [*names, f"{pair['difference']:.4g}", between, pair["verdict"]] in fragment.rows
        tests = [p_words(pair["p"]), p_words(pair["p_holm"]), *(f"{chance:.3f}" for chance in chances)]
        assert [*names, *tests] in fragment.rows
        assert pair["sentence"] in fragment.pieces
    assert ["equal", "within ±0.01 two learners count as practically equal"] in fragment.rows
    assert "What each fold of tuned chose" in fragment.pieces


def test_a_learner_without_a_result_is_named(comparison):
    comparison["failures"] = {"broken": "Every fit failed: ValueError: no"}
    assert ["broken", "Every fit failed: ValueError: no"] in read(as_html("comparison", comparison)).rows


@pytest.fixture
def tuned(summary):
    return {
        "family": "knn",
        "params": {"clf__n_neighbors": 5, "clf__p": 1.5},
        "candidates": 12,
        "families": [],
        "parts": 5,
        "loss": "error rate",
        "value": 0.0412345,
        "optimistic": True,
        "estimates": {},
        "labels": {},
        "covers": "The predictor was trained on all rows.",
        "failed": 0,
    }


def test_a_tuned_learner_tells_its_choice_and_marks_the_number_that_chose(tuned):
    fragment = read(as_html("tuned", tuned))
    assert "Chosen: knn n_neighbors=5, p=1.5, of 12 candidates\n" in fragment.text
    assert "error rate 0.04123 in validation, mean of 5 parts optimistic\n" in fragment.text
    assert "estimates_" in fragment.text
    assert ["predictor", "The predictor was trained on all rows."] in fragment.rows


def test_a_tuned_learner_shows_its_families():
    families = {
        "near": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
        "line": (LogisticRegression(max_iter=1_000), {"C": [0.1, 1.0]}),
    }
    tuned = ho.Tuned(families, validation=ho.KFold(3), loss="log")
    before = unescape(tuned._repr_html_())
    assert "near: KNeighborsClassifier" in before
    assert "line: LogisticRegression" in before
    assert "{'n_neighbors': [1, 5, 15]}" in before
    after = tuned.fit(X, y)._repr_html_()
    fragment = read(after[after.index("<style>.heldout-view") :])
    assert ["family", "candidates", "best log loss in validation"] in fragment.rows
    best, other = (row for row in fragment.rows if row[:2] in (["near", "3"], ["line", "2"]))
    assert float(best[2]) <= float(other[2])
    assert best[0] == tuned.best_family_
    alone = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, validation=ho.KFold(3))
    assert "estimator: KNeighborsClassifier" in unescape(alone._repr_html_())
    assert "Families" not in alone.fit(X, y)._repr_html_()


def test_a_tuned_learner_with_nothing_to_choose_is_not_optimistic(tuned):
    fragment = read(as_html("tuned", tuned | {"candidates": 1, "parts": 1, "optimistic": False, "failed": 2}))
    assert "of 12" not in fragment.text
    assert "the only candidate" in fragment.text
    assert "optimistic" not in fragment.pieces
    assert "estimates_" not in fragment.text
    assert ["failed", "2 fits: see failures_"] in fragment.rows


def test_a_tuned_learner_shows_the_estimates_that_were_made(tuned, summary):
    made = {"best_validation": summary["estimates"]["best_validation"]}
    fragment = read(as_html("tuned", tuned | {"estimates": made, "labels": {"best_validation": "the best"}}))
    assert ["the best optimistic", f"{made['best_validation']['value']:.4g}", "none"] in [r[:3] for r in fragment.rows]
    assert "estimates_" not in fragment.text


def test_hostile_text_is_text_in_a_tuned_learner(tuned):
    html = as_html("tuned", poisoned(tuned) | {"params": {HOSTILE: HOSTILE}})
    assert SHOWN in read(html).text
    assert len(html) < 10_000
