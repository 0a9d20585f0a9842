#!/bin/sh
# What the drop-in library's verdicts cost against always taking the better side:
#   bench/node/regret.sh LIBRARY REGRET ROUNDS LAUNCHES mpirun words…
# LIBRARY: libchasqui-mpi.so of bench/node/build.sh; REGRET: bench/node/regret.cpp, compiled by mpicxx -std=c++20 -O2. The launcher is that of any MPI library.
# Launches it as delivered and with CHASQUI_TRIALS=0 (always Chasqui) by turns, and compares medians of all rounds. CALLS: of a round, not 1000.
# Launches of one and the same side differ too, by where memory lies: a regret is certain where the fastest launch as delivered is above
# the slowest one of the better side.
set -eu
library=$1 program=$2 rounds=$3 launches=$4 calls=${CALLS:-1000}
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
while [ "$launches" -gt 0 ]; do
  "$@" env LD_PRELOAD="$library" "$program" "$rounds" "$calls" 1 | sed "s/;through;/;delivered;/;s/$/;$launches/" >>"$folder/rounds"
  "$@" env LD_PRELOAD="$library" CHASQUI_TRIALS=0 "$program" "$rounds" "$calls" 0 | sed "s/;through;/;ours;/;s/$/;$launches/" >>"$folder/rounds"
  launches=$((launches - 1))
done
# Medians of lines "key;value" sorted by key and value; of n the (n+1)/2-th.
medians() {
  sort -t';' -k1,1 -k2,2n | awk -F';' '
    function put() { if (n) print key ";" values[int((n + 1) / 2)] }
    { if ($1 != key) { put(); key = $1; n = 0 } values[++n] = $2 }
    END { put() }'
}
for column in 3 4 5; do
  awk -F';' -v c=$column '{ print $1 "@" $2 ";" $c }' "$folder/rounds" | medians | tr '@' ';' >"$folder/$column"
  awk -F';' -v c=$column '{ print $1 "@" $2 "@" $6 ";" $c }' "$folder/rounds" | medians | tr '@' ';' >"$folder/launches$column"
done
cut -d';' -f1 "$folder/rounds" | awk '!seen[$0]++' >"$folder/patterns"
awk -F';' -v calls="$calls" '
  function better(column, name) { return time[column, name, "native"] < time[column, name, "ours"] ? "native" : "ours" }
  function regret(column, name) { return (time[column, name, "delivered"] / time[column, name, better(column, name)] - 1) * 100 }
  function certain(column, name) { return low[column, name, "delivered"] > high[column, name, better(column, name)] }
  FILENAME ~ /launches.$/ {
    key = substr(FILENAME, length(FILENAME)) SUBSEP $1 SUBSEP $2
    if (!(key in low) || $4 < low[key]) low[key] = $4
    if (!(key in high) || $4 > high[key]) high[key] = $4
    next
  }
  FILENAME !~ /patterns$/ { time[substr(FILENAME, length(FILENAME)), $1, $2] = $3; next }
  FNR == 1 { printf "%-46s %9s %9s %9s %9s %9s %9s\n", "pattern, us", "native", "ours", "delivered", "a fifth", "all", "2nd half" }
  {
    printf "%-46s %9.0f %9.0f %9.0f %8.1f%% %8.1f%% %8.1f%%\n", $1, time[4, $1, "native"], time[4, $1, "ours"], time[4, $1, "delivered"],
      regret(3, $1), regret(4, $1), regret(5, $1)
    early += regret(3, $1) > 10
    sure_early += regret(3, $1) > 10 && certain(3, $1)
    late += regret(4, $1) > 3
    sure_late += regret(4, $1) > 3 && certain(4, $1)
  }
  END { printf "of %d: %d above 10 %% after a fifth of %d calls, %d of them for certain, %d above 3 %% after all, %d for certain\n", FNR, early, calls, sure_early, late, sure_late }
' "$folder"/launches? "$folder/3" "$folder/4" "$folder/5" "$folder/patterns"
echo "times of $calls calls, or of all sizes; regret after a fifth of $calls calls and after all against the better side, and of the second half alone"
