#!/bin/sh
# Builds node_bench, team_bench and both_bench with plain mpicxx and nothing installed but a compiler and an MPI:
#   bench/node/build.sh OUT_DIR [extra include directories for fmt, nlohmann and CLI11 …]
# fmt is used header-only.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
shift
mkdir -p "$out"
includes="-I$root/include -I$root/src"
for directory in "$@"; do includes="$includes -I$directory"; done
flags="-std=c++20 -O3 -march=native -DNDEBUG -DFMT_HEADER_ONLY=1 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DCHASQUI_MPI_FLAVOUR=\"here\" $includes"
mpicxx=${MPICXX:-mpicxx}
embed() {
  cmake "-DTABLE=$root/data/$1.txt" "-DNAME=$2" "-DSOURCE=$out/$1.cpp" -P "$root/src/plan/kernel/embed_table.cmake"
}
embed kernels kShippedKernel
embed kernel_bases kBaseKernel
for room in base model schedule plan run threads mpi measure show; do
  find "$root/src/$room" -name '*.cpp' | while read -r source; do
    echo "$source $out/$(echo "${source#"$root"/src/}" | tr / _).o"
  done
done > "$out/sources.txt"
for table in kernels kernel_bases; do echo "$out/$table.cpp $out/$table.o"; done >> "$out/sources.txt"
# shellcheck disable=SC2086
xargs -P "${JOBS:-$(nproc)}" -n 2 sh -c "$mpicxx $flags -c \"\$0\" -o \"\$1\"" < "$out/sources.txt"
objects=$(cut -d' ' -f2 "$out/sources.txt" | tr '\n' ' ')
# shellcheck disable=SC2086
for program in node_bench team_bench both_bench; do
  $mpicxx $flags "$root/bench/node/$program.cpp" $objects -pthread -o "$out/$program"
done
# chasqui-mpi: `mpirun chasqui-mpi measure --mpi`, and bench and record.
for command in measure bench record; do echo "CHASQUI_COMMAND($command, \"$command\")"; done > "$out/commands.inc"
tool=
for part in commands/measure commands/bench commands/record launch/engine launch/launcher launch/mpi_engine frame/command \
  frame/completion_script frame/help frame/man_page frame/nearest frame/output frame/parse frame/progress frame/registry frame/run_main; do
  tool="$tool $root/src/cli/$part.cpp"
done
# shellcheck disable=SC2086
$mpicxx $flags -I"$out" -DCHASQUI_VERSION=\"here\" $tool $objects -pthread -o "$out/chasqui-mpi"
echo "built $out/node_bench, $out/team_bench and $out/both_bench"
