from __future__ import annotations

import hashlib
import re
from base64 import b64encode

import pytest

from heldout.report.page import page_policy, render_page, render_template

KINDS = ("result", "comparison", "hostile result", "hostile comparison")


def words(text):
    return set(text.split())


TAGS = words(
    "html head meta title link style body a header div p span button nav details summary ol ul li main section h1 h2 "
    "h3 dl dt dd figure figcaption table caption thead tbody tr th td strong pre code bdi footer script"
)
SVG_TAGS = words("svg title desc defs g path line rect circle text tspan use clippath")
ATTRIBUTES = words(
    "aria-hidden aria-label aria-labelledby charset class content data-copy data-sort data-theme-toggle data-tip "
    "data-value hidden href http-equiv id lang name open popover popovertarget rel role scope tabindex type"
)
SVG_ATTRIBUTES = words(
    "aria-label aria-labelledby class clip-path cx cy d data-tip fill fill-opacity font-size font-weight height href "
    "id opacity r role rx stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity stroke-width tabindex "
    "text-anchor transform viewbox width x x1 x2 y y1 y2"
)
LINK = re.compile(r"#[a-z0-9-]+|data:image/svg\+xml,[^\"]+")


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_nothing_but_elements_and_attributes_of_ours(pages, seen, kind):
    unknown = {
        (tag, name)
        for tag, attributes in seen(pages[kind]).elements
        for name in (*attributes, "")
        if tag not in TAGS | SVG_TAGS or (name and name not in ATTRIBUTES | SVG_ATTRIBUTES)
    }
    assert unknown == set()


@pytest.mark.parametrize("kind", KINDS)
def test_no_handler_no_style_attribute_and_no_address(pages, seen, kind):
    for tag, attributes in seen(pages[kind]).elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "srcdoc", "action", "formaction"), (tag, name)
            if name in ("href", "xlink:href"):
                assert LINK.fullmatch(value), (tag, value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_names_the_hashes_of_the_one_style_and_the_one_script(pages, seen, kind):
    page = pages[kind]
    styles = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert len(styles) == len(seen(page).of("style")) == 1
    assert len(scripts) == len(seen(page).of("script")) == 1
    (policy,) = [meta["content"] for meta in seen(page).of("meta") if meta.get("http-equiv")]
    assert policy == (
        f"default-src 'none'; style-src {hashed(styles[0])}; script-src {hashed(scripts[0])}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def hashed(text):
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_served_page_may_have_a_script_more_and_ask_its_server(seen):
    values = {name: [] for name in ("sections",)}
    page = render_template("base.html.j2", values, script="let x = 1 < 2;", connect=True)
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    policy = page_policy(script="let x = 1 < 2;", connect=True)
    assert scripts[1] == "let x = 1 < 2;"
    assert f"script-src {hashed(scripts[0])} {hashed(scripts[1])};" in policy
    assert "connect-src 'self'" in policy
    assert "connect-src" not in page_policy()
    (meta,) = [meta for meta in seen(page).of("meta") if meta.get("http-equiv")]
    assert meta["content"] == policy


@pytest.mark.parametrize("kind", ["result", "comparison"])
def test_hostile_words_are_shown_as_words_and_add_no_element(pages, seen, kind):
    plain, hostile = seen(pages[kind]), seen(pages[f"hostile {kind}"])
    assert hostile.of("img") == hostile.of("b") == []
    assert "</script></style></svg><img src=x onerror=window.__pwned=1>" in hostile.text
    assert "{{7*7}}" in hostile.text
    assert "{{7*7}}" not in plain.text
    counts = [
        {tag: len(page.of(tag)) for tag in ("section", "table", "figure", "th", "td", "tr", "h2", "button", "details")}
        for page in (plain, hostile)
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("kind", ["hostile result", "hostile comparison"])
def test_no_mark_that_turns_text_and_no_control_character_comes_through(pages, kind):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", pages[kind])


def test_ids_are_unique_and_every_reference_has_its_target(pages, seen):
    for kind in KINDS:
        elements = seen(pages[kind]).elements
        ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
        assert len(ids) == len(set(ids)), kind
        for _, attributes in elements:
            for name in ("aria-labelledby", "popovertarget", "data-copy"):
                assert set((attributes.get(name) or "").split()) <= set(ids), attributes
            if (attributes.get("href") or "").startswith("#"):
                assert attributes["href"][1:] in ids, attributes


def test_a_name_of_ten_thousand_letters_is_cut_and_whole_up_to_a_length_in_a_tooltip(make_result, seen):
    summary = make_result()
    long = "x" * 10_000
    summary["headline"] |= {"target": long, "source": long, "name": long, "learner": long}
    summary["candidates"][0]["params"]["model__kind"] = long
    summary["findings"][0]["message"] = long
    page = render_page(summary)
    assert max(len(word) for word in seen(page).text.split()) <= 1_500
    tips = [
        attributes["data-tip"] for tag, attributes in seen(page).elements if tag == "bdi" and "data-tip" in attributes
    ]
    assert tips.count("x" * 499 + "…") == 1
    assert len(page.encode()) < 200_000


def test_rows_beyond_the_room_for_tooltips_are_escaped_too(make_result, with_hostile, seen):
    page = render_page(with_hostile(make_result(1_000, 10)))
    table = re.search('<table id="candidates-table">.*?</table>', page, flags=re.DOTALL)[0]
    cut, rows = table.count("data-tip="), table.count("<tr>") - 1
    assert rows == 1_000
    assert 0 < cut < rows
    assert {tag for tag, _ in seen(table).elements} == {"table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}


def test_the_same_summary_gives_the_same_bytes(make_result, pages):
    assert render_page(make_result()) == pages["result"]
