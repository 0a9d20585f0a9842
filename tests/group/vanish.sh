#!/bin/sh
# SPDX-License-Identifier: MIT
# A group on two hosts; then the switch between them passes nothing on any more: no connection is closed, and no wire is down.
# Both sides must notice, though they connect to each other just then to compare their calls. (By CHASQUI_SILENCE, or on a busy machine by the
# patience of UCX, whichever is first.)
#   vanish.sh PROGRAM        exit status 77: skipped
set -eu
. "$(dirname "$0")/two_hosts.sh"
# Nobody but us gives up soon: each host knows the other's wire for good, and a connection is tried for the better part of an hour.
for i in 0 1; do
  wire=$(ip -n "$hosts-$((1 - i))" -o link show wire | sed 's/.*link.ether \([^ ]*\).*/\1/')
  ip -n "$hosts-$i" neighbour replace "10.99.8.$((2 - i))" lladdr "$wire" dev wire nud permanent
  ip netns exec "$hosts-$i" sh -c 'echo 20 > /proc/sys/net/ipv4/tcp_syn_retries'
done
export UCX_LOG_LEVEL=warn CHASQUI_SIZE=4 CHASQUI_RENDEZVOUS=tcp://10.99.8.1:4711 CHASQUI_SILENCE=3
ranks=""
for rank in 0 1 2 3; do
  CHASQUI_RANK=$rank ip netns exec "$hosts-$((rank / 2))" timeout -k 5 600 "$1" > "$said/$rank" &
  ranks="$ranks $!"
done
rank=0
for process in $ranks; do
  until grep -qs "is there" "$said/$rank"; do
    kill -0 "$process" 2> /dev/null || { cat "$said"/*; exit 1; }
    sleep 0.1
  done
  rank=$((rank + 1))
done
ip -n "$hosts-between" link set port1 nomaster
for process in $ranks; do wait "$process" || true; done
for rank in 0 1 2 3; do
  [ "$(grep -cE "its host (has not answered for|is down)" "$said/$rank")" = 2 ] || { cat "$said"/*; exit 1; }
done
# And UCX knows what it was told.
if grep -h "invalid configuration" "$said"/*; then exit 1; fi
