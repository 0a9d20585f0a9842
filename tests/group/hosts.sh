#!/bin/sh
# SPDX-License-Identifier: MIT
# A group on two hosts: network namespaces that this script makes, two ranks in each, started by one chasqui launch, then by
# one on each host.
#   hosts.sh chasqui COMMAND…        exit status 77: skipped
set -eu
chasqui=$1
shift
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making network namespaces needs root"
command -v ip > /dev/null || skip "no ip (apt install iproute2)"
name=chasqui$$
clean() {
  for i in 0 1; do ip netns del "$name-$i" 2> /dev/null || true; done
}
trap clean EXIT
trap 'exit 1' INT TERM
for i in 0 1; do ip netns add "$name-$i" 2> /dev/null || skip "no network namespaces here"; done
ip link add wire netns "$name-0" type veth peer name wire netns "$name-1" 2> /dev/null || skip "no veth here"
for i in 0 1; do
  ip -n "$name-$i" address add "10.99.8.$((i + 1))/24" dev wire
  ip -n "$name-$i" link set wire up
  ip -n "$name-$i" link set lo up
done
for i in 0 1; do  # the kernel takes its time to say that the wire is in use
  for try in 1 2 3 4 5 6 7 8 9 10; do ip -n "$name-$i" link show wire | grep -q "state UP" && break || sleep 0.3; done
done
export UCX_TLS=tcp CHASQUI_SECRET=secret
timeout -k 5 50 "$chasqui" launch -n 4 --at tcp://10.99.8.1:4711 -- \
  sh -c 'name=$1 && shift && exec ip netns exec "$name-$((CHASQUI_RANK / 2))" "$@"' sh "$name" "$@"
host() {
  first=$1
  shift
  ip netns exec "$name-$((first / 2))" timeout -k 5 50 \
    "$chasqui" launch -n 2 --size 4 --first "$first" --at tcp://10.99.8.1:4711 -- "$@"
}
host 2 "$@" &
host 0 "$@"
wait $!
