#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui bench --mpi as programs of a launcher: every collective against the library's own and a binomial tree.
#   bench_mpi.sh chasqui folder ranks launcher words …
set -eu
chasqui=$1 folder=$2 ranks=$3
shift 3
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

fail() { echo "bench_mpi: $*" >&2; cat said.txt table.txt >&2; exit 1; }

"$@" "$chasqui" bench --mpi --seconds 0.0001 --largest 4000 --out rows.csv --samples all.csv > table.txt 2> said.txt || fail "it failed"
awk 'length > 80 { exit 1 }' table.txt || fail "a line is wider than 80 columns"
ratio='x[0-9.>^]+'
[ "$(grep -cE "^[a-z-]+ +[0-9]+ [a-z-]+ +[0-9.]+ +[0-9.]+ [ !] +$ratio +$ratio$" table.txt)" = 37 ] || fail "not 37 rows with two ratios"
[ "$(grep -cE "^(items|stream|delay) .*[ !] +$ratio +$ratio +$ratio +$ratio$" table.txt)" = 11 ] || fail "not 11 rows of items with four"
[ "$(grep -cE "^sum .*[ !] +$ratio +$ratio +- +$ratio$" table.txt)" = 2 ] || fail "not two sums with three"
for kind in broadcast reduce allreduce allgather gather scatter alltoall reduce-scatter scan; do
  for bytes in 8 64 512 4000; do
    for who in "chasqui [a-z-]*" native binomial; do
      grep -q "^$kind,$bytes,$ranks,$who," rows.csv || fail "$kind of $bytes bytes by $who is missing"
    done
  done
done
for row in sum,512 sum,4000 items,64 items,512 items,4000 stream,8 stream,4000 delay,8 delay,4000; do
  for who in "chasqui [a-z-]*" native binomial plain; do
    grep -q "^$row,$ranks,$who," rows.csv || fail "$row by $who is missing"
  done
done
[ "$(grep -c ',chain,' rows.csv)" = 11 ] || fail "not 11 rows of chains"
awk -F, 'NR > 1 && !($6 > 0 && $6 <= $7 && $7 <= $8) { exit 1 }' rows.csv || fail "quartiles are out of order"
# The median of the samples is the median of the row.
awk -F, 'NR > 1 && $1 == "scan" && $2 == 512 && $4 == "native" { print $6 }' all.csv | sort -n > some.txt
count=$(wc -l < some.txt)
[ "$count" -ge 5 ] || fail "$count samples"
median=$(sed -n "$(((count - 1) / 2 + 1))p" some.txt)
grep -q "^scan,512,$ranks,native,,[0-9.]*,$median," rows.csv || fail "the median of the samples is $median"
"$@" "$chasqui" bench --mpi --kinds singing > table.txt 2> said.txt && fail "singing was taken"
grep -q 'which is not one of broadcast' said.txt || fail "singing: no reason"
