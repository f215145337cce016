#!/usr/bin/env bash
# What three tools report about a cache, a file without data, and a stall of one second:
# `mistakes.sh FOURCORNERS FOLDER`. Needs fio and elbencho in PATH, and root for a file system that can be
# frozen. Works only below FOLDER, which must not exist.
set -euo pipefail
fourcorners=$1
folder=$2
mkdir "$folder"
cd "$folder"
mkdir data mounted
trap 'mountpoint -q mounted && umount mounted' EXIT

fio_line() {
  python3 - "$1" "$2" << 'PY'
import json, sys
job = json.load(open(sys.argv[1]))["jobs"][0][sys.argv[2]]
latency = job["clat_ns"]
print("fio", round(job["iops"]), "IOPS, mean", latency["mean"] / 1e3, "us, p99", latency["percentile"]["99.000000"] / 1e3, "us")
PY
}
random() { fio --name=x --filename="$1" --size=1g --rw=randread --bs=8k --runtime=4 --time_based "${@:2}" --output-format=json > fio.json; fio_line fio.json read; }
elbencho_random() { elbencho -r -b 8k --rand --randamount 100g -t 1 -s 1g --timelimit 4 "${@:2}" "$1" | grep IOPS; }
ours() { "$fourcorners" run "$1" "${@:2}" --store "$folder/store" --no-progress 2>&1 | tail -30 || true; }

echo "== a file that was just written, no option about caches"
fio --name=a --filename=data/f --size=1g --rw=write --bs=1m --end_fsync=1 > /dev/null
random data/f
elbencho_random data/f
echo "== the same, direct"
random data/f --direct=1

echo "== a file without data, direct"
truncate -s 1g data/sparse
random data/sparse --direct=1
elbencho_random data/sparse --direct
rm data/*
ours data --quick --set queue_depth=1 > /dev/null
ours_file=$(find data -name '*.data' | head -1)
size=$(stat -c %s "$ours_file")
truncate -s 0 "$ours_file"
truncate -s "$size" "$ours_file"
ours data --quick --set queue_depth=1

echo "== 500 writes per second for 10 s, a stall of 1 s after 5 s"
truncate -s 2g image
mkfs.ext4 -q -F image
mount -o loop image mounted
fio --name=a --filename=mounted/f --size=256m --rw=write --bs=1m --direct=1 --end_fsync=1 > /dev/null
stall() { sleep "$1"; fsfreeze -f mounted; sleep 1; fsfreeze -u mounted; }
stall 5 &
fio --name=x --filename=mounted/f --size=256m --rw=randwrite --bs=8k --direct=1 --rate_iops=500 --runtime=10 \
  --time_based --output-format=json > fio.json
wait
fio_line fio.json write
stall 5 &
elbencho -w -b 8k --rand --randamount 100g -t 1 -s 256m --direct --limitwrite 4000k --timelimit 10 --lat \
  --latpercent --latpercent9s 1 mounted/f | grep -iE 'IOPS|lat'
wait
cat > stall.toml << 'T'
name = "stall"
[run]
warm_up = "0s"
measure = "10s"
[stream.writer]
read = "0%"
transfer_size = "8KiB"
pattern = "random"
queue_depth = 1
files = 1
file_size = "256MiB"
arrival = { constant = "500/s" }
T
mkdir mounted/ours
# The first run fills the file.
ours mounted/ours -w stall.toml > /dev/null
stall 6 &
ours mounted/ours -w stall.toml
wait
