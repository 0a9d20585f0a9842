#!/bin/sh
# Builds node_bench and the drop-in library, team_bench, both_bench, regret, chasqui-mpi (`mpirun chasqui-mpi measure --mpi`) and chasqui (`chasqui run`
# alone) with plain mpicxx and nothing installed but a compiler and an MPI, as they are delivered (-O3, no flags of this machine):
#   bench/node/build.sh OUT_DIR [extra include directories for fmt, nlohmann and CLI11 …]
# chasqui is in OUT_DIR/bin, and finds what it loads in OUT_DIR/lib. COMPONENT=1: and the component of Open MPI 4.1, in OUT_DIR/lib/chasqui/openmpi, with
# ongoing, by MPICC (else MPICXX's). MPICXX: another MPI's compiler; COMMON: a folder for what knows no MPI, shared by several OUT_DIRs; PROGRAMS: only these;
# OPTIMISE: another -O. fmt is used header-only.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
shift
common=${COMMON:-$out}
programs=${PROGRAMS:-node_bench team_bench both_bench regret chasqui chasqui-mpi}
mkdir -p "$out" "$common"
out=$(cd "$out" && pwd) common=$(cd "$common" && pwd)
includes="-I$root/include -I$root/src"
for directory in "$@"; do includes="$includes -I$directory"; done
flags="-std=c++20 ${OPTIMISE:--O3} -fPIC -DNDEBUG -DFMT_HEADER_ONLY=1 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DCHASQUI_MPI_FLAVOUR='\"here\"' $includes"
mpicxx=${MPICXX:-mpicxx}
mpicc=${MPICC:-$(echo "$mpicxx" | sed 's/mpicxx\([^/]*\)$/mpicc\1/; s/mpic++\([^/]*\)$/mpicc\1/')}
# A line for each object: its compiler and flags, its source, itself. Files in different folders may have one name.
objects() {
  compiler=$1 to=$2
  shift 2
  mkdir -p "$to"
  for source in "$@"; do echo "$compiler $flags -c $source -o $to/$(echo "${source#"$root"/}" | tr / _).o"; done
}
# What such lines make. Others of an earlier build may lie beside them.
made() { sed 's/.* //' "$@" | tr '\n' ' '; }
sources() {
  for room in "$@"; do find "$root/src/$room" -name '*.cpp'; done
}
of_cli() {
  for part in "$@"; do echo "$root/src/cli/$part.cpp"; done
}
embed() {
  cmake "-DTABLE=$root/data/$1.txt" "-DNAME=$2" "-DSOURCE=$common/$1.cpp" -P "$root/src/plan/kernel/embed_table.cmake"
}
compile() { xargs -P "${JOBS:-$(nproc)}" -d '\n' -n 1 sh -c 2>&1; }
wants() { case " $programs " in *" $1 "*) ;; *) return 1 ;; esac; }
frame="frame/completion_script frame/help frame/interrupt frame/man_page frame/nearest frame/output frame/parse frame/progress frame/registry frame/run_main"

# What knows no MPI: the rooms, and `chasqui run`.
fresh() { [ -e "$1" ] && [ -z "$(find "$root/src" "$root/include" -newer "$1" -name '*pp')" ]; }
if ! fresh "$common/done"; then
  embed kernels kShippedKernel
  embed kernel_bases kBaseKernel
  # shellcheck disable=SC2046
  objects "${CXX:-c++}" "$common" "$common/kernels.cpp" "$common/kernel_bases.cpp" $(sources base model schedule plan run threads measure show tune) >"$common/shared_list"
  compile <"$common/shared_list"
  touch "$common/done"
fi
shared=$(made "$common/shared_list")
flavour=mpich
if echo '#include <mpi.h>' | $mpicxx -x c++ -E -dM - 2>/dev/null | grep -q OMPI_MAJOR_VERSION; then flavour=openmpi; fi
if wants chasqui; then
  mkdir -p "$common/run" "$out/bin" "$out/lib"
  if ! fresh "$common/run/chasqui"; then
    echo 'CHASQUI_COMMAND(run, "run")' >"$common/run/commands.inc"
    # shellcheck disable=SC2046,SC2086
    objects "${CXX:-c++} -I$common/run -DCHASQUI_LIBDIR='\"lib\"'" "$common/run" $(of_cli commands/run launch/attended launch/drop_in launch/launchers \
      launch/linked_mpi launch/preloaded frame/main $frame) >"$common/run/list"
    compile <"$common/run/list"
    # shellcheck disable=SC2046,SC2086
    ${CXX:-c++} $(made "$common/run/list") $shared -pthread -o "$common/run/chasqui"
  fi
  cp "$common/run/chasqui" "$out/bin/chasqui"  # it looks beside itself
  ln -sf ../libchasqui-mpi.so "$out/lib/libchasqui-mpi-$flavour.so"
