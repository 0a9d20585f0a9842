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
[ "$(grep -c ' x[0-9.]* *x[0-9.]*$' table.txt)" = 29 ] || fail "not 29 rows with two ratios"
for kind in broadcast reduce allreduce allgather gather scatter scan; do
  for bytes in 8 64 512 4000; do
    for who in "chasqui [a-z]*" native binomial; do
      grep -q "^$kind,$bytes,$ranks,$who," rows.csv || fail "$kind of $bytes bytes by $who is missing"
    done
  done
done
awk -F, 'NR > 1 && !($6 > 0 && $6 <= $7 && $7 <= $8) { exit 1 }' rows.csv || fail "quartiles are out of order"
# The median of the samples is the median of the row.
awk -F, 'NR > 1 && $1 == "scan" && $2 == 512 && $4 == "native" { print $6 }' all.csv | sort -n > some.txt
count=$(wc -l < some.txt)
[ "$count" -ge 5 ] || fail "$count samples"
median=$(sed -n "$(((count - 1) / 2 + 1))p" some.txt)
grep -q "^scan,512,$ranks,native,,[0-9.]*,$median," rows.csv || fail "the median of the samples is $median"
"$@" "$chasqui" bench --mpi --kinds singing > table.txt 2> said.txt && fail "singing was taken"
grep -q 'is no collective' said.txt || fail "singing: no reason"
