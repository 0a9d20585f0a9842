#!/bin/sh
# SPDX-License-Identifier: MIT
# A group on two hosts, network namespaces that this script makes; then the switch between them passes nothing on any more: no
# connection is closed, and no wire is down. Both sides must notice.
#   vanish.sh PROGRAM        exit status 77: skipped
set -eu
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making network namespaces needs root"
command -v ip > /dev/null || skip "no ip (apt install iproute2)"
name=chasqui$$
said=$(mktemp -d)
clean() {
  for i in 0 1 between; do ip netns del "$name-$i" 2> /dev/null || true; done
  rm -r "$said"
}
trap clean EXIT
trap 'exit 1' INT TERM
for i in 0 1 between; do ip netns add "$name-$i" 2> /dev/null || skip "no network namespaces here"; done
ip -n "$name-between" link add switch type bridge 2> /dev/null || skip "no bridge here"
ip -n "$name-between" link set switch up
for i in 0 1; do
  ip link add wire netns "$name-$i" type veth peer name "port$i" netns "$name-between" 2> /dev/null || skip "no veth here"
  ip -n "$name-between" link set "port$i" master switch up
  ip -n "$name-$i" address add "10.99.9.$((i + 1))/24" dev wire
  ip -n "$name-$i" link set wire up
  ip -n "$name-$i" link set lo up
done
for i in 0 1; do  # the kernel takes its time to say that the wire is in use
  for try in 1 2 3 4 5 6 7 8 9 10; do ip -n "$name-$i" link show wire | grep -q "state UP" && break || sleep 0.3; done
done
export UCX_TLS=tcp CHASQUI_SECRET=secret CHASQUI_SIZE=4 CHASQUI_RENDEZVOUS=tcp://10.99.9.1:4711 CHASQUI_SILENCE=3
ranks=""
for rank in 0 1 2 3; do
  CHASQUI_RANK=$rank ip netns exec "$name-$((rank / 2))" timeout -k 5 100 "$1" > "$said/$rank" &
  ranks="$ranks $!"
done
for rank in 0 1 2 3; do
  for try in $(seq 300); do grep -q "is there" "$said/$rank" && break || sleep 0.1; done
done
ip -n "$name-between" link set port1 nomaster
for process in $ranks; do wait "$process" || true; done
for rank in 0 1 2 3; do
  [ "$(grep -c "its host has not answered for 3 s" "$said/$rank")" = 2 ] || { cat "$said"/*; exit 1; }
done
