from __future__ import annotations

import numpy as np
import pytest

from heldout.base.markup import (
    MOST_CELL,
    Html,
    badge,
    code,
    details,
    element,
    facts,
    html,
    listed,
    table,
    titled,
    together,
    view,
)


def test_text_is_escaped_once_and_markup_left_alone():
    assert html('<a href="x">&amp;') == "&lt;a href=&quot;x&quot;&gt;&amp;amp;"
    assert html(html("<")) == "&lt;"
    assert element("p", "<b>", Html("<b>")) == "<p>&lt;b&gt;<b></p>"


def test_text_that_was_markup_and_is_joined_to_other_text_is_text_again():
    assert together(f"{element('b', 'x')}!") == "&lt;b&gt;x&lt;/b&gt;!"


def test_attributes_cannot_be_broken_out_of():
    assert element("td", "x", title='"><img onerror=1>') == '<td title="&quot;&gt;&lt;img onerror=1&gt;">x</td>'


def test_text_is_on_one_line_and_clipped_before_it_is_escaped():
    assert html("a\n\u202eb") == "a �b"
    assert html("&" * 10, 5) == "&amp;" * 4 + "…"


def test_a_badge_has_a_colour_only_for_what_is_grave():
    assert badge("x", "error") == '<span class="heldout-badge heldout-error">x</span>'
    assert badge("x", '"><script>') == '<span class="heldout-badge">x</span>'


def test_facts_leave_out_what_is_missing_but_not_zero():
    rows = facts({"a": None, "b": "", "c": 0, "n" * 200: "x"})
    assert rows == (
        '<table class="heldout-table heldout-facts"><tbody>'
        '<tr><th class="heldout-short" scope="row">c</th><td>0</td></tr>'
        f'<tr><th scope="row">{"n" * (MOST_CELL - 1)}…</th><td>x</td></tr></tbody></table>'
    )
    assert facts({"a": None}) == ""


def test_a_table_sets_numbers_to_the_right_and_words_as_they_are():
    made = table(("n", "name", "share"), [(1234, "a", 0.123456), (np.int64(2), "<b>", None)])
    assert made == (
        '<div class="heldout-wide"><table class="heldout-table"><thead><tr>'
        '<th class="heldout-number" scope="col">n</th><th class="heldout-short" scope="col">name</th>'
        '<th class="heldout-number" scope="col">share</th></tr></thead><tbody>'
        '<tr><td class="heldout-number">1,234</td><td class="heldout-short">a</td>'
        '<td class="heldout-number">0.1235</td></tr>'
        '<tr><td class="heldout-number">2</td><td class="heldout-short">&lt;b&gt;</td>'
        '<td class="heldout-number">–</td></tr></tbody></table></div>'
    )


def test_long_words_may_break_and_are_clipped():
    made = table(("name",), [("n" * 10_000,)])
    assert f'<td class="heldout-words">{"n" * (MOST_CELL - 1)}…</td>' in made


def test_a_column_without_heading_and_without_words_is_left_out():
    assert table(("a", ""), [("x", "")]) == table(("a",), [("x",)])
    assert "<td" in table(("a", ""), [("x", ""), ("y", "z")])


def test_rows_past_the_most_are_counted():
    made = table(("n",), [(place,) for place in range(1_005)], most=5)
    assert made.count("<tr>") == 6
    assert made.endswith('<p class="heldout-quiet">… 1,000 more</p>')


@pytest.mark.parametrize(
    "empty", [table(("a",), []), table((), []), listed([]), details("x", "", Html("")), titled("x", ""), code(None)]
)
def test_nothing_is_shown_of_nothing(empty):
    assert empty == ""


def test_code_keeps_its_lines():
    assert code("f(\n  '<b>\x1b')") == '<pre class="heldout-code">f(\n  &#x27;&lt;b&gt;�&#x27;)</pre>'
    assert len(code("x" * 10_000, 50)) == len(code("x" * 50))


def test_a_view_brings_its_style_and_is_no_formula():
    made = view("a", element("p", "b"))
    assert type(made) is str
    assert made.startswith("<style>.heldout-view{")
    assert made.endswith('<div class="heldout-view tex2jax_ignore mathjax_ignore">a<p>b</p></div>')
    assert "\n" not in made
