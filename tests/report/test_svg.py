"""Drawings for a page: well-formed, safe, small, the same every time, and readable without eyes."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest

from heldout.base.errors import OptionError
from heldout.report.figures.describe import Description
from heldout.report.figures.palette import DARK, NAMES, PALETTE_CSS
from heldout.report.svg import draw_all, page_svg

FIGURE_DATA = Path(__file__).parent / "figures" / "figure_data.py"
DATA = runpy.run_path(str(FIGURE_DATA))
EXAMPLES, naughty = DATA["EXAMPLES"], DATA["naughty"]
every = pytest.mark.parametrize("name", EXAMPLES)

TAGS = {"svg", "title", "desc", "g", "defs", "path", "use", "text"}
PLACES = {"viewBox", "id", "d", "href", "x", "y", "transform", "text-anchor"}
LOOKS = {"class", "fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "font-size", "font-weight"}
LINES = {"stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"}
WORDS = {"role", "aria-labelledby", "aria-label", "data-tip", "tabindex"}


def drawings(name, figure=None, prefix="f-"):
    return draw_all(name, EXAMPLES[name]() if figure is None else figure, prefix=prefix)


def elements(drawn):
    return list(ElementTree.fromstring(drawn.svg).iter())


@every
@pytest.mark.parametrize("hostile", [False, True])
def test_nothing_but_shapes_and_text_is_in_a_drawing(name, hostile):
    figure = naughty(EXAMPLES[name]()) if hostile else EXAMPLES[name]()
    for drawn in drawings(name, figure):
        found = elements(drawn)
        assert {element.tag for element in found} <= TAGS
        assert {attribute for element in found for attribute in element.attrib} <= PLACES | LOOKS | LINES | WORDS
        assert not [key for element in found for key in element.attrib if key.startswith("on") or key == "style"]
        assert all(element.get("href", "#").startswith("#") for element in found)
        assert "<script" not in drawn.svg
        assert "<img" not in drawn.svg


def test_hostile_names_are_shown_as_text():
    (drawn, _) = drawings("stability", naughty(EXAMPLES["stability"]()))
    words = "".join(element.text or "" for element in elements(drawn))
    assert "</script><img src=x" in words
    assert "&lt;/script&gt;&lt;img src=x" in drawn.svg
    tip = next(element.get("data-tip") for element in elements(drawn) if element.get("data-tip"))
    assert tip.startswith("</script><img")


@every
def test_ids_are_their_own_in_a_page_and_every_reference_has_its_mark(name):
    together = [*drawings(name, prefix="a-"), *drawings(name, prefix="b-")]
    found = [element for drawn in together for element in elements(drawn)]
    ids = [element.get("id") for element in found if element.get("id")]
    assert len(ids) == len(set(ids))
    wanted = {element.get("href").removeprefix("#") for element in found if element.get("href")}
    wanted |= {one for element in found for one in element.get("aria-labelledby", "").split()}
    assert wanted <= set(ids)
    assert {one[:2] for one in ids} == {"a-", "b-"}


@every
def test_the_same_values_give_the_same_bytes_whatever_the_user_has_set(name):
    import matplotlib

    first = drawings(name)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9, "text.color": "red"}):
        assert drawings(name) == first
        assert matplotlib.rcParams["font.size"] == 30


def test_drawings_made_at_once_are_those_made_one_by_one():
    import matplotlib

    def settings():
        return [(name, matplotlib.rcParams[name]) for name in matplotlib.rcParams if name != "backend"]

    before = settings()
    alone = {name: drawings(name) for name in ("folds", "estimates", "confusion")}
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(drawings, [*alone] * 3)) == [*alone.values()] * 3
    assert settings() == before


def test_pyplot_holds_what_the_user_draws_and_nothing_else():
    program = f"""
import runpy, sys
from heldout.report.figures.folds import FOLDS
from heldout.report.svg import draw_all, page_svg
folds = runpy.run_path({str(FIGURE_DATA)!r})["folds"]()
draw_all("folds", folds, prefix="a-")
held = ["matplotlib.pyplot" in sys.modules]
import matplotlib
matplotlib.use("agg")
from matplotlib import pyplot
draw_all("folds", folds, prefix="a-")
held.append(pyplot.get_fignums())
ax = FOLDS.plot(folds)
print(held + [pyplot.get_fignums()], ax is pyplot.gca())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[False, [], [1]] True"


