"""Colours of the figures, distinguishable with colour blindness and in greyscale (Okabe and Ito)."""

from __future__ import annotations

_COLOURS = {  # by name: in light mode, in dark mode
    "ink": ("#1F2328", "#E6EAEE"),
    "soft": ("#57606A", "#A8B1BB"),
    "grid": ("#E3E6EA", "#333A42"),
    "paper": ("#FFFFFF", "#14181D"),
    "grey": ("#DDDDDD", "#444C55"),
    "blue": ("#0072B2", "#5AB0E8"),
    "orange": ("#E69F00", "#F2B544"),
    "green": ("#009E73", "#3CC79C"),
    "vermilion": ("#D55E00", "#FF8A4C"),
    "purple": ("#CC79A7", "#E3A0C5"),
    "sky": ("#56B4E9", "#8CCBF2"),
}
NAMES = {light: name for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
INK, SOFT, GRID, PAPER, GREY, BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = NAMES
SEVERAL = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)  # for several lines in one figure


def _css() -> str:
    light, dark = ("".join(f"--fig-{name}:{pair[side]};" for name, pair in _COLOURS.items()) for side in (0, 1))
    classes = "".join(
        f".fig .f-{name}{{fill:var(--fig-{name})}}.fig .s-{name}{{stroke:var(--fig-{name})}}" for name in _COLOURS
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
        f':root[data-theme="light"]{{{light}}}\n'
        f':root[data-theme="dark"]{{{dark}}}\n'
        f"@media print{{:root:root{{{light}}}}}\n"
        ".fig{display:block;width:100%;height:auto;font-family:inherit;overflow:visible}\n"
        f"{classes}\n"
        ".fig [data-tip]{cursor:help}\n"
        ".fig [data-tip]:focus-visible{outline:2px solid var(--fig-ink);outline-offset:1px}\n"
    )


PALETTE_CSS = _css()
