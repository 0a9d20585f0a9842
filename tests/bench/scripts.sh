#!/bin/sh
# The commands of docs/network.md and docs/results.md on as little as they take: two hosts that are this one or are emulated, four simulated ranks.
# usage: scripts.sh SOURCE BUILD WORK-FOLDER
set -eu
source=$1
build=$2
work=$3
rm -rf "$work"
mkdir -p "$work"
for name in OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle; do
  export $name=1
done
export OMPI_MCA_hwloc_base_binding_policy=none
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }

# LAUNCHER LIBRARY HOSTS DELAY PROGRAM …: without a network between the hosts.
printf '#!/bin/sh\nlibrary=$1\nhosts=$2\nshift 3\nexec "mpirun.$library" -np "$hosts" "$@"\n' >"$work/launcher"
chmod +x "$work/launcher"
"$source/bench/wan/build.sh" "$build"
for library in openmpi mpich; do
  [ -x "$build/bin/wan_bench.$library" ] || continue
  "$source/bench/wan/matrix.py" "$build" --launch "$work/launcher {library} {hosts} {delay_us} {program}" --csv "$work/wan.csv" \
    --libraries $library --hosts 2 --delays 1000 --rounds 3 --more '--kinds barrier' >"$work/wan.log" 2>&1 || { cat "$work/wan.log"; exit 1; }
  grep -Eq "^\| barrier \| ([0-9]|late)" "$work/wan.log" && grep -q ",barrier,0,ours " "$work/wan.csv" && grep -q ",barrier,0,default," "$work/wan.csv" ||
    { cat "$work/wan.log"; exit 1; }
  echo "ok: bench/wan, $library"
done

# The network is emulated where that is permitted; bench_wan_openmpi says why where it is not.
if [ -x "$build/bin/wan_bench.openmpi" ] && [ "$(id -u)" = 0 ] && [ -c /dev/net/tun ] &&
  unshare --net --mount --uts --ipc --pid --fork --mount-proc true 2>/dev/null; then
  "$source/bench/wan/matrix.py" "$build" --hosts 2x2 --delays 1000 --libraries openmpi,han --csv "$work/emulated.csv" --timeout 100 \
    --rounds 3 --more '--kinds barrier --forced 0 --seconds 1' >"$work/wan.log" 2>&1 || { cat "$work/wan.log"; exit 1; }
  grep -q "^han 2x2 hosts 1000 us: NODES 2 of 2 to 2 ranks" "$work/wan.log" && grep -q "^openmpi,2x2,1000,barrier,0,default," "$work/emulated.csv" ||
    { cat "$work/wan.log"; exit 1; }
  echo "ok: bench/wan, emulated"
fi

# Every source has an object of its own, whatever names there are in other folders. This compiler only notes what it is to make.
printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  case $1 in -o) shift; echo "$1" >>"%s"; : >"$1" ;; -E) echo "$PREPROCESSED" ;; esac\n  shift\ndone\n' "$work/objects" >"$work/compiler"
chmod +x "$work/compiler"
PREPROCESSED='#define OMPI_MAJOR_VERSION 4' COMPONENT=1 CXX="$work/compiler" MPICXX="$work/compiler" MPICC="$work/compiler" "$source/bench/node/build.sh" "$work/by-hand" >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; exit 1; }
[ "$(wc -l <"$work/objects")" -gt 200 ] && [ -z "$(sort "$work/objects" | uniq -d)" ] || { echo "made twice:"; sort "$work/objects" | uniq -d; exit 1; }
# The libraries are of the files that CMake has.
same_sources() {  # TARGET LIST
  [ -e "$work/../sources_of_$1" ] || return 0
  grep -v ^/ "$work/../sources_of_$1" | sort >"$work/wanted"  # without those that are several files
  sed 's#.* -c [^ ]*/src/preload/##; s# -o .*##' "$2" | sort | diff "$work/wanted" - || { echo "$1: what CMake compiles (<) and build.sh (>) differs"; exit 1; }
}
same_sources chasqui_preload_openmpi "$work/by-hand/preload_list"
same_sources chasqui_component "$work/by-hand/component/list"
PREPROCESSED= CXX="$work/compiler" MPICXX="$work/compiler" MPICC="$work/compiler" "$source/bench/node/build.sh" "$work/by-hand-mpich" >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; exit 1; }
same_sources chasqui_preload_mpich "$work/by-hand-mpich/preload_list"
echo "ok: bench/node/build.sh"

