#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui measure --mpi as programs of a launcher: a profile that its readers take, whatever the machine does meanwhile.
#   measure_mpi.sh chasqui check_profile folder ranks launcher words …
set -eu
chasqui=$1 check=$2 folder=$3 ranks=$4
shift 4
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"

fail() { echo "measure_mpi: $*" >&2; cat said.txt >&2; exit 1; }

"$@" "$chasqui" measure --mpi --seconds 1 --out m.json > printed.txt 2> said.txt || fail "measure failed"
grep -q '^node, .* ranks: median (interval)$' printed.txt || fail "does not print what it found"
grep -q '^o_s .*the sender is busy$' printed.txt || fail "does not print the sender's overhead"
if grep -q '#\.' said.txt; then fail "a bar where there is no terminal"; fi
grep -q '^stated 1 s, taken [0-9.]* s; rounds: [1-9]; collectives timed: [0-9]* of [0-9]*$' said.txt || fail "does not say what it took"
cat said.txt
"$check" m.json "$ranks" || fail "the profile is out of range"
for kind in broadcast reduce allreduce allgather gather scatter scan barrier; do
  for bytes in 8 65536 4194304; do
    "$chasqui" explain $kind --bytes $bytes --machine m.json | grep -q '^chosen ' || fail "explain $kind --bytes $bytes"
  done
done

status=0
"$@" "$chasqui" measure --mpi --seconds 0.2 --again m.json > table.txt 2> said.txt || status=$?
[ $status -le 1 ] || fail "--again ended with $status"
grep -q '^node L ' table.txt || fail "--again compares nothing"
if [ $status = 0 ]; then grep -q '^all intervals meet$' table.txt; else grep -q 'do not meet' table.txt; fi || fail "--again: status $status"

"$@" "$chasqui" measure --mpi --seconds 0 > table.txt 2> said.txt && fail "0 seconds were taken"
grep -q 'is not more than 0 and at most 3600' said.txt || fail "0 seconds: no reason"

# What is wrong for all ranks is said once, before anything is measured, and the launcher comes back.
sed 's/"name": "node",/"name": "node", "threads": true,/' m.json > threads.json
head -c 100 m.json > part.json
for bad in threads.json:'a profile of threads' part.json:'the text ends too early' none.json:'cannot be read'; do
  status=0
  timeout 600 "$@" "$chasqui" measure --mpi --seconds 3600 --again "${bad%%:*}" > table.txt 2> said.txt || status=$?
  [ $status -ne 0 ] && [ $status -ne 124 ] || fail "--again ${bad%%:*}: status $status"
  [ "$(grep -c "${bad#*:}" said.txt)" = 1 ] || fail "--again ${bad%%:*}: no reason, or more than one"
done
