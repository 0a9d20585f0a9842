#!/bin/sh
# SPDX-License-Identifier: MIT
# failing.sh EVERY LAUNCHER... PROGRAM WHAT NODE_SIZE EVERY right|throws: all failures in turn. Where one ends the job, which must say
# why, the next run begins behind it.
every=$1
shift
first="" survived=0 ended=0
while :; do
  said=$(timeout 600 "$@" $first 2>&1)
  code=$?
  here=$(echo "$said" | sed -n 's/.*\<\([0-9][0-9]*\) failures survived.*/\1/p' | head -n 1)
  survived=$((survived + ${here:-0}))
  if [ $code -eq 0 ]; then
    echo "$survived failures survived, $ended ended the job"
    [ $((survived + ended)) -ge 10 ] || { echo "hardly anything failed"; exit 1; }
    exit 0
  fi
  place=$(echo "$said" | sed -n 's/.*job ended: \([0-9]*\) \([0-9]*\) .*/\1 \2/p' | head -n 1)
  if [ -z "$place" ] || ! echo "$said" | grep -q 'cannot learn how the program ended'; then
    echo "$said"
    echo "ended with $code, and without a reason"
    exit 1
  fi
  ended=$((ended + 1))
  [ $ended -le 60 ] || { echo "more than 60 failures end the job"; exit 1; }
  first="${place% *} $((${place#* } + every))"
done
