#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui cliffs --mpi as programs of a launcher: times of the library and of Chasqui for two and for all ranks, a plot and a page.
#   cliffs_mpi.sh chasqui folder launcher words …
set -eu
chasqui=$1 folder=$2
shift 2
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

fail() { echo "cliffs_mpi: $*" >&2; cat said.txt >&2; exit 1; }

"$@" "$chasqui" cliffs --mpi --kinds broadcast,barrier --largest 2048 --rounds 3 --out found > printed.txt 2> said.txt || fail "cliffs failed"
grep -q '^chasqui: [0-9]* cliffs* in 12 times$' printed.txt || fail "does not count Chasqui's times"
grep -q '^native: [0-9]* cliffs* in 12 times$' printed.txt || fail "does not count the library's times"
for call in 'native,broadcast,2,2048' 'native,broadcast,4,8' 'chasqui,broadcast,4,512' 'native,barrier,2,0' 'chasqui,barrier,4,0'; do
  [ "$(grep -c "^$call,[1-9]" found/times.csv)" = 1 ] || fail "no time of $call"
done
head -1 found/cliffs.csv | grep -q '^who,collective,ranks,bytes,factor,instead$' || fail "cliffs.csv has no head"
grep -q '</svg>' found/broadcast.svg || fail "no plot"
grep -q '</html>' found/index.html || fail "no page"
