#!/bin/sh
# Timelines of schedules, of simulations and of real runs, read by a program that shares nothing with the writer.
# usage: traces.sh CHASQUI WORK-FOLDER. Exit status 77: skipped.
set -eu
chasqui=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || { echo "skipped: no node (apt install nodejs)"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# Open MPI as it must be asked on a small machine, as root, beside other tests.
for name in OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle; do
  export $name=1
done
export OMPI_MCA_hwloc_base_binding_policy=none
check() {
  "$chasqui" draw "$1.json" --format trace --out "$1.trace.json"
  node "$here/trace_events.mjs" "$1.trace.json" "$2"
}
"$chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 --out broadcast.json >log
"$chasqui" plan allgather -P 6 -L 3 --out allgather.json >>log
"$chasqui" plan sum -P 8 -L 5 -o 2 -g 4 --operands 90 --out sum.json >>log
"$chasqui" plan stream -P 10 -L 3 --out stream.json >>log
check broadcast 7
check allgather 30
check sum 7
check stream 9
for policy in uniform:1:3 two-level:2:1:3; do
  for mode in timed event; do
    "$chasqui" simulate allgather.json --latency $policy --mode $mode --seed 5 --trace direct.json --out played.json >>log
    check played 30
    cmp direct.json played.trace.json
  done
done
"$chasqui" simulate broadcast.json --latency uniform:0:6 --straggler 1:9:4:6 --out late.json >>log
check late 7
for collective in broadcast reduce allreduce allgather gather scatter scan barrier; do
  "$chasqui" record $collective --threads 4 --repeat 3 --out run.json >>log
  check run 3
done
# Under MPI, where there is one: every rank writes down its own, rank 0 puts them together.
for library in openmpi mpich; do
  if [ -x "$(dirname "$chasqui")/chasqui-mpi-$library" ] && command -v "mpirun.$library" >/dev/null; then
    for collective in broadcast allreduce allgather scan barrier; do
      timeout 600 "mpirun.$library" -np 3 "$chasqui" record $collective --mpi --repeat 3 --out run.json >>log
      check run 2
    done
    timeout 600 "mpirun.$library" -np 3 "$chasqui" record allgather --mpi --bytes 64 --repeat 3 \
      --clocks --out run.json | grep -q "clocks compared, they agree to [0-9.]* us"
    check run 6
    timeout 600 "mpirun.$library" -np 1 "$chasqui" record broadcast --mpi --out - | grep -q '"messages": \[\]'
  fi
done
# A file that lies is noticed.
sed 's/"ph": "f"/"ph": "s"/' broadcast.trace.json >bad.json
if node "$here/trace_events.mjs" bad.json 7 2>>log; then echo "a broken file was accepted"; exit 1; fi
