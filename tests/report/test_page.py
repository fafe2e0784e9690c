from __future__ import annotations

import re
import sys

import pytest

from heldout.base.errors import OptionError
from heldout.report.page import render_page

SECTIONS = [
    "What was checked and found",
    "Failures",
    "The scores",
    "Where it errs",
    "How it did in each fold",
    "The number, and the numbers beside it",
    "Risk against each parameter",
    "All candidates",
    "Is the choice stable?",
    "Would more rows help?",
    "How the rows were split",
    "Where the time went",
    "The plan and what its rules saved",
    "How to get it again",
    "The words of this page",
]


def headings(page, level):
    return [
        re.sub("<.*?>", "", text) for text in re.findall(rf"<h{level}[^>]*>(.*?)</h{level}>", page, flags=re.DOTALL)
    ]


def inside(page, section):
    """The text of one section."""
    found = re.search(rf'<section id="{section}".*?</section>', page, flags=re.DOTALL)
    return found[0] if found else ""


def test_the_sections_of_a_result_come_in_the_order_its_readers_ask_for(pages):
    assert headings(pages["result"], 1) == ["diagnosis from 4 columns of bc.csv"]
    assert "<title>diagnosis from 4 columns of bc.csv</title>" in pages["result"]
    assert headings(pages["result"], 2) == SECTIONS
    contents = re.search('<nav class="contents".*?</nav>', pages["result"], flags=re.DOTALL)[0]
    assert re.findall("<a [^>]*>(.*?)</a>", contents) == ["The verdict", *SECTIONS]


def test_a_comparison_has_its_own_sections(pages):
    assert headings(pages["comparison"], 1) == ["diagnosis from 4 columns of bc.csv"]
    assert headings(pages["comparison"], 2) == [
        "What was checked and found",
        "Failures",
        "Ranking",
        "Differences, pair by pair",
        "The same folds, side by side",
        "Each learner by itself",
        "How to get it again",
        "The words of this page",
    ]


def test_the_verdict_is_first_and_whole(pages, seen, make_result):
    text = seen(pages["result"]).text
    verdict = make_result()["verdict"]
    against = "Better than no model by 0.350 (0.310 to 0.390 on the same folds)."
    told = (verdict["sentence"], against, "0.120 95 % interval 0.100 to 0.150", verdict["promise"], verdict["optimism"])
    places = [text.index(words) for words in told]
    assert places == sorted(places)
    assert places[-1] < text.index("Where it errs Answers") < text.index("Each lane is one round")
    assert all(one in text for one in verdict["surer"])
    assert "The predictor is trained on all 150 rows." in text


def test_the_key_number_has_its_interval_its_scale_and_its_meaning(pages, seen):
    hero = re.search('<div class="key-number">.*?</svg>.*?</details>', pages["result"], flags=re.DOTALL)[0]
    text = seen(hero).text
    assert "0.120 95 % interval 0.100 to 0.150" in text
    assert 'always "no": 0.660' in text
    assert "meaning of risk" in text
    assert "about 120" in text
    assert seen(hero).of("svg")[0]["aria-label"] == (
        '0.120 on a scale, with its interval from 0.100 to 0.150, the values of 5 folds, always "no": 0.660'
    )


def test_each_estimate_tells_its_meaning_at_a_click(pages, seen):
    section = seen(inside(pages["result"], "estimates"))
    meanings = section.text[section.text.index("What the numbers mean") :]
    for name in ("risk", "best_validation", "risk_zero_one"):
        assert f"label of {name} meaning of {name} It estimates: expected log risk of the tuned learner" in meanings
    assert "Interval: corrected t, heuristic." in meanings
    assert "optimistic" in section.text


def test_every_figure_has_a_caption_a_drawing_and_its_numbers(pages):
    for kind, least in (("result", 7), ("comparison", 3)):
        found = re.findall("<figure>.*?</figure>", pages[kind], flags=re.DOTALL)
        assert len(found) >= least
        for figure in found:
            assert figure.count("<figcaption>") == figure.count("<svg") == figure.count("<table") == 1


def test_a_figure_that_is_missing_says_why_only_where_a_reader_would_look_for_it(pages, seen):
    text = seen(pages["result"]).text
    assert "No calibration curve: no probability was asked for" in text
    assert "No learning curve was asked for." in text
    assert "not a regression" not in text


def test_sections_without_anything_to_show_are_left_out(make_result):
    summary = make_result()
    summary |= {"choices": [], "candidates": [], "failures": [], "findings": []}
    nothing = {"none": "there is none"}
    summary["figures"] |= dict.fromkeys(("splits", "parameters", "stability", "confusion"), nothing)
    page = render_page(summary)
    gone = {"How the rows were split", "Risk against each parameter", "All candidates", "Is the choice stable?"}
    assert headings(page, 2) == [one for one in SECTIONS if one not in gone | {"Where it errs", "Failures"}]
    assert "2 checks of the data and the set-up: nothing found." in page
    assert "whether rows hang together" in page
    assert "nothing found" not in render_page(summary | {"checks": None})
    assert "The data were not checked" in render_page(summary | {"checks": summary["checks"] | {"ran": False}})


