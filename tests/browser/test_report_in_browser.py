"""Reports of real studies, opened from disk in a real browser; each visit also fails on a request or a complaint."""

from __future__ import annotations

import pytest

PAGES = ("classification", "regression", "comparison", "hostile", "hostile-comparison")
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
STOPS = "Array.from(document.querySelectorAll('a, button, summary, [tabindex]')).filter((one) => one.checkVisibility())"


def column(page, table, place):
    """The texts of one column of a table, from above."""
    return page.eval_on_selector_all(
        f"#{table} tbody tr", f"(rows) => rows.map((row) => row.cells[{place}].textContent.trim())"
    )


def heading(page, table, name):
    return page.locator(f"#{table} thead th", has=page.get_by_role("button", name=name, exact=True))


def wait_until(page, expression):
    """Wait for a condition; Playwright's own way would evaluate text in the page, which the policy forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(expression)


def numbers(texts):
    return [float(text.replace(",", "")) for text in texts]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_from_disk_and_asks_for_nothing(visit, reports, name):
    page = visit(reports[name])
    assert page.locator("h1").count() == 1
    assert page.locator("figure svg").count() >= 3
    assert page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)") == []
    assert page.evaluate("window.__pwned") is None
    assert page.locator("img, b, iframe, object, embed").count() == 0
    assert page.locator("script").count() == 1
    assert page.evaluate("document.querySelectorAll('[style], [onerror], [onclick], [onload]').length") == 0


def test_nothing_that_is_slipped_in_runs_or_loads(visit, reports, tmp_path):
    """The policy stands by itself: a page that someone wrote into still runs no script and loads no picture."""
    text = reports["regression"].read_text(encoding="utf-8")
    slipped = (
        "<img src=x onerror='window.__pwned=1'><script>window.__pwned=2</script><p id=end style='color:red'>end</p>"
    )
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("</main>", f"{slipped}</main>"), encoding="utf-8")
    page = visit(changed, refused=4)
    assert page.locator("#end").inner_text() == "end"
    assert page.evaluate("window.__pwned") is None
    assert page.evaluate("getComputedStyle(document.querySelector('#end')).color") != "rgb(255, 0, 0)"


def test_numbers_sort_as_numbers_up_and_down(visit, reports):
    page = visit(reports["regression"])
    before = numbers(column(page, "candidates-table", 1))
    assert before != sorted(before)
    heading(page, "candidates-table", "alpha").get_by_role("button").click()
    assert numbers(column(page, "candidates-table", 1)) == sorted(before)
    assert heading(page, "candidates-table", "alpha").get_attribute("aria-sort") == "ascending"
    heading(page, "candidates-table", "alpha").get_by_role("button").click()
    assert numbers(column(page, "candidates-table", 1)) == sorted(before, reverse=True)
    assert heading(page, "candidates-table", "alpha").get_attribute("aria-sort") == "descending"
    heading(page, "candidates-table", "place").get_by_role("button").click()
    assert numbers(column(page, "candidates-table", 1)) == before
    assert heading(page, "candidates-table", "alpha").get_attribute("aria-sort") is None


def test_equal_rows_keep_their_order_and_missing_values_stay_last(visit, reports):
    page = visit(reports["hostile"])
    heading(page, "candidates-table", "n_neighbors").get_by_role("button").click()
    assert column(page, "candidates-table", 3) == ["3", "5", "7", "", ""]
    heading(page, "candidates-table", "n_neighbors").get_by_role("button").click()
    assert column(page, "candidates-table", 3) == ["7", "5", "3", "", ""]
    rows = list(zip(column(page, "candidates-table", 0), numbers(column(page, "candidates-table", 6)), strict=True))
    heading(page, "candidates-table", "chosen in folds").get_by_role("button").click()
    assert column(page, "candidates-table", 0) == [place for place, _ in sorted(rows, key=lambda row: row[1])]
    assert len({count for _, count in rows}) < len(rows)


def test_words_sort_as_words_and_by_the_keyboard(visit, reports):
    page = visit(reports["comparison"])
    assert column(page, "pairs-table", 1) == ["neighbours", "tree", "tree"]
    button = heading(page, "pairs-table", "first").get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    assert column(page, "pairs-table", 0) == ["neighbours", "ridge", "ridge"]
    page.keyboard.press("Space")
    assert column(page, "pairs-table", 0) == ["ridge", "ridge", "neighbours"]
    assert column(page, "pairs-table", 1) == ["neighbours", "tree", "tree"]


def test_a_tooltip_shows_on_hover_and_on_focus_and_goes_at_escape(visit, reports):
    page = visit(reports["regression"])
    tip = page.get_by_role("tooltip")
    dot = page.locator("#folds [data-tip]").first
    assert tip.count() == 0
    dot.hover()
    assert tip.inner_text() == dot.get_attribute("data-tip")
    page.mouse.move(2, 2)
    assert tip.count() == 0
    dot.focus()
    assert tip.inner_text() == dot.get_attribute("data-tip")
    assert dot.get_attribute("aria-describedby") == page.locator(".tip").get_attribute("id")
    page.keyboard.press("Escape")
    assert tip.count() == 0
    assert dot.get_attribute("aria-describedby") is None


def test_a_tooltip_stays_in_sight(visit, reports):
    page = visit(reports["hostile"], width=390, height=844)
    for name in page.locator("#candidates bdi.cut").all()[:4]:
        name.focus()
        box = page.get_by_role("tooltip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844


def test_every_number_has_its_meaning_a_click_away(visit, reports):
    page = visit(reports["classification"])
    meaning = page.locator("#estimates details").last
    assert "plain grid search" not in meaning.inner_text()
    meaning.get_by_text("What the numbers mean").click()
    assert "plain grid search" in meaning.inner_text()
    page.get_by_text("What this number is").click()
    assert "other data of the same kind and size" in page.locator(".key-number").inner_text()


def test_dark_mode_turns_the_page_and_the_ink_of_the_figures(visit, reports):
    seen = {}
    for scheme in ("light", "dark"):
        page = visit(reports["classification"], color_scheme=scheme)
        seen[scheme] = colours(page)
        page.get_by_role("button", name="Light" if scheme == "dark" else "Dark", exact=True).click()
        seen[f"{scheme}, turned"] = colours(page)
    assert seen["dark"] == seen["light, turned"]
    assert seen["light"] == seen["dark, turned"]
    for light, dark in zip(seen["light"], seen["dark"], strict=True):
        assert light != dark
    assert brightness(seen["light"][0]) > 200 > 60 > brightness(seen["dark"][0])
    assert brightness(seen["light"][1]) < 110 < 150 < brightness(seen["dark"][1])


def colours(page):
    """The ground of the page and the ink of its first figure."""
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return ground, page.evaluate("getComputedStyle(document.querySelector('.fig text')).fill")


def brightness(colour):
    parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(parts) / 3


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_never_scrolls_sideways(visit, reports, name):
    page = visit(reports[name], width=390, height=844, has_touch=True, is_mobile=True)
    for opened in (False, True):
        if opened:
            page.evaluate(OPEN_ALL)
        wide, room = page.evaluate("[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]")
        assert wide <= room == 390


def test_a_wide_table_scrolls_in_its_own_box_by_the_keyboard(visit, reports):
    page = visit(reports["comparison"], width=390, height=844)
    box = page.get_by_role("group", name="Differences of all pairs by squared, first less second")
    assert box.evaluate("(one) => one.scrollWidth > one.clientWidth")
    box.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    wait_until(page, "document.querySelector('#pairs-table').parentElement.scrollLeft > 0")


def test_contents_are_open_beside_the_page_and_folded_on_a_phone(visit, reports):
    page = visit(reports["regression"])
    link = page.get_by_role("navigation", name="On this page").get_by_role("link", name="All candidates")
    assert link.is_visible()
    link.click()
    wait_until(page, "document.querySelector('#candidates').getBoundingClientRect().top < 100")
    wait_until(page, "document.querySelector('.contents a[aria-current]').hash === '#candidates'")
    phone = visit(reports["regression"], width=390, height=844)
    link = phone.get_by_role("navigation", name="On this page").get_by_role("link", name="All candidates")
    assert not link.is_visible()
    phone.get_by_text("On this page").click()
    assert link.is_visible()


@pytest.mark.parametrize("name", ["classification", "regression"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_key_number_stays_on_one_line(visit, reports, name, width):
    page = visit(reports[name], width=width, height=844)
    box = page.locator(".big").bounding_box()
    size = float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('.big')).fontSize)"))
    assert box["height"] < 1.6 * size
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_table_that_is_wider_than_a_phone_says_that_it_scrolls(visit, reports):
    hint = "getComputedStyle(document.querySelector('#metrics-table').parentElement, '::before').content"
    phone = visit(reports["classification"], width=390, height=844)
    wait_until(phone, "document.querySelector('#metrics-table').parentElement.hasAttribute('data-wider')")
    assert "scroll sideways" in phone.evaluate(hint)
    wide = visit(reports["classification"])
    assert wide.evaluate(hint) == "none"


def test_model_figures_come_before_the_picture_of_the_splits_and_words_last(visit, reports):
    page = visit(reports["classification"])
    keys = page.eval_on_selector_all("main > section", "(all) => all.map((one) => one.id)")
    assert keys[:3] == ["verdict", "findings", "scores"]
    assert keys.index("predictions") < keys.index("folds") < keys.index("splits") < keys.index("time")
    assert keys[-1] == "words"
    words = page.locator("#words dt").all_text_contents()
    assert {"corrected t", "heuristic", "optimistic", "tier", "cells", "no model"} & set(words) > {"heuristic", "cells"}
    assert page.locator("figcaption p").count() < page.locator("figcaption").count()


def test_the_keyboard_reaches_everything_and_is_never_caught(visit, reports):
    page = visit(reports["regression"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page = visit(reports["regression"])
    stops = page.evaluate(f"window.__stops = {STOPS}.filter((one) => one.tabIndex >= 0); window.__stops.length")
    walk = []
    for _ in range(stops + 1):
        page.keyboard.press("Tab")
        walk.append(page.evaluate("window.__stops.indexOf(document.activeElement)"))
    assert stops > 60
    assert walk[:stops] == list(range(stops))
    kinds = page.evaluate("window.__stops.map((one) => one.localName)")
    assert {"a", "button", "summary", "div", "pre"} < set(kinds)


def test_focus_is_seen(visit, reports):
    page = visit(reports["regression"])
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert float(page.evaluate("getComputedStyle(document.activeElement).outlineWidth").removesuffix("px")) >= 2


def test_on_paper_details_are_open_buttons_gone_and_the_ground_white(visit, reports):
    page = visit(reports["regression"], color_scheme="dark")
    closed = page.locator("main details:not([open])").count()
    assert closed > 5
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open])").count() == 0
    for gone in (".contents", "[data-theme-toggle]", "[data-copy]"):
        assert not page.locator(gone).first.is_visible(), gone
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
    assert page.get_by_text("What the numbers mean").is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details:not([open])").count() == closed


def test_the_call_can_be_copied(visit, reports):
    page = visit(reports["regression"], permissions=["clipboard-read", "clipboard-write"])
    program = page.locator("#record pre").first
    button = page.get_by_role("button", name="Copy").first
    button.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == program.text_content()
    assert "evaluate(learner, X, y, test=KFold(10)" in program.text_content()


def test_the_page_reads_without_scripts(visit, reports):
    page = visit(reports["regression"], java_script_enabled=False)
    assert page.locator("#candidates-table tbody tr").count() == 29
    assert page.locator("[data-theme-toggle]").is_hidden()
    assert page.locator("thead button").count() == 0
    page.get_by_text("What this number is").click()
    assert "training rows" in page.locator(".key-number").inner_text()


@pytest.mark.parametrize("name", PAGES[:4])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing(visit, reports, name, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(reports[name], width=width, color_scheme=scheme)
    page.evaluate(OPEN_ALL)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["impact"], one["nodes"][0]["html"][:200]) for one in found] == []
