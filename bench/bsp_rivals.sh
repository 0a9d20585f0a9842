#!/bin/sh
# bench/bsp_rivals.sh BULK_DIR LPF_DIR BUILD_DIR: Bulk and LPF on threads against ours in one run, and Bulk over Open MPI (RANKS, 2). BULK_DIR, LPF_DIR: checkouts of
# github.com/jwbuurlage/Bulk and github.com/Algebraic-Programming/LPF, whose engine of threads is compiled as its own CMake file says, into
# BUILD_DIR; that is a build of this tree (cmake --preset release && cmake --build --preset release).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bulk=$1 lpf=$2 build=$3
work=$build/bsp_rivals
mkdir -p "$work"
objects=""
for file in pthreads/msgqueue pthreads/barrier pthreads/globalstate pthreads/threadlocaldata pthreads/core pthreads/init common/machineparams \
  common/time common/config common/log common/stack; do
  object=$work/$(basename $file).o
  "${CXX:-c++}" -std=c++11 -O3 -DNDEBUG -w -D_POSIX_C_SOURCE=200112L -DLPF_CORE_LOG_LEVEL=2 -DLPF_CORE_WARM_UP_PROBE=1 \
    -DLPF_CORE_IMPL_ID=pthread -DLPF_CORE_IMPL_CONFIG=chasqui -I"$lpf/include" -I"$lpf/src/common" -I"$lpf/src/pthreads" -c "$lpf/src/$file.cpp" -o "$object" &
  objects="$objects $object"
done
"${CC:-cc}" -O3 -w -I"$lpf/src/common" -c "$lpf/src/common/rng.c" -o "$work/rng.o"
wait
libraries=""
for room in bsp threads run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
# shellcheck disable=SC2086
"${CXX:-c++}" -std=c++20 -O3 -I"$root/include" -I"$bulk/include" -I"$lpf/include" "$root/bench/bsp_rivals.cpp" $objects "$work/rng.o" $libraries \
  $(pkg-config --libs hwloc 2>/dev/null || true) -lboost_context -lfmt -ldl -lrt -lpthread -o "$build/bin/bsp_rivals"
LPF_ENGINE=pthread "$build/bin/bsp_rivals"
# shellcheck disable=SC2086
mpicxx.openmpi -std=c++20 -O3 -DBSP_RIVALS_MPI -DOMPI_SKIP_MPICXX -I"$root/include" -I"$bulk/include" "$root/bench/bsp_rivals.cpp" "$build/src/bsp/libchasqui_bsp_mpi_openmpi.a" \
  "$build/src/mpi/libchasqui_mpi_openmpi.a" \
  $libraries $(pkg-config --libs hwloc 2>/dev/null || true) -lboost_context -lfmt -ldl -lrt -lpthread -o "$build/bin/bsp_rivals_mpi"
mpirun.openmpi -np "${RANKS:-2}" "$build/bin/bsp_rivals_mpi"