def test_a_study_of_one_part_and_one_number_shows_neither_twice(make_result):
    summary = make_result()
    summary |= {"folds": summary["folds"][:1], "estimates": {"risk": summary["risk"]}}
    summary["figures"]["estimates"]["rows"] = summary["figures"]["estimates"]["rows"][:1]
    page = render_page(summary)
    assert "How it did in each fold" not in headings(page, 2)
    assert "<figure>" not in inside(page, "estimates")
    assert "<table" in inside(page, "estimates")


def test_findings_come_the_gravest_first(pages, seen):
    section = seen(inside(pages["result"], "findings")).text
    assert section.index("H202") < section.index("H302") < section.index("H301")
    assert '<a class="badge error" href="#findings">1 error</a>' in pages["result"]


def test_tables_have_captions_and_scopes_and_cells_that_sort_by_numbers(pages, seen):
    for kind in ("result", "comparison"):
        page = seen(pages[kind])
        assert len(page.of("caption")) == len(page.of("table")) > 5
        assert {heading.get("scope") for heading in page.of("th")} == {"row", "col"}
    assert (
        '<tr><th class="n" scope="row" data-value="1">1</th>'
        '<td><bdi>ridge</bdi></td><td class="n" data-value="1">1</td>'
        '<td><bdi>kind 0</bdi></td><td class="n" data-value="0.1">0.1</td><td class="n" data-value="0.01">0.01</td>'
        '<td class="n" data-value="5">5</td>'
    ) in inside(pages["result"], "candidates")


def test_wide_things_scroll_in_a_box_with_a_name_that_keys_reach(pages, seen):
    boxes = [box for box in seen(pages["result"]).of("div") if "scroll" in (box.get("class") or "")]
    assert len(boxes) == len(seen(pages["result"]).of("table"))
    assert all(box["tabindex"] == "0" and box["aria-label"] and box["role"] == "group" for box in boxes)


def test_the_plan_shows_what_rules_saved_and_why_others_were_not_used(pages, seen):
    text = seen(inside(pages["result"], "plan")).text
    assert "ridge : 90 → 15 fits" in text
    assert "15 instead of 90" in text
    assert "Ridge is no neighbour" in text
    assert "a note on the plan" in text
    assert "alpha=1, part 0" in text


def test_the_record_reproduces_the_study(pages, seen):
    section = inside(pages["result"], "record")
    assert "learner = Ridge()\nho.evaluate(learner, X, y, seed=7)" in section
    assert "heldout evaluate data.csv --target y" in section
    text = seen(section).text
    for words in ("f" * 32, "5" * 32, "150 rows, 4 columns", "no, yes", "python 3.11, heldout 0.1", "seed 7"):
        assert words in text


def test_failures_are_named_with_their_tracebacks(pages, seen):
    text = seen(inside(pages["result"], "failures")).text
    assert "no such number" in text
    assert "Traceback (most recent call last)" in text


def test_the_comparison_shows_ranking_and_pairs_with_their_intervals(pages, seen):
    ranking = seen(inside(pages["comparison"], "ranking")).text
    assert "forest 0.220 0.200 to 0.250 +0.10 (-0.02 to 0.20) undecided" in ranking
    pairs = inside(pages["comparison"], "differences")
    table = re.search('<table id="pairs-table">.*?</table>', pairs, flags=re.DOTALL)[0]
    assert table.count("<bdi>first better</bdi>") == 3
    assert 'data-value="-0.2">-0.2 to -0.01' in pairs
    assert pairs.count("<figure>") == 1
    assert "within ±0.05 two learners count as practically equal" in pairs
    assert "difference of expected log risks" in pairs


def test_a_risk_without_a_value_is_a_dash_and_its_reason(make_result, seen):
    summary = make_result()
    none = {
        "value": None,
        "low": None,
        "high": None,
        "method": None,
        "guarantee": None,
        "reason": "No risk: it failed.",
    }
    summary["risk"] |= none
    summary["metrics"][0] |= none
    page = render_page(summary)
    assert '<p class="big">–</p>' in page
    assert 'class="scale"' not in page
    assert "No risk: it failed." in seen(page).text
    assert "Why there is no interval" in page
    assert "What the interval promises" not in page


def test_an_answer_in_place_of_a_number_is_told(make_result):
    summary = make_result()
    summary["risk"] |= {"answer": "rounded to 0.01"}
    assert '<p class="big long">0.120 (rounded to 0.01)</p>' in render_page(summary)
    nothing = {"value": None, "low": None, "high": None}
    summary["risk"] |= {"answer": "pass: at most 0.2", **nothing}
    summary["metrics"][0] |= nothing
    assert '<p class="big long">pass: at most 0.2</p>' in render_page(summary)


def test_infinite_ends_are_shown_and_sorted(make_result):
    summary = make_result()
    for one in (summary["risk"], summary["metrics"][0]):
        one |= {"low": "-inf", "high": "inf"}
    page = render_page(summary)
    assert "95 % interval -∞ to ∞" in page
    assert 'data-value="-inf">-∞ to ∞' in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "version 1"),
        ({"kind": "novel"}, "kind 'novel'"),
        ({"figures": None}, r"summary\(figures=True\)"),
    ],
)
def test_what_is_no_summary_with_figures_is_refused_with_the_way_out(make_result, change, message):
    summary = {key: value for key, value in {**make_result(), **change}.items() if value is not None}
    with pytest.raises(OptionError, match=message):
        render_page(summary)


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_without_a_package_the_error_names_the_extra_that_brings_it(make_result, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=rf"needs {package}\. Install it with pip install 'heldout\[report\]'"):
        render_page(make_result())
