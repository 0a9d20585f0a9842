#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui tune --mpi as programs of a launcher: races, files, a page, and going on where it was stopped.
#   tune_mpi.sh chasqui folder library launcher words …
set -eu
chasqui=$1 folder=$2 library=$3
shift 3
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

fail() { echo "tune_mpi: $*" >&2; cat said.txt >&2; exit 1; }

"$@" "$chasqui" tune --mpi --seconds 0.3 --kinds broadcast,barrier --largest 2048 --rounds 3 --most 2 --regret --out tuned \
  > printed.txt 2> said.txt || fail "tune failed"
for size in '8 B' '2 KiB'; do
  sed '/regret$/,$d' printed.txt | grep -q "^bcast  *$size .* [um]s  *[0-9.]* [um]s  [a-z]" || fail "no race at $size"
done
grep -q '^bcast .* %$' printed.txt || fail "says nothing about sizes that no race had"
grep -q '^brute force over all powers of two, 100 calls of each: [0-9.]* s, [0-9.]* times' printed.txt || fail "does not say what brute force takes"
head -1 tuned/races.csv | grep -q '^collective,bytes,number,' || fail "races.csv has no head"
grep -q '^bcast,8,0,0,0,0,default,[1-9]' tuned/races.csv || fail "the default was not raced"
for file in index.html machine.json ucc.txt nccl.csv regret.csv; do [ -s "tuned/$file" ] || fail "no $file"; done
grep -q '</html>' tuned/index.html || fail "the page has no end"
case $library in
  openmpi) rules=openmpi.rules
    grep -q '^7 # bcast$' tuned/openmpi.rules || fail "no rules for bcast"
    head -1 tuned/openmpi-2.rules | grep -q '^rule-file-version-2$' || fail "version 2 has no head"
    grep -q '"rule_file_version": 3' tuned/openmpi.json || fail "no version 3";;
  *) rules=mpich.json; grep -q '"collective=bcast"' tuned/mpich.json || fail "no rules for bcast";;
esac

# All races are there: nothing runs again, and the rules are the same.
cp "tuned/$rules" before
"$@" "$chasqui" tune --mpi --machine tuned/machine.json --kinds broadcast,barrier --largest 2048 --rounds 3 --most 2 --out tuned --resume \
  > printed.txt 2> said.txt || fail "--resume failed"
if grep -q '^b.* [um]s  [a-z]' printed.txt; then fail "--resume raced again"; fi
cmp -s "tuned/$rules" before || fail "--resume wrote other rules"

# One race less: that one runs.
grep -v '^barrier,' tuned/races.csv > less && cp less tuned/races.csv
"$@" "$chasqui" tune --mpi --machine tuned/machine.json --kinds broadcast,barrier --largest 2048 --rounds 3 --most 2 --out tuned --resume \
  > printed.txt 2> said.txt || fail "--resume failed"
grep -q '^barrier .* [um]s  [a-z]' printed.txt || fail "--resume did not run the race that was missing"
if grep -q '^bcast .* [um]s  [a-z]' printed.txt; then fail "--resume raced what was there"; fi

# Races of another number of ranks are not taken, and a folder that cannot be made ends all ranks.
cp tuned/races.csv races && sed 's/,[0-9]*$/,77/; 1s/,77$/,ranks/' races > tuned/races.csv
"$@" "$chasqui" tune --mpi --machine tuned/machine.json --out tuned --resume > printed.txt 2> said.txt && fail "races of 77 ranks were taken"
grep -q 'on 77 ranks' said.txt || fail "races of 77 ranks: no reason"
cp races tuned/races.csv
"$@" "$chasqui" tune --mpi --machine tuned/machine.json --out /proc/nowhere > printed.txt 2> said.txt && fail "a folder in /proc was made"
grep -q 'cannot be made' said.txt || fail "a folder that cannot be made: no reason"

echo 'bcast,8' >> tuned/races.csv
"$@" "$chasqui" tune --mpi --machine tuned/machine.json --out tuned --resume > printed.txt 2> said.txt && fail "a broken line was taken"
[ "$(grep -c 'races.csv:[0-9]*: not a line' said.txt)" = 1 ] || fail "a broken line: no reason, or more than one"
