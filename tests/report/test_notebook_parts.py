"""Everything but results and comparisons that shows itself in a notebook."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np
import pytest
from fragments import HOSTILE, SHOWN, poisoned, read
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import heldout as ho
from heldout.base.findings import Finding
from heldout.report.show import as_html
from heldout.risk.estimands import Estimand, Subject
from heldout.risk.estimate import Estimate

X, y = load_iris(return_X_y=True)
ESTIMATE = Estimate(
    name="risk",
    loss="zero_one",
    value=0.0412345,
    low=0.01,
    high=0.108,
    level=0.9,
    method="corrected t",
    guarantee="heuristic",
    estimand=Estimand("expected zero-one risk", Subject.LEARNER),
    train_size=120.0,
    n=1_500,
)


def test_an_estimate_shows_number_interval_and_meaning():
    fragment = read(ESTIMATE._repr_html_())
    assert fragment.text.startswith("zero_one 0.04123 90 % interval 0.01 to 0.108\n")
    assert fragment.rows == [
        ["estimates", "expected zero-one risk"],
        ["interval", "corrected t, heuristic"],
        ["from", "1,500 held-out rows"],
    ]


def test_an_optimistic_estimate_is_marked_and_a_missing_interval_has_its_reason():
    bare = replace(ESTIMATE, low=None, high=None, method=None, guarantee=None, optimistic=True, reason="It chose.")
    fragment = read(bare._repr_html_())
    assert fragment.text.startswith("zero_one 0.04123 optimistic\n")
    assert ["interval", "It chose."] in fragment.rows


def test_hostile_text_is_text_in_an_estimate():
    spoiled = replace(ESTIMATE, loss=HOSTILE, estimand=HOSTILE, method=HOSTILE, reason=HOSTILE)
    assert SHOWN in read(spoiled._repr_html_()).text


@pytest.fixture(scope="module")
def plan():
    tuned = ho.Tuned(SVC(), {"C": [1, 5, 15]}, validation=ho.SharedBlocks())
    return ho.explain(tuned, X, y, test=ho.KFold(5), options=ho.Options(rules={"vectors": False}))


def test_a_plan_shows_cells_steps_and_what_each_rule_saved(plan):
    fragment = read(plan._repr_html_())
    assert fragment.pieces[0] == "Plan for SVC"
    assert ["candidates", "3"] in fragment.rows
    assert ["cells", "65"] in fragment.rows
    assert ["fits", "35 instead of 65"] in fragment.rows
    assert ["1", "validation", "60", "30", "brute force, shared", "identical", ""] in fragment.rows
    assert ["2", "test", "5", "5", "brute force", "identical", "once the choices are made"] in fragment.rows
    assert "share_fits: 60 → 30 fits" in fragment.text


def test_what_a_rule_saved_is_told_with_its_note(plan):
    (used,) = [one for one in plan.passes if one.used]
    fragment = read(replace(plan, passes=(replace(used, fits_after=13, note="and a pass"),))._repr_html_())
    assert "share_fits: 60 → 13 fits, and a pass" in fragment.text
    assert ["fits", "35 instead of 82"] in fragment.rows


def test_a_plan_says_behind_a_click_why_rules_did_nothing(plan):
    html = plan._repr_html_()
    inside = html[html.index("<details>") : html.index("</details>")]
    left = [one for one in plan.passes if one.refusals or not one.used]
    assert f"What {len(left)} rules left alone, and why" in inside
    assert "<strong>ridge</strong>: not used; " in inside
    for one in left:
        for reason in one.refusals:
            assert escape(reason) in inside


def test_hostile_text_is_text_in_a_plan(plan):
    passes = tuple(replace(one, name=HOSTILE, refusals=(HOSTILE,), note=HOSTILE) for one in plan.passes)
    lines = tuple(replace(one, level=HOSTILE, rule=HOSTILE, tier=HOSTILE) for one in plan.lines)
    spoiled = replace(plan, learner=HOSTILE, outer=HOSTILE, lines=lines, passes=passes, notes=(HOSTILE,))
    html = spoiled._repr_html_()
    assert SHOWN in read(html).text
    texts = 3 * len(passes) + 3 * len(lines) + 3
    assert len(html) < 5_000 + 600 * texts  # each is clipped


def test_a_finding_and_what_covers_show_themselves():
    finding = Finding(code="H101", severity="warning", message=HOSTILE)
    fragment = read(finding._repr_html_())
    assert fragment.text.startswith(f"H101 warning {SHOWN}")
    assert "heldout-warning" in fragment.classes
    result = ho.evaluate(KNeighborsClassifier(), X, y, test=ho.KFold(3), backend="inline", progress=False)
    assert read(result.covers._repr_html_()).pieces == [str(result.covers)]


def test_a_check_shows_the_gravest_first_with_why_and_the_way_out():
    checked = ho.check(np.column_stack([X, 10 * y]), y)
    fragment = read(checked._repr_html_())
    summary = checked.summary()
    severities = [one["severity"] for one in summary["findings"]]
    assert {"error", "info"} <= set(severities)
    places = [fragment.text.index(f"\n{one['code']} {one['severity']} ") for one in summary["findings"]]
    assert min(places) == places[severities.index("error")]
    for one in summary["findings"]:
        assert one["seen"] in fragment.text
        assert ["why", one["why"]] in fragment.rows
        assert ["way out", one["way_out"]] in fragment.rows
    spoiled = poisoned(summary, frozenset({"severity"}))
    assert SHOWN in read(as_html("check", spoiled)).text


def test_many_findings_of_a_check_are_folded():
    summary = ho.check(np.column_stack([X, 10 * y]), y).summary()
    summary["findings"] = [summary["findings"][0]] * 25
    assert "5 more" in read(as_html("check", summary)).pieces


def test_advice_shows_the_call_the_rows_and_the_reasons():
    advice = ho.advise(n=200, candidates=17, gap=0.05, width=0.1, error_rate=0.1)
    fragment = read(advice._repr_html_())
    assert fragment.pieces[:2] == ["nested cross-validation", " for 200 rows and 17 candidates"]
    assert advice.call in fragment.pieces
    assert ["rows", "128 to train, 32 to choose, 40 to test, in each part"] in fragment.rows
    assert "choose within 0.05 of the best of 17 candidates: 5,218 development rows" in fragment.pieces
    normal = f"{advice.test_rows.normal} test rows by normal planning"
    assert f"an interval 0.1 wide: 738 test rows whatever the losses, {normal}" in fragment.pieces
    assert all(reason in fragment.pieces for reason in advice.reasons)
    assert f"choosing on 32 rows once: within {advice.bounds['dev_gap']:.4g} of the best candidate" in fragment.pieces


def test_advice_without_rows_says_what_is_missing():
    fragment = read(as_html("advice", ho.advise(candidates=3).summary()))
    assert fragment.pieces[0] == "No recipe without the number of rows: pass n=…"
    assert "Rows needed, at 95 %" in fragment.pieces


def test_a_large_test_set_has_its_promise():
    advice = ho.advise(n=200_000, candidates=17, gap=0.05, width=0.1)
    width = f"{advice.bounds['test_width']:.4g}"
    assert f"testing on 20,000 rows once: an interval at most {width} wide" in read(advice._repr_html_()).pieces


def test_drawn_splits_show_their_parts_without_being_counted():
    splits = ho.draw(ho.KFold(4), X, y)
    fragment = read(splits._repr_html_())
    assert "told" not in vars(splits)
    assert fragment.pieces[0] == splits.words
    sizes = [[str(part), str(len(train)), str(len(held))] for part, (train, held) in enumerate(splits)]
    assert fragment.rows[1:5] == sizes
    assert ["fingerprint", splits.fingerprint[:12]] in fragment.rows


def test_many_parts_are_counted():
    words = {"words": HOSTILE, "fingerprint": "a" * 32, "task_fingerprint": "b" * 32}
    fragment = read(as_html("splits", {**words, "train_rows": [9] * 500, "held_rows": [1] * 500}))
    assert "… 488 more" in fragment.pieces
    assert fragment.pieces[0].startswith(SHOWN)


def test_splits_that_were_counted_show_a_row_a_part():
    summary = ho.draw(ho.KFold(4), X, y).summary()
    fragment = read(summary._repr_html_())
    assert fragment.pieces[0] == "4-fold, stratified, shuffled: 4 parts of 150 rows"
    assert ["part", "trains on", "holds out", "unused"] in fragment.rows
    assert ["3", "113", "37", "0"] in fragment.rows
