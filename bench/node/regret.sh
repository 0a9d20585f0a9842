#!/bin/sh
# What the drop-in library's verdicts cost against always taking the better side:
#   bench/node/regret.sh LIBRARY REGRET ROUNDS LAUNCHES mpirun words…
# LIBRARY: libchasqui-mpi-openmpi.so; REGRET: bench/node/regret.cpp, compiled by mpicxx -std=c++20 -O2. Launches it as delivered and with
# CHASQUI_TRIALS=0 (always Chasqui) by turns, for Open MPI, and compares medians of all rounds. CALLS: of a round, not 1000.
set -eu
library=$1 program=$2 rounds=$3 launches=$4 calls=${CALLS:-1000}
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
while [ "$launches" -gt 0 ]; do
  "$@" -x LD_PRELOAD="$library" "$program" "$rounds" "$calls" 2 | sed 's/;through;/;delivered;/' >>"$folder/rounds"
  "$@" -x LD_PRELOAD="$library" -x CHASQUI_TRIALS=0 "$program" "$rounds" "$calls" 0 | sed 's/;through;/;ours;/' >>"$folder/rounds"
  launches=$((launches - 1))
done
# Lines sorted by pattern, who and time; of n the (n+1)/2-th.
medians() {
  cut -d';' -f1,2,"$1" "$folder/rounds" | sort -t';' -k1,1 -k2,2 -k3,3n | awk -F';' '
    function put() { if (n) print key ";" values[int((n + 1) / 2)] }
    { now = $1 ";" $2; if (now != key) { put(); key = now; n = 0 } values[++n] = $3 }
    END { put() }'
}
for column in 3 4 5; do medians $column >"$folder/$column"; done
cut -d';' -f1 "$folder/rounds" | awk '!seen[$0]++' >"$folder/patterns"
awk -F';' '
  function least(a, b) { return a < b ? a : b }
  function regret(column, name) {
    return (time[column, name, "delivered"] / least(time[column, name, "native"], time[column, name, "ours"]) - 1) * 100
  }
  FILENAME !~ /patterns$/ { time[substr(FILENAME, length(FILENAME)), $1, $2] = $3; next }
  FNR == 1 { printf "%-46s %9s %9s %9s %9s %9s %9s\n", "pattern, us", "native", "ours", "delivered", "200 calls", "1000", "2nd half" }
  {
    printf "%-46s %9.0f %9.0f %9.0f %8.1f%% %8.1f%% %8.1f%%\n", $1, time[4, $1, "native"], time[4, $1, "ours"], time[4, $1, "delivered"],
      regret(3, $1), regret(4, $1), regret(5, $1)
    early += regret(3, $1) > 10
    late += regret(4, $1) > 3
  }
  END { printf "of %d: %d above 10 %% after 200 calls, %d above 3 %% after 1000\n", FNR, early, late }
' "$folder/3" "$folder/4" "$folder/5" "$folder/patterns"
echo "times of $calls calls; regret after 200 and 1000 calls against the better side, and of the second half alone"
