#!/bin/sh
# Timelines of schedules, of simulations and of real runs, read by a program that shares nothing with the writer.
# usage: traces.sh CHASQUI WORK-FOLDER. Exit status 77: skipped.
set -eu
chasqui=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || { echo "skipped: no node (apt install nodejs)"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
check() {
  "$chasqui" draw "$1.json" --format trace --out "$1.trace.json"
  node "$here/trace_events.mjs" "$1.trace.json" "$2"
}
"$chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 --out broadcast.json >log
"$chasqui" plan allgather -P 6 -L 3 --out allgather.json >>log
"$chasqui" plan sum -P 8 -L 5 -o 2 -g 4 --operands 90 --out sum.json >>log
"$chasqui" plan stream -P 10 -L 3 --out stream.json >>log
check broadcast 7
check allgather 30
check sum 7
check stream 9
for policy in uniform:1:3 two-level:2:1:3; do
  for mode in timed event; do
    "$chasqui" simulate allgather.json --latency $policy --mode $mode --seed 5 --trace direct.json --out played.json >>log
    check played 30
    cmp direct.json played.trace.json
  done
done
"$chasqui" simulate broadcast.json --latency uniform:0:6 --straggler 1:9:4:6 --out late.json >>log
check late 7
for collective in broadcast reduce allreduce allgather gather scatter scan barrier; do
  "$chasqui" record $collective --threads 4 --repeat 3 --out run.json >>log
  check run 3
done
# A file that lies is noticed.
sed 's/"ph": "f"/"ph": "s"/' broadcast.trace.json >bad.json
if node "$here/trace_events.mjs" bad.json 7 2>>log; then echo "a broken file was accepted"; exit 1; fi
