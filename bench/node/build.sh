#!/bin/sh
# Builds node_bench and the drop-in library, team_bench, both_bench and chasqui-mpi (`mpirun chasqui-mpi measure --mpi`) with plain
# mpicxx and nothing installed but a compiler and an MPI, as they are delivered (-O3, no flags of this machine):
#   bench/node/build.sh OUT_DIR [extra include directories for fmt, nlohmann and CLI11 …]
# COMPONENT=1: and the component of Open MPI 4.1, in OUT_DIR/component, with ongoing, by MPICC (mpicc). MPICXX: another MPI's compiler; COMMON: a folder for what knows no MPI, shared by several OUT_DIRs; PROGRAMS: only these.
# fmt is used header-only.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
shift
common=${COMMON:-$out}
programs=${PROGRAMS:-node_bench team_bench both_bench chasqui-mpi}
mkdir -p "$out" "$common"
includes="-I$root/include -I$root/src"
for directory in "$@"; do includes="$includes -I$directory"; done
flags="-std=c++20 -O3 -fPIC -DNDEBUG -DFMT_HEADER_ONLY=1 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DCHASQUI_MPI_FLAVOUR='\"here\"' $includes"
mpicxx=${MPICXX:-mpicxx}
# A line for each object: its compiler and flags, its source, itself. Files in different folders may have one name.
objects() {
  compiler=$1 to=$2
  shift 2
  for source in "$@"; do echo "$compiler $flags -c $source -o $to/$(echo "${source#"$root"/}" | tr / _).o"; done
}
sources() {
  for room in "$@"; do find "$root/src/$room" -name '*.cpp'; done
}
embed() {
  cmake "-DTABLE=$root/data/$1.txt" "-DNAME=$2" "-DSOURCE=$common/$1.cpp" -P "$root/src/plan/kernel/embed_table.cmake"
}
compile() { xargs -P "${JOBS:-$(nproc)}" -d '\n' -n 1 sh -c 2>&1; }
if [ -z "$(find "$common/done" -newer "$root/src" 2>/dev/null)" ] || [ -n "$(find "$root/src" "$root/include" -newer "$common/done" -name '*pp')" ]; then
  embed kernels kShippedKernel
  embed kernel_bases kBaseKernel
  # shellcheck disable=SC2046
  objects "${CXX:-c++}" "$common" "$common/kernels.cpp" "$common/kernel_bases.cpp" $(sources base model schedule plan run threads measure show tune) >"$common/shared_list"
  compile <"$common/shared_list"
  touch "$common/done"
fi
shared=$(sed 's/.* //' "$common/shared_list" | tr '\n' ' ')
mkdir -p "$out/mpi" "$out/pmpi" "$out/cli"
# shellcheck disable=SC2046
{
  objects "$mpicxx" "$out/mpi" $(sources mpi)
  objects "$mpicxx -include $root/src/mpi/through_pmpi.hpp" "$out/pmpi" \
    $(sources mpi | grep -v -e /comm.cpp -e /forced.cpp -e /native.cpp)
  objects "$mpicxx -ftls-model=initial-exec" "$out/pmpi" $(sources preload | grep -v /component/)
} >"$out/list"
compile <"$out/list"
# shellcheck disable=SC2086
$mpicxx -shared "$out"/pmpi/*.o $shared -Wl,--version-script="$root/src/preload/exported.map" -pthread -ldl -o "$out/libchasqui-mpi.so"
if [ -n "${COMPONENT:-}" ]; then
  folder=$out/component
  mkdir -p "$folder/objects"
  ${MPICC:-mpicc} -O3 -fPIC -DNDEBUG "-I$root/src" -c "$root/src/preload/component/component.c" -o "$folder/objects/component.o"
  # shellcheck disable=SC2046
  objects "$mpicxx -DCHASQUI_COMPONENT" "$folder/objects" $(sources preload |
    grep -v -e /foreign_library.cpp -e /preload/native.cpp -e /preload/handshake.cpp -e /init_calls.cpp -e /nonblocking_calls.cpp) >"$folder/list"
  compile <"$folder/list"
  # shellcheck disable=SC2086
  $mpicxx -shared "$folder"/objects/*.o "$out"/pmpi/src_mpi_*.o $shared -Wl,--version-script="$root/src/preload/component/exported.map" \
    -Wl,-z,nodelete -pthread -ldl -o "$folder/mca_coll_chasqui.so"
  $mpicxx -std=c++20 -O2 -DOMPI_SKIP_MPICXX "$root/bench/node/ongoing.cpp" -o "$out/ongoing"
fi
for program in $programs; do
  source="$root/bench/node/$program.cpp"
  if [ "$program" = chasqui-mpi ]; then
    for command in measure bench record tune cliffs; do echo "CHASQUI_COMMAND($command, \"$command\")"; done >"$out/cli/commands.inc"
    flags="$flags -I$out/cli"
    for part in commands/measure commands/bench commands/record commands/tune commands/cliffs launch/engine launch/mpi_engine frame/completion_script frame/help \
      frame/interrupt frame/man_page frame/nearest frame/output frame/parse frame/progress frame/registry frame/run_main; do
      objects "$mpicxx" "$out/cli" "$root/src/cli/$part.cpp"
    done >"$out/cli/objects"
    compile <"$out/cli/objects"
    source="$out/cli/*.o"
  fi
  echo "$mpicxx $flags -DNODE_BENCH_CHASQUI $source $out/mpi/*.o $shared -pthread -o $out/$program" | compile
done
echo "built in $out: libchasqui-mpi.so $programs"