@every
def test_colours_are_classes_that_the_page_can_turn(name):
    classes = set()
    for drawn in drawings(name):
        for element in elements(drawn):
            assert element.get("fill", "none") == "none"
            assert element.get("stroke", "none") == "none"
            classes |= set(element.get("class", "").split()) - {"fig"}
    assert {"f-ink", "f-soft"} & classes
    assert all(f".{one}{{" in PALETTE_CSS for one in classes)


@pytest.mark.parametrize(
    "style",
    [
        "font: 700 9.5px 'DejaVu Sans', sans-serif; text-anchor: end",
        "font-weight: 700; font-size: 9.5px; font-family: 'DejaVu Sans'; text-anchor: end",
    ],
)
def test_text_of_any_matplotlib_keeps_its_size_and_takes_the_font_of_the_page(style):
    told = Description(title="t", alt="a", head=(), rows=())
    text = f'<text style="{style}; fill: #57606a" x="1.234" y="2" transform="rotate(-0 1.234 2)">w</text>'
    raw = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{text}</svg>'
    found = ElementTree.fromstring(page_svg(raw, told, prefix="x-")).find("g/text")
    looks = {"font-size": "9.5", "font-weight": "700", "text-anchor": "end", "class": "f-soft"}
    assert found.attrib == {**looks, "x": "1.23", "y": "2"}


def test_a_colour_of_somebody_else_stays_as_it_is():
    told = Description(title="t", alt="a", head=(), rows=())
    path = '<path d="M 0 0 L 1 1" style="stroke: #123456"/>'
    raw = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{path}</svg>'
    assert 'stroke="#123456"' in page_svg(raw, told, prefix="x-")


def contrast(first, second):
    def light(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [{name: colour for colour, name in NAMES.items()}, DARK], ids=["light", "dark"])
def test_words_and_marks_stand_out_from_the_paper(colours):
    assert set(colours) == set(NAMES.values())
    for name in ("ink", "soft"):
        assert contrast(colours[name], colours["paper"]) >= 4.5
    for name in ("blue", "vermilion", "green"):
        assert contrast(colours[name], colours["paper"]) >= 3


def test_the_style_has_light_and_dark_by_wish_and_by_system():
    assert "@media (prefers-color-scheme: dark)" in PALETTE_CSS
    for theme, ink in (("light", "#1F2328"), ("dark", DARK["ink"])):
        assert re.search(rf'\[data-theme="{theme}"\]\{{[^}}]*--fig-ink:{ink};', PALETTE_CSS)


@every
def test_a_screen_reader_finds_the_title_the_words_and_the_numbers(name):
    for drawn in drawings(name):
        svg = ElementTree.fromstring(drawn.svg)
        title, words = (svg.find(tag) for tag in ("title", "desc"))
        assert (title.text, words.text) == (drawn.title, drawn.alt)
        assert svg.get("aria-labelledby") == f"{title.get('id')} {words.get('id')}"
        assert "width" not in svg.attrib
        assert re.fullmatch(r"0 0 374\.4 [\d.]+", svg.get("viewBox"))
        tips = [element for element in svg.iter() if element.get("data-tip")]
        assert svg.get("role") == ("group" if tips else "img")
        for one in tips:
            assert (one.get("tabindex"), one.get("role")) == ("0", "img")
            assert one.get("aria-label") == one.get("data-tip")


def test_marks_have_the_words_of_their_own_values():
    figure = EXAMPLES["folds"]()
    (drawn,) = drawings("folds", figure)
    marks = [element for element in elements(drawn) if element.get("data-tip")]
    assert len(marks) == 10
    assert [mark.get("data-tip").split(":")[0] for mark in marks] == [f"fold {place}" for place in range(10)]
    across = [float(mark.get("x")) for mark in marks]
    assert across == sorted(across)
    highest = min(range(10), key=lambda place: float(marks[place].get("y")))  # y goes down
    values = [point["value"] for point in figure["points"]]
    assert highest == values.index(max(values))


