#!/usr/bin/env python3
"""Rebuilds outlines.txt: the outlines of Latin, Greek and the signs that charts use, from DejaVu Sans
as Debian ships it (fonts-dejavu-core). Needs fonttools; cargo uses the file as it is.

Each line: code point (hexadecimal), advance in font units (2048 per em), outline as SVG path data
with y upwards. FFFD is the outline for all other characters.

Usage: build.py [DejaVuSans.ttf]
"""
import pathlib
import sys

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont

LETTERS = [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x370, 0x400)]
SIGNS = [0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, *range(0x2190, 0x2194),
         0x2212, 0x221E, 0x2248, 0x2264, 0x2265]

default = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
font = TTFont(sys.argv[1] if len(sys.argv) > 1 else default)
glyphs, names = font.getGlyphSet(), font.getBestCmap()
lines = []
for code in [*LETTERS, *SIGNS, 0xFFFD]:
    name = ".notdef" if code == 0xFFFD else names.get(code)
    if name is None:
        continue
    pen = SVGPathPen(glyphs, ntos=lambda number: str(round(number)))
    glyphs[name].draw(pen)
    lines.append(f"{code:X} {glyphs[name].width} {pen.getCommands()}".rstrip())
(pathlib.Path(__file__).parent / "outlines.txt").write_text("\n".join(lines) + "\n")
