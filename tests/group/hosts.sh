#!/bin/sh
# SPDX-License-Identifier: MIT
# A group on two hosts, two ranks on each, started by one chasqui launch, then by one on each host.
#   hosts.sh chasqui COMMAND…        exit status 77: skipped
set -eu
chasqui=$1
shift
. "$(dirname "$0")/two_hosts.sh"
timeout -k 5 600 "$chasqui" launch -n 4 --at tcp://10.99.8.1:4711 -- \
  sh -c 'hosts=$1 && shift && exec ip netns exec "$hosts-$((CHASQUI_RANK / 2))" "$@"' sh "$hosts" "$@"
host() {
  first=$1
  shift
  ip netns exec "$hosts-$((first / 2))" timeout -k 5 600 \
    "$chasqui" launch -n 2 --size 4 --first "$first" --at tcp://10.99.8.1:4711 -- "$@"
}
host 2 "$@" &
host 0 "$@"
wait $!
