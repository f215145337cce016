#!/bin/sh
# Rebuilds echarts.min.js from the versions that package-lock.json pins. Needs Node and npm; the Rust build does not:
# it takes the file as it is, and a test compares it with echarts.min.js.sha256.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
(
    cd "$work"
    npm ci --ignore-scripts --no-audit --no-fund >&2
    node node_modules/esbuild/install.js
    # legal-comments=eof keeps the licence notes of what is bundled, at the file's end.
    node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --global-name=echarts \
        --target=es2020 --legal-comments=eof --charset=utf8 --define:process.env.NODE_ENV='"production"' \
        --outfile=echarts.min.js
)
cp "$work/echarts.min.js" echarts.min.js
cp "$work/node_modules/echarts/LICENSE" LICENSE
cp "$work/node_modules/echarts/NOTICE" NOTICE
cp "$work/node_modules/zrender/LICENSE" LICENSE.zrender
sha256sum echarts.min.js > echarts.min.js.sha256
ls -l echarts.min.js >&2
