#!/bin/sh
# Opens generated reports in a real browser. Needs Node, npm and Chromium (CHROMIUM, or /usr/bin/chromium).
# With REPORT_DIR set, tests the reports that are there instead of making some.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
npm ci --ignore-scripts --no-audit --no-fund >&2
# The browser's driver wants Node 20; where the system's is older (Debian 12), a newer one comes from npm.
node=node
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    package=node-linux-$(node -p process.arch)
    npm install --no-save --ignore-scripts --no-audit --no-fund "$package@20" >&2
    node=node_modules/$package/bin/node
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${REPORT_DIR:-}" ]; then
    REPORT_DIR=$work/reports
    (cd ../.. && cargo run --quiet -p report --example fixture_report -- "$REPORT_DIR")
fi
PICTURE_DIR=${PICTURE_DIR:-$work/pictures}
mkdir -p "$PICTURE_DIR"
export REPORT_DIR PICTURE_DIR
"$node" --test --test-reporter=spec report.test.mjs charts.test.mjs prediction.test.mjs