# A program that prints as IMB does: twice as fast where something is preloaded, but for barriers.
cat >"$work/imb" <<'END'
#!/bin/sh
shift 2
[ "$1" = -msglen ] && sizes=$(cat "$2") || exit 1
shift 2
[ -n "${LD_PRELOAD:-}" ] && us=2.00 || us=4.00
for benchmark in "$@"; do
  echo "# Benchmarking $benchmark"
  if [ "$benchmark" = Barrier ]; then
    echo " #repetitions t_min[usec] t_max[usec] t_avg[usec]"
    echo " 1000 1.00 3.00 2.00"
  else
    echo " #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
    for size in $sizes; do echo " $size 1000 1.00 $us 2.00"; done
  fi
done
END
chmod +x "$work/imb"
"$source/bench/node/imb.py" --rival "mpich=$work/imb=/dev/null=env" --sizes 8,1024 --runs 2 --csv "$work/imb.csv" >"$work/imb.log" 2>&1 &&
  grep -qxF "| broadcast | 2.0 | 2.0 |" "$work/imb.log" && grep -qxF "| barrier | 1.00 |  |" "$work/imb.log" &&
  grep -qxF "Below 1: 0 of 17 cells, median 2.00." "$work/imb.log" && [ "$(cut -d, -f1,6 "$work/imb.csv" | uniq | tr '\n' ' ')" = \
  "launch,side 1,native 1,ours 1,native 1,ours 1,native 1,ours 2,ours 2,native 2,ours 2,native 2,ours 2,native " ] || { cat "$work/imb.log"; exit 1; }
echo "ok: bench/node/imb.py"

# Hosts of several ranks: han's ratio is of its own launch; the chosen way was not the fastest; who always began late has no time.
{
  echo "library,hosts,delay_us,kind,bytes,who,rounds,q1_us,median_us,q3_us,predicted_us"
  for row in "openmpi,4x4,50,ours two-level(1),9,1,200,1,100" "openmpi,4x4,50,default,9,1,300,1,0" "openmpi,4x4,50,also two-level(3),9,1,160,1,125" \
    "openmpi,4x4,50,also tree(0),9,1,400,1,500" "han,4x4,50,ours two-level(1),9,1,100,1,100" "han,4x4,50,default,9,1,250,1,0" \
    "mpich,8x2,1000,ours two-level(2),0,1,150,1,100" "mpich,8x2,1000,default,9,1,300,1,0"; do
    echo "$row" | sed 's/^\([^,]*,[^,]*,[^,]*\),/\1,barrier,0,/'
  done
} >"$work/nodes.csv"
"$source/bench/wan/matrix.py" "$build" --table --csv "$work/nodes.csv" >"$work/nodes.log" 2>&1 || { cat "$work/nodes.log"; exit 1; }
for line in "openmpi: default / ours, han / ours" "| | 4 x 4, 50 us |" "| barrier | 1.50, 2.50 |" "| barrier | 1.25 (0.80), 1.25 |" "mpich: default / ours" "| | 8 x 2, 1 ms |" "| barrier | - |"; do
  grep -qxF "$line" "$work/nodes.log" || { echo "missing: $line"; cat "$work/nodes.log"; exit 1; }
done
echo "ok: bench/wan, several ranks a host"

# Chasqui by its library, and as a user starts it: as component and as library. (asan: it must be loaded before ours)
rivals() {  # NAME LAUNCHER FLAVOUR BY options…
  name=$1 launcher=$2 flavour=$3 by=$4
  shift 4
  "$source/bench/node/rivals.py" --rival "$name=$build/bin=$launcher -np {ranks}" --program "node_bench_$flavour" \
    --library "../lib/libchasqui-mpi-$flavour.so" --only default --ranks 2 --runs 1 --modes sync --kinds reduce --sizes 8 --seconds 0.001 \
    --csv "$work/rivals.csv" "$@" >"$work/rivals.log" 2>&1 || { cat "$work/rivals.log"; exit 1; }
  grep -q "^| reduce | .*[0-9]" "$work/rivals.log" && grep -q "^| $name | .sync., 2 ranks | 1 | [01] of 1 | .* | reduce 8 B [0-9.]* |$" "$work/rivals.log" &&
    grep -q "^1,[-0-9]*,[^,]*,$name,default,[a-z ]*,$by,sync,reduce,8,2," "$work/rivals.csv" || { cat "$work/rivals.log" "$work/rivals.csv"; exit 1; }
  echo "ok: bench/node/rivals.py, $flavour, $by"
}
for flavour in openmpi mpich; do
  [ -x "$build/bin/node_bench_$flavour" ] && [ -e "$build/lib/libchasqui-mpi-$flavour.so" ] || continue
  name=$flavour
  [ $flavour = mpich ] || name=openmpi4
  rivals $name mpirun.$flavour $flavour LD_PRELOAD
  rivals $name mpirun.$flavour $flavour "chasqui run: drop-in library" --run chasqui --by preload --delivered
