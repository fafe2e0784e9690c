"""The colours of all figures, and the style that lets a page turn them for light and dark."""

from __future__ import annotations

# Told apart by people who see few colours, and in grey (after Okabe and Ito).
INK = "#1F2328"
SOFT = "#57606A"
GRID = "#E3E6EA"
PAPER = "#FFFFFF"
GREY = "#DDDDDD"
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"

NAMES = {
    INK: "ink",
    SOFT: "soft",
    GRID: "grid",
    PAPER: "paper",
    GREY: "grey",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    VERMILION: "vermilion",
    PURPLE: "purple",
    SKY: "sky",
}
SEVERAL = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)  # where lines stand for different things

DARK = {
    "ink": "#E6EAEE",
    "soft": "#A8B1BB",
    "grid": "#333A42",
    "paper": "#14181D",
    "grey": "#444C55",
    "blue": "#5AB0E8",
    "orange": "#F2B544",
    "green": "#3CC79C",
    "vermilion": "#FF8A4C",
    "purple": "#E3A0C5",
    "sky": "#8CCBF2",
}


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--fig-{name}:{colour};" for name, colour in colours.items())


def _css() -> str:
    light = _variables({name: colour for colour, name in NAMES.items()})
    dark = _variables(DARK)
    turned = "".join(
        f".fig .f-{name}{{fill:var(--fig-{name})}}.fig .s-{name}{{stroke:var(--fig-{name})}}" for name in NAMES.values()
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
        f':root[data-theme="light"]{{{light}}}\n'
        f':root[data-theme="dark"]{{{dark}}}\n'
        f"@media print{{:root:root{{{light}}}}}\n"
        ".fig{display:block;width:100%;height:auto;font-family:inherit;overflow:visible}\n"
        f"{turned}\n"
        ".fig [data-tip]{cursor:help}\n"
        ".fig [data-tip]:focus-visible{outline:2px solid var(--fig-ink);outline-offset:1px}\n"
    )


PALETTE_CSS = _css()
