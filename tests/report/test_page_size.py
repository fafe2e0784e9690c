from __future__ import annotations

import pytest

from heldout.report.page import render_page


@pytest.mark.parametrize("count", [100, 1_000])
def test_a_study_of_many_candidates_and_ten_folds_stays_under_a_megabyte(make_result, seen, count):
    page = render_page(make_result(count, 10))
    assert len(page.encode()) < 1_000_000
    assert page.count("<td><bdi>kind ") == count


def test_rows_that_would_not_fit_are_left_out_and_counted(make_result, seen):
    summary = make_result(1_000, 10)
    for row in summary["candidates"]:
        row["params"] |= {f"param {n}": "\U0001f600" * 10_000 for n in range(20)}
    page = render_page(summary)
    assert len(page.encode()) < 1_000_000
    shown = page.count("<td><bdi>kind ")
    assert 100 < shown < 1_000
    assert f"{1_000 - shown:,} more rows left out here" in seen(page).text


def test_many_folds_failures_findings_and_classes_have_an_end(make_result):
    summary = make_result()
    summary["folds"] = [{**summary["folds"][0], "fold": fold} for fold in range(5_000)]
    summary["choices"] = [{**summary["choices"][0], "fold": fold} for fold in range(5_000)]
    summary["failures"] = [
        {**summary["failures"][0], "part": part, "message": f"{part}" * 3_000, "traceback": f"{part}" * 9_000}
        for part in range(2_000)
    ]
    summary["findings"] = [{**summary["findings"][0], "message": f"{n} " * 2_000} for n in range(2_000)]
    summary["about"]["classes"] = [f"class {n}" for n in range(5_000)]
    page = render_page(summary)
    assert len(page.encode()) < 1_000_000
    for words in ("4,800 more rows left out here", "1,900 more findings left out here", "… 5,000 in all"):
        assert words in page


def test_a_comparison_of_thirty_learners_stays_under_a_megabyte(make_comparison):
    page = render_page(make_comparison(tuple(f"learner {n}" for n in range(30))))
    assert len(page.encode()) < 1_000_000