done
if [ -x "$build/bin/node_bench_openmpi" ] && [ -e "$build/lib/chasqui/openmpi/mca_coll_chasqui.so" ]; then
  rivals openmpi4 mpirun.openmpi openmpi "chasqui run: component" --run chasqui
fi
# Every section has at least one launch, and what it has no time for is said.
if [ -x "$build/bin/node_bench_openmpi" ] && [ -e "$build/lib/libchasqui-mpi-openmpi.so" ]; then
  mkdir "$work/out"
  ln -s "$build/bin/node_bench_openmpi" "$work/out/node_bench"
  ln -s "$build/lib/libchasqui-mpi-openmpi.so" "$work/out/libchasqui-mpi.so"
  cp "$work/imb" "$work/out/IMB-MPI1"
  "$source/bench/node/everything.py" "$work/raw" 2 --rival "openmpi4=$work/out=mpirun.openmpi -np 2" --only apart,imb --seconds 0.001 >"$work/raw.log" 2>&1 &&
    grep -q ",skew=100,reduce,4096,2," "$work/raw/rivals_apart.csv" && grep -q "^1,.*,openmpi4,default,ours,Scatter,8,2.0" "$work/raw/imb.csv" &&
    grep -q "left out for lack of time: [1-9]" "$work/raw.log" && grep -q "^imb: [0-9]* of " "$work/raw.log" || { cat "$work/raw.log"; exit 1; }
  echo "ok: bench/node/everything.py"
fi
if [ -x "$build/bin/node_bench_openmpi" ]; then
  if mpirun.openmpi -np 2 "$build/bin/node_bench_openmpi" --modes back-to-back >"$work/refused.log" 2>&1 ||
    ! grep -q "^node_bench: --modes back-to-back: there are sync, skew, burst, cold$" "$work/refused.log"; then
    cat "$work/refused.log"
    exit 1
  fi
  echo "ok: node_bench refuses what it does not know"
fi

[ -x "$build/bin/smpi_bench" ] || { echo "skipped: no SimGrid"; exit 0; }
"$source/bench/smpi/matrix.py" "$build" --csv "$work/smpi.csv" --ranks 4 --machines lan --modes shared --cases barrier:0 >"$work/smpi.log" 2>&1 ||
  { cat "$work/smpi.log"; exit 1; }
grep -q "^| barrier | [0-9.]* / [0-9.]* |" "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
"$source/bench/smpi/sweep.py" "$build" --csv "$work/sweep.csv" --ranks 2-6 --machines lan --cases "barrier:0 broadcast:8" >"$work/smpi.log" 2>&1 ||
  { cat "$work/smpi.log"; exit 1; }
grep -q "^| shared lan broadcast 8 | 2 to 6 |" "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
"$source/bench/smpi/lanes.py" "$build" --csv "$work/lanes.csv" --nodes 3 --ranks 2 --machines lan --sizes 8 --rivals 0 >"$work/smpi.log" 2>&1 &&
  grep -q "^| barrier | [0-9.]*, -, - |" "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
"$source/bench/smpi/lanes.py" "$build" --csv "$work/inside.csv" --nodes 3 --ranks 2 --machines lan --kinds allreduce --sizes 65536 --inside 11.87GBps >"$work/smpi.log" 2>&1 &&
  grep -q "^| allreduce 64 KiB | [0-9.]*, [0-9.]*, - |" "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
if [ -x "$build/bin/bsp_bench" ]; then
  "$source/bench/smpi/bsp.py" "$build" 13 >"$work/smpi.log" 2>&1 && grep -q "^| 13 | [0-9.]* " "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
  "$source/bench/smpi/bsp.py" "$build" 12 3 >"$work/smpi.log" 2>&1 && grep -q "^| 4 x 3 | [0-9.]* -> [0-9.]* " "$work/smpi.log" || { cat "$work/smpi.log"; exit 1; }
fi
echo "ok: bench/smpi"
