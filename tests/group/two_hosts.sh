# SPDX-License-Identifier: MIT
# Read by the tests of groups on several hosts: makes two network namespaces, $hosts-0 (10.99.8.1) and $hosts-1 (10.99.8.2), and a
# third with the switch between them, $hosts-between. They and the folder $said are gone when the script ends.
# Exit status 77: no such thing here.
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "making network namespaces needs root"
command -v ip > /dev/null || skip "no ip (apt install iproute2)"
hosts=chasqui$$
said=$(mktemp -d)
clean() {
  for i in 0 1 between; do ip netns del "$hosts-$i" 2> /dev/null || true; done
  rm -r "$said"
}
trap clean EXIT
trap 'exit 1' INT TERM
for i in 0 1 between; do ip netns add "$hosts-$i" 2> /dev/null || skip "no network namespaces here"; done
ip -n "$hosts-between" link add switch type bridge 2> /dev/null || skip "no bridge here"
ip -n "$hosts-between" link set switch up
for i in 0 1; do
  ip link add wire netns "$hosts-$i" type veth peer name "port$i" netns "$hosts-between" 2> /dev/null || skip "no veth here"
  ip -n "$hosts-between" link set "port$i" master switch up
  ip -n "$hosts-$i" address add "10.99.8.$((i + 1))/24" dev wire
  ip -n "$hosts-$i" link set wire up
  ip -n "$hosts-$i" link set lo up
done
for i in 0 1; do  # the kernel takes its time to say that the wire is in use
  for try in 1 2 3 4 5 6 7 8 9 10; do ip -n "$hosts-$i" link show wire | grep -q "state UP" && break || sleep 0.3; done
done
export UCX_TLS=tcp CHASQUI_SECRET=secret
