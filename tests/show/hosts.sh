#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui record --mpi over several hosts with clocks of their own: network namespaces on one bridge, each with its own
# host name and with a monotonic clock some thousand seconds apart. No message may arrive before it is sent by more than
# the error that record states.
#   hosts.sh chasqui folder mpirun hosts        exit status 77: skipped
set -eu
chasqui=$1 folder=$2 mpirun=$3 hosts=$4
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making network namespaces needs root"
command -v ip > /dev/null || skip "no ip (apt install iproute2)"
unshare --uts --time --monotonic 1000 true 2> /dev/null || skip "no namespaces for host names and clocks here"
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"
fail() { echo "hosts: $*" >&2; cat said.txt >&2; exit 1; }

name=chasqui$$
clean() {
  for i in $(seq 0 "$hosts"); do ip netns del "$name-$i" 2> /dev/null || true; done
}
trap clean EXIT
trap 'exit 1' INT TERM

# Namespace number $hosts is the switch. What cannot be made here is a reason to skip; what goes wrong later is not.
for i in $(seq 0 "$hosts"); do ip netns add "$name-$i" 2> said.txt || skip "no network namespaces here: $(cat said.txt)"; done
switch=$name-$hosts
ip -n "$switch" link add bridge type bridge 2> said.txt || skip "no bridges here: $(cat said.txt)"
ip -n "$switch" link set bridge up
words=
for i in $(seq 0 $((hosts - 1))); do
  ip link add host netns "$name-$i" type veth peer name "to$i" netns "$switch" 2> said.txt || skip "no veth here: $(cat said.txt)"
  ip -n "$switch" link set "to$i" master bridge
  ip -n "$switch" link set "to$i" up
  ip -n "$name-$i" address add "10.99.7.$((i + 1))/24" dev host
  ip -n "$name-$i" link set host up
  ip -n "$name-$i" link set lo up
  words=$words,10.99.7.$((i + 1))
done

# The launcher's remote shell: enters the namespace of an address.
cat > enter << END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
i=\$((\${1##*.} - 1))
shift
exec ip netns exec $name-\$i unshare --uts --time --monotonic \$((i * 1000)) /bin/sh -c 'hostname host\$0 && exec /bin/sh -c "\$1"' "\$i" "\$*"
END
chmod +x enter

for collective in broadcast allreduce allgather; do
  timeout -k 5 600 ./enter 10.99.7.1 "exec $mpirun --allow-run-as-root --oversubscribe --bind-to none -np $hosts --host ${words#,} \
    --mca plm rsh --mca plm_rsh_agent $PWD/enter --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
    --mca btl_tcp_if_include host --mca oob_tcp_if_include host --mca mpi_yield_when_idle 1 \
    $chasqui record $collective --mpi --repeat 30 --out $PWD/$collective.json" < /dev/null > said.txt 2>&1 || fail "$collective: status $?"
  line=$(grep '^clocks compared' said.txt) || fail "$collective: the clocks were not compared"
  echo "$collective: $line"
  echo "$line" | sed 's/.*agree to \([0-9.]*\) us.*takes \(-*[0-9.]*\) us/\1 \2/' |
    awk 'NF != 2 || !($1 > 0 && $1 < 1e6) || $2 < -$1 { exit 1 }' || fail "$collective: a message arrives before it is sent: $line"
  "$chasqui" draw "$collective.json" --format trace --out trace.json > drawn.txt 2>&1 || fail "$collective: cannot be drawn"
  # In the trace nothing lasts for the seconds that the clocks are apart.
  tr '{},' '\n\n\n' < trace.json | sed -n 's/.*"ts": *\([0-9.e+-]*\).*/\1/p' |
    awk '{ if (NR == 1 || $1 < low) low = $1; if (NR == 1 || $1 > high) high = $1 } END { exit !(NR > 3 && high - low < 60e6) }' || fail "$collective: times in the trace"
done
