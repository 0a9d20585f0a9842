#!/bin/sh
# SPDX-License-Identifier: MIT
# A group on two hosts; then the switch between them passes nothing on any more: no connection is closed, and no wire is down.
# Both sides must notice: by CHASQUI_SILENCE, or on a busy machine by the patience of UCX, whichever is first.
#   vanish.sh PROGRAM        exit status 77: skipped
set -eu
. "$(dirname "$0")/two_hosts.sh"
export CHASQUI_SIZE=4 CHASQUI_RENDEZVOUS=tcp://10.99.8.1:4711 CHASQUI_SILENCE=3
ranks=""
for rank in 0 1 2 3; do
  CHASQUI_RANK=$rank ip netns exec "$hosts-$((rank / 2))" timeout -k 5 600 "$1" > "$said/$rank" &
  ranks="$ranks $!"
done
for rank in 0 1 2 3; do
  for try in $(seq 300); do grep -q "is there" "$said/$rank" && break || sleep 0.1; done
done
ip -n "$hosts-between" link set port1 nomaster
for process in $ranks; do wait "$process" || true; done
for rank in 0 1 2 3; do
  [ "$(grep -c "its host has not answered for" "$said/$rank")" = 2 ] || { cat "$said"/*; exit 1; }
done
