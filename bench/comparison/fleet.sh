#!/usr/bin/env bash
# Four hosts by fio and by fourcorners: the same work, on the disk as it is and limited to 20,000 reads/s by a
# control group of version 1; then one host killed and one frozen:
# `fleet.sh FOURCORNERS FOLDER [SECONDS]`. The hosts are network namespaces on one bridge that share FOLDER.
# Needs root, fio, ip and python3 in PATH. Works only below FOLDER, which must not exist, and ends only the
# processes in its own namespaces.
set -euo pipefail
fourcorners=$(realpath "$1")
folder=$2
seconds=${3:-10}
mkdir "$folder"
cd "$folder"
folder=$PWD
mkdir data ours

prefix=fleet$$
hosts=(1 2 3 4)
name() { echo "$prefix-h$1"; }
in_host() { ip netns exec "$(name "$1")" "${@:2}"; }
# Signal NAME to all processes of host N.
signal() { ip netns pids "$(name "$2")" | xargs -r kill -s "$1" 2> /dev/null || true; }
cleanup() {
  for h in "${hosts[@]}"; do
    signal KILL "$h" || true
    ip netns del "$(name "$h")" 2> /dev/null || true
  done
  ip netns del "$prefix-hub" 2> /dev/null || true
  if [ -d "$group" ]; then
    echo $$ > "${group%/*}/cgroup.procs"
    wait
    rmdir "$group"
  fi
}
trap cleanup EXIT

group=/sys/fs/cgroup/blkio/$prefix
# Limits this shell, and what it starts, to 20,000 reads/s of the disk of FOLDER.
limit_reads() {
  local disk
  disk=$(realpath "/sys/dev/block/$(stat -c %Hd:%Ld .)")
  if [ -e "$disk/partition" ]; then disk=${disk%/*}; fi
  mkdir "$group"
  echo "$(cat "$disk/dev") 20000" > "$group/blkio.throttle.read_iops_device"
  echo $$ > "$group/cgroup.procs"
}

hub=$prefix-hub
ip netns add "$hub"
ip -n "$hub" link set lo up
ip -n "$hub" link add bridge0 type bridge
ip -n "$hub" address add 10.216.0.254/24 dev bridge0
ip -n "$hub" link set bridge0 up
for h in "${hosts[@]}"; do
  ip netns add "$(name "$h")"
  ip -n "$(name "$h")" link set lo up
  ip link add e0 netns "$(name "$h")" type veth peer name "p$h" netns "$hub"
  ip -n "$hub" link set "p$h" master bridge0 up
  ip -n "$(name "$h")" address add "10.216.0.$h/24" dev e0
  ip -n "$(name "$h")" link set e0 up
done

servers() {
  for h in "${hosts[@]}"; do
    in_host "$h" fio --server="10.216.0.$h" > "server-$h.log" 2>&1 &
  done
  for h in "${hosts[@]}"; do
    until in_host "$h" bash -c "exec 3<> /dev/tcp/10.216.0.$h/8765" 2> /dev/null; do sleep 0.1; done
  done
}
end_servers() {
  for h in "${hosts[@]}"; do signal KILL "$h"; done
  wait
}

cat > job.fio << FIO
[reads]
filename=$folder/data/file
size=1g
rw=randread
bs=8k
direct=1
ioengine=libaio
iodepth=4
ramp_time=2
runtime=$seconds
time_based
FIO
cat > reads.toml << T
name = "reads"
[run]
warm_up = "2s"
measure = "${seconds}s"
[stream.reads]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 1
file_size = "1GiB"
queue_depth = 4
T
fio --name=fill --filename=data/file --size=1g --rw=write --bs=1m --direct=1 --end_fsync=1 > /dev/null

clients=()
names=()
for h in "${hosts[@]}"; do
  clients+=(--client="10.216.0.$h" job.fio)
  names+=("$(name "$h")")
done
fio_run() { ip netns exec "$hub" fio "$@" "${clients[@]}"; }
# Sets `command`.
ours_command() {
  command=("$fourcorners" run ours --not-a-mount -w reads.toml --hosts 'exec:ip netns exec {host}'
    --hosts "$(IFS=,; echo "${names[*]}")" --agent "$fourcorners" --store "$folder/store" --no-progress "$@")
}
ours() {
  ours_command "$@"
  "${command[@]}"
}

rounds() {
  echo "== throughput of four hosts, 8 KiB random reads, queue depth 4 on each, in turns: $1"
  servers
  for round in 1 2 3; do
    fio_run --output-format=json > fio.json 2> fio.err
    ours --no-report --json > ours.json 2> ours.err || true
    python3 - "$round" << 'PY'
import json, sys
text = open("fio.json").read()
clients = json.loads(text[text.index("{"):])["client_stats"]
fio = next(one["read"]["iops"] for one in clients if one["jobname"] == "All clients")
point = json.load(open("ours.json"))["load_points"][0]
ours = point["merged"]["total"]["data"]["achieved_rate_ops_per_sec"]["value"]
print(f"round {sys.argv[1]}: fio {fio:.0f} IOPS, fourcorners {ours:.0f} IOPS, {100 * (ours / fio - 1):+.1f} %")
PY
  done
  end_servers
}
ours --no-report --measure 1s > /dev/null 2>&1 || true # fills the file
rounds "the disk as it is"

# What a command prints when SIGNAL reaches host 3 after 5 s.
fault() {
  local tool=$1 signal=$2 begun code=0
  shift 2
  echo "-- $tool"
  begun=$(date +%s.%N)
  (sleep 5; signal "$signal" 3) &
  timeout 120 "$@" > out.txt 2>&1 || code=$?
  wait $!
  printf 'exit code %s after %.0f s; lines that name the host:\n' "$code" "$(echo "$(date +%s.%N) - $begun" | bc)"
  tr '\r' '\n' < out.txt | grep -n "10\.216\.0\.3\|$(name 3)" | uniq | head -n 12 || true
  echo "the last lines:"
  tr '\r' '\n' < out.txt | grep -v '^ *$\|^Jobs:\|SEND_ETA$' | tail -n "$lines"
}
for signal in KILL STOP; do
  echo "== host 3 gets SIG$signal after 5 s"
  servers
  lines=17 fault fio "$signal" ip netns exec "$hub" fio "${clients[@]}"
  end_servers
  ours_command --on-lost continue --no-report
  lines=30 fault fourcorners "$signal" "${command[@]}"
done

limit_reads
rounds "20,000 reads/s"
