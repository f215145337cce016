#!/bin/sh
# run.sh REPORT_DIR: tests the reports of `cargo run -p report --example fixture_report REPORT_DIR` in a browser.
# Needs Node, npm and Chromium (CHROMIUM, or /usr/bin/chromium).
set -eu
REPORT_DIR=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
npm ci --ignore-scripts --no-audit --no-fund >&2
# The browser driver needs Node 20; if the system's is older (Debian 12), npm installs a newer one.
node=node
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    package=node-linux-$(node -p process.arch)
    npm install --no-save --ignore-scripts --no-audit --no-fund "$package@20" >&2
    node=node_modules/$package/bin/node
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PICTURE_DIR=${PICTURE_DIR:-$work/pictures}
mkdir -p "$PICTURE_DIR"
export REPORT_DIR PICTURE_DIR
"$node" --test --test-reporter=spec report.test.mjs first-screen.test.mjs charts.test.mjs prediction.test.mjs markup.test.mjs
