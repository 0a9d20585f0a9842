#!/bin/sh
# What the drop-in library's verdicts cost against always taking the better side:
#   bench/node/regret.sh LIBRARY "REGRET [ROUNDS]" LAUNCHES mpirun words…
# LIBRARY: libchasqui-mpi-openmpi.so; REGRET: bench/node/regret.cpp, compiled by mpicxx -std=c++20 -O2. Launches it as delivered and with
# CHASQUI_TRIALS=0 (always Chasqui) by turns, for Open MPI, and compares lower quartiles of all rounds.
set -eu
library=$1 program=$2 launches=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
while [ "$launches" -gt 0 ]; do
  # shellcheck disable=SC2086
  "$@" -x LD_PRELOAD="$library" $program | sed 's/;through;/;delivered;/' >>"$folder/rounds"
  # shellcheck disable=SC2086
  "$@" -x LD_PRELOAD="$library" -x CHASQUI_TRIALS=0 $program | sed 's/;through;/;ours;/' >>"$folder/rounds"
  launches=$((launches - 1))
done
# Lower quartiles: lines sorted by pattern, who and time; of n the (n+3)/4-th.
quartiles() {
  cut -d';' -f1,2,"$1" "$folder/rounds" | sort -t';' -k1,1 -k2,2 -k3,3n | awk -F';' '
    function put() { if (n) print key ";" values[int((n + 3) / 4)] }
    { now = $1 ";" $2; if (now != key) { put(); key = now; n = 0 } values[++n] = $3 }
    END { put() }'
}
quartiles 3 >"$folder/early"
quartiles 4 >"$folder/all"
cut -d';' -f1 "$folder/rounds" | awk '!seen[$0]++' >"$folder/patterns"
awk -F';' '
  function least(a, b) { return a < b ? a : b }
  FILENAME ~ /early$/ { early[$1, $2] = $3; next }
  FILENAME ~ /all$/ { all[$1, $2] = $3; next }
  FNR == 1 { printf "%-46s %10s %10s %10s %10s %10s\n", "pattern, us", "native", "ours", "delivered", "200 calls", "1000 calls" }
  {
    printf "%-46s %10.0f %10.0f %10.0f %9.1f%% %9.1f%%\n", $1, all[$1, "native"], all[$1, "ours"], all[$1, "delivered"],
      (early[$1, "delivered"] / least(early[$1, "native"], early[$1, "ours"]) - 1) * 100,
      (all[$1, "delivered"] / least(all[$1, "native"], all[$1, "ours"]) - 1) * 100
  }' "$folder/early" "$folder/all" "$folder/patterns"
echo "times of 1000 calls; regret after 200 and 1000 calls against the better side"
