#!/bin/sh
# SPDX-License-Identifier: MIT
# bench/wan/launch on 2 hosts of 2 ranks: messages between hosts take the delay, hosts have names of their own, and nothing
# of the network is left, neither after its end nor when the launcher is asked to end, is killed or runs out of time.
#   wan.sh LAUNCH LIBRARY PING-PROGRAM        exit status 77: skipped
set -eu
launch=$1 library=$2 ping=$3
delay_us=1000
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -c /dev/net/tun ] || skip "no /dev/net/tun"
command -v python3 >/dev/null || skip "no python3"
unshare --net --mount --uts --ipc --pid --fork --mount-proc true 2>/dev/null || skip "no permission for namespaces here"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
fail() { echo "wan: $*" >&2; cat "$said" >&2; exit 1; }

namespaces() { sed -n 's/.* in \(net:.*\)/\1/p' "$said" | sort -u; }
# A namespace lives as long as a process is in it or has it open.
left() {
  for one in $(namespaces); do
    find /proc/[0-9]*/ns/net /proc/[0-9]*/fd -lname "$(echo "$one" | sed 's/[][]/\\&/g')" 2>/dev/null || true
  done
}
# What was killed may take a moment to go.
nothing_is_left() {
  for try in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(left)" ] || return 0
    sleep 0.5
  done
  fail "left behind after $1: $(left)"
}

timeout -k 5 120 "$launch" --shared --seconds 100 "$library" 2 2 $delay_us "$ping" >"$said" 2>&1 || fail "exit status $?"
grep -qx DONE "$said" || fail "not finished"
for place in "rank 0 on host1" "rank 1 on host1" "rank 2 on host2" "rank 3 on host2"; do
  grep -q "^$place in net:" "$said" || fail "missing: $place"
done
[ "$(namespaces | wc -l)" = 2 ] || fail "not one network a host"
sed -n 's/^round trip \([0-9.]*\) us$/\1/p' "$said" | awk -v least=$((2 * delay_us)) 'NR == 1 && $1 >= least { held = 1 } END { exit !held }' ||
  fail "a round trip takes less than twice the delay of $delay_us us"
nothing_is_left "the end"

# Ranks that never end by themselves are there, and then they are not.
for signal in 2 15 9; do  # Ctrl-C, a polite end, and none
  : >"$said"  # here: what runs in the background may come to it only after the first look
  "$launch" --shared --seconds 100 "$library" 2 2 $delay_us "$ping" forever >>"$said" 2>&1 &
  launcher=$!
  for try in $(seq 300); do
    [ "$(grep -c "^rank" "$said")" = 4 ] && break
    sleep 0.2
  done
  [ -n "$(left)" ] || fail "no ranks to end"
  kill -s "$signal" $launcher
  status=0
  wait $launcher 2>/dev/null || status=$?
  [ "$status" = $((128 + signal)) ] || fail "signal $signal: exit status $status"
  nothing_is_left "signal $signal"
done

status=0
"$launch" --shared --seconds 5 "$library" 2 2 $delay_us "$ping" forever >"$said" 2>&1 || status=$?
[ "$status" = 124 ] || fail "out of time: exit status $status"
nothing_is_left "its time"
echo "ok: $library"
