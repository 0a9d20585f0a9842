#!/bin/sh
# What the drop-in library's verdicts cost against always taking the better side:
#   bench/node/regret.sh LIBRARY "REGRET [ROUNDS]" mpirun words…
# LIBRARY: libchasqui-mpi-openmpi.so; REGRET: bench/node/regret.cpp, compiled by mpicxx -std=c++20 -O2. Runs it as delivered and with
# CHASQUI_TRIALS=0 (always Chasqui), for Open MPI.
set -eu
library=$1 program=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
"$@" -x LD_PRELOAD="$library" $program >"$folder/delivered"
# shellcheck disable=SC2086
"$@" -x LD_PRELOAD="$library" -x CHASQUI_TRIALS=0 $program >"$folder/ours"
awk -F';' '
  BEGIN { printf "%-40s %10s %8s %10s %10s %10s %10s\n", "pattern", "native us", "ours", "delivered", "200 calls", "1000 calls", "worst" }
  NR == FNR { early[$1] = $3; all[$1] = $4; next }
  {
    best_early = early[$1] < 1 ? early[$1] : 1
    best = all[$1] < 1 ? all[$1] : 1
    printf "%-40s %10.2f %8.2f %10.2f %9.1f%% %9.1f%% %9.1f%%\n", $1, $2, all[$1], $4, ($3 / best_early - 1) * 100, ($4 / best - 1) * 100, ($5 / best - 1) * 100
  }' "$folder/ours" "$folder/delivered"
echo "ours, delivered: time of 1000 calls / natively; regret after 200 and 1000 calls, and of the worst round"
