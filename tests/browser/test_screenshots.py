"""The pictures in docs/report.md: made here with HELDOUT_SCREENSHOTS=1, otherwise made again and held against them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
MAKING = os.environ.get("HELDOUT_SCREENSHOTS") == "1"
LARGEST = 250_000  # bytes
PICTURES = {
    "report-classification": ("classification", 1280, 1900, "light"),
    "report-regression": ("regression", 1280, 1900, "light"),
    "report-comparison": ("comparison", 1280, 1900, "light"),
    "report-dark": ("classification", 1280, 900, "dark"),
    "report-phone": ("regression", 390, 844, "light"),
}


def thumbnail(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L").resize((24, 24), Image.Resampling.BOX), dtype=float)


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_in_the_docs_are_those_of_the_page(visit, reports, tmp_path, name):
    report, width, height, scheme = PICTURES[name]
    page = visit(reports[report], width=width, height=height, color_scheme=scheme)
    kept = DOCS / f"{name}.png"
    made = kept if MAKING else tmp_path / f"{name}.png"
    page.screenshot(path=made)
    with Image.open(made) as picture:  # 256 colours are enough, and a quarter of the bytes
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(made, optimize=True)
    with Image.open(made) as picture:
        assert picture.size == (width, height)
        assert len(picture.convert("RGB").getcolors(maxcolors=width * height)) > 100
    assert thumbnail(made).std() > 5
    assert kept.stat().st_size < LARGEST
    with Image.open(kept) as picture:
        assert picture.size == (width, height)
    # Fonts and the numbers of seconds differ from machine to machine; the lay of the page does not.
    assert np.abs(thumbnail(made) - thumbnail(kept)).mean() < 12
