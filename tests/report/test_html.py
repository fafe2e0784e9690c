"""Blocks as HTML: what a notebook and a page make of each."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.report.blocks import Code, Details, Facts, Findings, Headline, Note, Number, Span, Table
from heldout.report.html import PAGE, notebook_fragment


def inside(*blocks):
    """A fragment without its frame."""
    made = notebook_fragment(blocks)
    start = '<div class="heldout-view tex2jax_ignore mathjax_ignore">'
    assert made.startswith("<style>.heldout-view{")
    assert "\n" not in made.partition("</style>")[0]
    return made.partition(start)[2].removesuffix("</div>")


def table(head, *rows, **more):
    return Table(title="", head=head, rows=rows, **more)


def test_a_badge_has_a_colour_only_for_what_is_grave():
    assert inside(Note(Span("x", "error"))) == '<p><span class="heldout-badge heldout-error">x</span></p>'
    finding = Findings((("H1", '"><script>', "m", {}),))
    assert '<span class="heldout-badge">H1 &quot;&gt;&lt;script&gt;</span>' in inside(finding)


def test_facts_leave_out_what_is_missing():
    made = inside(Facts({"a": None, "b": "", "c": "0", "n" * 200: "x"}))
    assert made == (
        f'<dl class="heldout-facts"><div><dt>c</dt><dd>0</dd></div><div><dt>{"n" * 79}…</dt><dd>x</dd></div></dl>'
    )


def test_a_table_sets_numbers_to_the_right_and_words_as_they_are():
    made = inside(table(("n", "name", "share"), (1234, "a", 0.123456), (int(np.int64(2)), "<b>", None)))
    assert made == (
        '<div class="heldout-wide"><table class="heldout-table"><thead><tr>'
        '<th class="heldout-n" scope="col">n</th><th class="heldout-short" scope="col">name</th>'
        '<th class="heldout-n" scope="col">share</th></tr></thead><tbody>'
        '<tr><td class="heldout-n">1,234</td><td class="heldout-short">a</td><td class="heldout-n">0.1235</td></tr>'
        '<tr><td class="heldout-n">2</td><td class="heldout-short">&lt;b&gt;</td><td class="heldout-n">–</td></tr>'
        "</tbody></table></div>"
    )


def test_long_words_may_break_and_are_clipped():
    made = inside(table(("name",), ("n" * 10_000,)))
    assert f'<td class="heldout-words">{"n" * 79}…</td>' in made


def test_a_column_without_heading_and_without_words_is_left_out():
    assert inside(table(("a", ""), ("x", ""))) == inside(table(("a",), ("x",)))
    assert inside(table(("a", ""), ("x", ""), ("y", "z"))).count("<td") == 4


def test_rows_past_the_most_are_counted():
    made = inside(table(("n",), *((place,) for place in range(1_005)), brief=5))
    assert made.count("<tr>") == 6
    assert made.endswith('<p class="heldout-quiet">… 1,000 more</p>')


def test_what_the_summary_left_out_is_counted_too():
    assert "7 more rows left out here" in PAGE.block(table(("n",), (1,), left_out=7))


@pytest.mark.parametrize(
    "empty",
    [
        table(("a",)),
        table(()),
        Note(),
        Note(title="x"),
        Facts({"a": None}, title="x"),
        Details("x", ()),
        Details("x", (Note(), Code(None, "y"))),
        Findings(()),
        Code(None, "x"),
    ],
    ids=repr,
)
def test_nothing_is_shown_of_nothing(empty):
    assert inside(empty) == ""
    assert PAGE.block(empty) == ""


def test_code_keeps_its_lines():
    assert inside(Code("f(\n  '<b>\x1b')")) == '<pre class="heldout-code">f(\n  &#x27;&lt;b&gt;�&#x27;)</pre>'
    assert len(inside(Code("x" * 10_000))) == len(inside(Code("x" * 2_000)))


def test_spans_stay_apart_where_blanks_keep_them_apart():
    assert inside(Headline((Span("a ", "strong"), "<b>", "   c"))) == (
        '<p class="heldout-head"><strong>a</strong> &lt;b&gt; c</p>'
    )


def test_a_cell_of_a_page_sorts_by_its_number_and_a_row_that_is_too_large_makes_room_for_later_ones():
    writer = PAGE
    rows = ((Number(0, "closed form"), "x"), ("-inf", "y" * 10_000), (10**400, "z"))
    made = writer.block(Table(title="t", head=("n", "name"), rows=rows, key="k", room=400))
    assert '<table id="k-table"><caption>t</caption>' in made
    assert '<th class="n" scope="row" data-value="0">closed form</th>' in made
    assert "y" * 40 not in made
    assert 'data-value="inf"' in made
    assert "1 more row left out here" in made