fi

# The drop-in library. Under MPICH it has a part of the component, too.
flavour_parts() {
  if [ $flavour = openmpi ]; then grep -v -e /component/ -e /hooked/; else sed '/.component./{/ongoing/!d;}'; fi
}
# shellcheck disable=SC2046
{
  objects "$mpicxx" "$out/mpi" $(sources mpi) >"$out/mpi_list"
  objects "$mpicxx -include $root/src/mpi/through_pmpi.hpp" "$out/pmpi" $(sources mpi | grep -v -e /comm.cpp -e /forced.cpp -e /native.cpp) >"$out/pmpi_list"
  objects "$mpicxx -ftls-model=initial-exec" "$out/pmpi" $(sources preload | flavour_parts) >"$out/preload_list"
}
cat "$out/mpi_list" "$out/pmpi_list" "$out/preload_list" | compile
# shellcheck disable=SC2046,SC2086
$mpicxx -shared $(made "$out/pmpi_list" "$out/preload_list") $shared -Wl,--version-script="$root/src/preload/exported.map" -pthread -ldl -o "$out/libchasqui-mpi.so"

if [ -n "${COMPONENT:-}" ]; then
  printf '#include <ompi_config.h>\n#include <ompi/mca/coll/coll.h>\n#if OMPI_MAJOR_VERSION != 4 || OMPI_MINOR_VERSION != 1\n#error not Open MPI 4.1\n#endif\n' >"$out/inside.c"
  $mpicc -c "$out/inside.c" -o "$out/inside.o" ||
    { echo "COMPONENT=1: $mpicc is not that of Open MPI 4.1 with its internal headers (apt install libopenmpi-dev); MPICC names another" >&2 && exit 1; }
  mkdir -p "$out/component" "$out/lib/chasqui/openmpi"
  # shellcheck disable=SC2046
  {
    echo "$mpicc ${OPTIMISE:--O3} -fPIC -DNDEBUG -I$root/src -c $root/src/preload/component/component.c -o $out/component/component.o"
    objects "$mpicxx -DCHASQUI_COMPONENT" "$out/component" $(sources preload |
      grep -v -e /hooked/ -e /start/foreign_library.cpp -e /preload/native.cpp -e /start/handshake.cpp -e /calls/init_calls.cpp -e /calls/nonblocking_calls.cpp)
  } >"$out/component/list"
  compile <"$out/component/list"
  # shellcheck disable=SC2046,SC2086
  $mpicxx -shared $(made "$out/component/list" "$out/pmpi_list") $shared -Wl,--version-script="$root/src/preload/component/exported.map" \
    -Wl,-z,nodelete -lopen-pal -pthread -ldl -o "$out/lib/chasqui/openmpi/mca_coll_chasqui.so"
  $mpicxx -std=c++20 -O2 -DOMPI_SKIP_MPICXX "$root/bench/node/ongoing.cpp" -o "$out/ongoing"
fi

for program in $programs; do
  source="$root/bench/node/$program.cpp"
  case $program in
    chasqui) continue ;;
    chasqui-mpi)
      mkdir -p "$out/cli"
      for command in measure bench record tune cliffs; do echo "CHASQUI_COMMAND($command, \"$command\")"; done >"$out/cli/commands.inc"
      # shellcheck disable=SC2046,SC2086
      objects "$mpicxx -I$out/cli" "$out/cli" $(of_cli commands/measure commands/bench commands/record commands/tune commands/cliffs launch/engine \
        launch/mpi_engine $frame) >"$out/cli/list"
      compile <"$out/cli/list"
      source=$(made "$out/cli/list")
      ;;
  esac
  echo "$mpicxx $flags -DNODE_BENCH_CHASQUI $source $(made "$out/mpi_list") $shared -pthread -o $out/$program" | compile
done
echo "built in $out: libchasqui-mpi.so $programs"