def test_many_marks_have_no_words_and_are_one_path():
    (drawn,) = drawings("residuals", DATA["residuals"](2_000))
    found = elements(drawn)
    assert not [element for element in found if element.get("data-tip")]
    (dots,) = [element for element in found if element.get("d", "").count("h0") > 1]
    assert dots.get("d").count("h0") == 2_000
    assert dots.get("class") == "s-blue"
    assert dots.get("stroke-linecap") == "round"
    assert float(dots.get("stroke-width")) == pytest.approx(2.65, abs=0.02)  # s=7 is an area


@pytest.mark.parametrize(
    ("name", "make", "most"),
    [
        ("folds", lambda: DATA["folds"](10), 6_000),
        ("residuals", lambda: DATA["residuals"](2_000), 120_000),
        ("folds", lambda: DATA["folds"](20_000), 60_000),
        ("confusion", lambda: DATA["confusion"](12), 40_000),
        ("comparison", lambda: DATA["comparison"](10, 100), 60_000),
    ],
)
def test_drawings_are_small(name, make, most):
    assert all(len(drawn.svg.encode()) < most for drawn in drawings(name, make()))


def test_splits_at_their_worst_are_small():
    lanes, stretches = 40, 240
    held = [[(7 * lane + 13 * at * at + at) % 6 for at in range(stretches)] for lane in range(lanes)]
    unused = [[(5 * lane + 11 * at * at + 3 * at) % 5 for at in range(stretches)] for lane in range(lanes)]
    train = [[12 - held[lane][at] - unused[lane][at] for at in range(stretches)] for lane in range(lanes)]
    figure = {**DATA["splits"](lanes, stretches, 12 * stretches), "held": held, "unused": unused, "train": train}
    (drawn,) = drawings("splits", figure)
    assert len(drawn.svg.encode()) < 250_000


@every
def test_hostile_names_make_a_drawing_little_larger(name):
    plain = sum(len(drawn.svg.encode()) for drawn in drawings(name))
    hostile = sum(len(drawn.svg.encode()) for drawn in drawings(name, naughty(EXAMPLES[name]())))
    assert hostile < 2.5 * plain + 2_000


def test_letters_that_matplotlib_lacks_are_left_to_the_page():
    figure = EXAMPLES["stability"]()
    figure["choices"][0]["words"] = "森林 𝒳 🌲"
    drawn = drawings("stability", figure)[0]
    assert "森林 𝒳 🌲" in [element.text for element in elements(drawn)]


def test_no_data_is_no_drawing_and_an_unknown_name_is_refused():
    assert draw_all("folds", {"none": "withheld"}, prefix="a-") == []
    assert draw_all("time", {**EXAMPLES["time"](), "bars": []}, prefix="a-") == []
    with pytest.raises(OptionError, match=r"There is no figure 'fold'. Did you mean 'folds'\?"):
        draw_all("fold", {}, prefix="a-")


def test_one_entry_may_be_several_drawings():
    assert [drawn.name for drawn in drawings("comparison")] == ["comparison"]
    assert [drawn.name for drawn in drawings("parameters")] == ["parameters"] * 3
    (ranking,) = draw_all("ranking", EXAMPLES["comparison"](), prefix="a-")
    assert ranking.name == "ranking"
    assert len(drawings("calibration", DATA["calibration"](3))) == 3


def test_marks_and_words_that_do_not_agree_are_refused():
    raw = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g id="points">'
        '<path d="M 0 0 L 1 1" style="stroke: #0072b2"/><path d="M 0 0 L 2 2" style="stroke: #0072b2"/></g></svg>'
    )
    for tips, error in ((("one",), "more marks than words"), (("one", "two", "three"), "fewer marks than words")):
        told = Description(title="t", alt="a", head=(), rows=(), tips=tips)
        with pytest.raises(ValueError, match=error):
            page_svg(raw, told, prefix="x-")
