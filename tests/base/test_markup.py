from __future__ import annotations

from heldout.base.markup import Html, element, html, lines_html, together


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


def test_a_program_keeps_its_lines():
    assert lines_html("f(\n  '<b>\x1b')", 50) == "f(\n  &#x27;&lt;b&gt;�&#x27;)"
    assert len(lines_html("x" * 10_000, 50)) == 50
