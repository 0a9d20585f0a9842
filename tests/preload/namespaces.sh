#!/bin/bash
# SPDX-License-Identifier: MIT
# namespaces.sh openmpi|mpich NODES RANKS_PER_NODE LIBRARIES PROGRAM ARGUMENTS…
# Runs an MPI program on NODES nodes, each with a network, host name and /dev/shm of its own, joined by a bridge. All of
# it lives in namespaces that end with this script. LIBRARIES is LD_PRELOAD ('' for none); CHASQUI_ variables are handed on.
# Needs root and Debian's iproute2 and util-linux; where that is missing or forbidden it says so and ends with 77.
set -u

if [ "${1-}" = --enter ]; then  # the remote shell of the launchers: --enter [-options] HOST COMMAND…
  shift
  while [ "${1#-}" != "$1" ]; do shift; done
  node=n$((${1##*.} - 1))
  shift
  exec ip netns exec "$node" unshare --uts /bin/sh -c \
    'hostname "$0" && mount -t tmpfs -o mode=1777 none /dev/shm && exec /bin/sh -c "$1"' "$node" "$*"
fi

if [ "${1-}" != --inside ]; then
  probe='mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link add br0 type bridge && ip netns add probe'
  if ! unshare --net --mount --uts /bin/sh -c "$probe" 2>/dev/null; then
    echo "skipped: no permission for network namespaces here (root, iproute2, util-linux)"
    exit 77
  fi
  exec unshare --net --mount "$0" --inside "$@"
fi
shift

flavour=$1 nodes=$2 each=$3 libraries=$4
shift 4
self=$(readlink -f "$0")
mount -t tmpfs none /run/netns
ip link add br0 type bridge
ip link set br0 up
hosts=
for ((i = 0; i < nodes; ++i)); do
  ip netns add n$i
  ip link add v$i type veth peer name eth0 netns n$i
  ip link set v$i master br0 up
  ip -n n$i addr add 10.9.0.$((i + 1))/24 dev eth0
  ip -n n$i link set eth0 up
  ip -n n$i link set lo up
  hosts+=${hosts:+,}10.9.0.$((i + 1)):$each
done
agent=$(mktemp)
trap 'rm -f "$agent"' EXIT
printf '#!/bin/sh\nexec "%s" --enter "$@"\n' "$self" >"$agent"
chmod +x "$agent"

words=()
if [ "$flavour" = openmpi ]; then
  for name in ${!CHASQUI_*}; do words+=(-x "$name=${!name}"); done
  [ -n "$libraries" ] && words+=(-x "LD_PRELOAD=$libraries")
  set -- mpirun.openmpi --allow-run-as-root --host "$hosts" -np $((nodes * each)) --bind-to none \
    --mca plm rsh --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl self,vader,tcp \
    --mca btl_vader_single_copy_mechanism none --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
    --mca mpi_yield_when_idle 1 "${words[@]}" "$@"
else
  for name in ${!CHASQUI_*}; do words+=(-genv "$name" "${!name}"); done
  [ -n "$libraries" ] && words+=(-genv LD_PRELOAD "$libraries")
  set -- mpiexec.mpich -launcher ssh -launcher-exec "$agent" -iface eth0 -hosts "$hosts" -n $((nodes * each)) \
    -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0 "${words[@]}" "$@"
fi
command="exec $(printf '%q ' "$@")"
if [ "$flavour" = openmpi ]; then
  timeout -k 5 600 "$self" --enter 10.9.0.1 "$command" </dev/null
  exit
fi
# MPICH 4.0.2 with UCX 1.13 over TCP often hangs in MPI_Finalize, with and without the library: once the program has said its
# last word ("right, digest") it is given two seconds and then ended.
log=$(mktemp)
trap 'rm -f "$agent" "$log"' EXIT
timeout -k 5 600 "$self" --enter 10.9.0.1 "$command" </dev/null >"$log" 2>&1 &
launcher=$!
while kill -0 $launcher 2>/dev/null; do
  if grep -q "right, digest" "$log"; then
    sleep 2
    kill -0 $launcher 2>/dev/null && kill $launcher
    wait $launcher
    grep "right, digest" "$log"
    exit 0
  fi
  sleep 0.2
done
wait $launcher
status=$?
cat "$log"
exit $status
