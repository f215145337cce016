#!/bin/sh
# Opens generated reports in a real browser. Needs Node 20, npm and Chromium (CHROMIUM, or /usr/bin/chromium).
# With REPORT_DIR set, tests the reports that are there instead of making some.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
npm ci --ignore-scripts --no-audit --no-fund >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${REPORT_DIR:-}" ]; then
    REPORT_DIR=$work/reports
    (cd ../.. && cargo run --quiet -p report --example fixture_report -- "$REPORT_DIR")
fi
PICTURE_DIR=${PICTURE_DIR:-$work/pictures}
mkdir -p "$PICTURE_DIR"
export REPORT_DIR PICTURE_DIR
node --test --test-reporter=spec report.test.mjs
