#!/usr/bin/env bash
# The four corners of a directory with a picture, by four tools: `time.sh FOURCORNERS FOLDER [SECONDS]`.
# Prints the seconds of each tool and the files it leaves. Needs bench-fio and fio-plot (PyPI), elbencho with
# elbencho-chart, fio, gnuplot and python3 in PATH. Works only below FOLDER, which must not exist.
set -euo pipefail
fourcorners=$1
folder=$2
seconds=${3:-5}
mkdir "$folder"
cd "$folder"
data=$folder/data
mkdir data

tool=
begin() { tool=$1; rm -rf "${data:?}"/*; mkdir "$tool"; sync; begun=$(date +%s.%N); }
end() {
  took=$(echo "$(date +%s.%N) - $begun" | bc)
  printf '%-12s %6.1f s %4d files\n' "$tool" "$took" "$(find "$tool" -type f | wc -l)"
}

begin fio-plot
mkdir "$data/fio"
common=(--target "$data/fio" --type directory --size 1G --iodepth 1 4 16 --numjobs 1 --runtime "$seconds"
  --destructive --quiet --engine libaio)
bench-fio "${common[@]}" --mode randread randwrite --block-size 8k --output "$tool/random" > "$tool/log1" 2>&1
bench-fio "${common[@]}" --mode read write --block-size 64k --output "$tool/sequential" > "$tool/log2" 2>&1
plot() {
  (cd "$tool" && fio-plot -i "$1/fio/$2" -T "$2 $3" -l --iodepth 1 4 16 --numjobs 1 -r "$3" \
    --output-filename "$3.png" > /dev/null)
}
plot random 8k randread
plot random 8k randwrite
plot sequential 64k read
plot sequential 64k write
end

begin elbencho
elbencho -w -b 1M -t 1 --iodepth 16 --direct -s 1g "$data/f" --resfile "$tool/fill.txt" > "$tool/log" 2>&1
for way in r w; do
  for block in 8k 64k; do
    case $block in 8k) order=(--rand --randamount 100g) ;; *) order=(--infloop) ;; esac
    for depth in 1 4 16; do
      elbencho -$way -b $block "${order[@]}" -t 1 --iodepth $depth --direct -s 1g --timelimit "$seconds" \
        --lat --latpercent --csvfile "$tool/$way-$block.csv" --resfile "$tool/result.txt" "$data/f" >> "$tool/log" 2>&1
    done
    case $way in r) kind=READ ;; *) kind=WRITE ;; esac
    (cd "$tool" && elbencho-chart -x "IO depth" -y "IOPS [last]:$kind" --imgfile "$way-$block.svg" \
      "$way-$block.csv" > /dev/null 2>&1)
  done
done
end

begin shell-loop
fio --name=fill --filename="$data/f" --size=1g --rw=write --bs=1m --direct=1 --ioengine=libaio --iodepth=16 > "$tool/fill.txt"
echo workload,depth,iops,mean_us,p99_us > "$tool/results.csv"
for way in randread randwrite read write; do
  case $way in rand*) block=8k ;; *) block=64k ;; esac
  for depth in 1 4 16; do
    fio --name=x --filename="$data/f" --size=1g --rw=$way --bs=$block --direct=1 --ioengine=libaio --iodepth=$depth \
      --time_based --runtime="$seconds" --output-format=json > "$tool/$way-$depth.json"
    python3 - $way $depth "$tool/$way-$depth.json" >> "$tool/results.csv" << 'PY'
import json, sys
way, depth, path = sys.argv[1:]
job = json.load(open(path))["jobs"][0]["read" if "read" in way else "write"]
latency = job["clat_ns"]
print(way, depth, round(job["iops"]), latency["mean"] / 1e3, latency["percentile"]["99.000000"] / 1e3, sep=",")
PY
  done
done
gnuplot -e "set terminal png size 900,600; set output '$tool/plot.png'; set datafile separator ','; \
set xlabel 'queue depth'; set ylabel 'IOPS'; plot for [w in 'randread randwrite read write'] \
'< grep ^'.w.', $tool/results.csv' using 2:3 with linespoints title w"
end

begin fourcorners
"$fourcorners" run "$data" --set queue_depth=1,4,16 --measure "${seconds}s" --repeats 1 --store "$folder/$tool" \
  --no-progress > "$tool.txt" 2>&1
end
