#!/bin/sh
# Rebuilds DejaVuSans.ttf: Latin, Greek, and the signs that charts use, of the font that Debian ships as fonts-dejavu-core.
# Needs pyftsubset of fonttools; the Rust build does not: it takes the file as it is.
set -eu
cd "$(dirname "$0")"
from=${1:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}
letters=U+0020-007E,U+00A0-017F,U+0370-03FF
signs=U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2022,U+2026,U+2190-2193,U+2212,U+221E,U+2248,U+2264,U+2265
pyftsubset "$from" --unicodes="$letters,$signs" --layout-features=kern --no-hinting --output-file=DejaVuSans.ttf
ls -l DejaVuSans.ttf >&2
