#!/bin/sh
# bench/smpi/build.sh BUILD_DIR: compiles the MPI room and the benchmark with smpicxx against the libraries of a build
# (cmake --preset release && cmake --build --preset release), into BUILD_DIR/bin/smpi_bench.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
libraries=""
for room in run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
# shellcheck disable=SC2086
smpicxx -std=c++20 -O2 -fPIC -DSMPI_NO_OVERRIDE_MALLOC -DCHASQUI_MPI_FLAVOUR='"smpi"' -I"$root/include" -I"$root/src" \
  "$root"/bench/smpi/smpi_bench.cpp "$root"/src/mpi/*.cpp $libraries -lfmt -lpthread -o "$build/bin/smpi_bench"
