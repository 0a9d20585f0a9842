#!/bin/sh
# bench/smpi/build.sh BUILD_DIR: compiles the MPI room and the benchmark with smpicxx against the libraries of a build
# (cmake --preset release && cmake --build --preset release), into BUILD_DIR/bin/smpi_bench,
# and what makes the simulator fast, BUILD_DIR/bin/libsmpi_detached.so.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
libraries=""
for room in measure run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
mkdir -p "$build/bin"
"${CXX:-c++}" -std=c++20 -O2 -Wall -Wextra -fPIC -shared "$root"/bench/smpi/detached.cpp -ldl -o "$build/bin/libsmpi_detached.so"
# shellcheck disable=SC2086
smpicxx -std=c++20 -O2 -fPIC -DSMPI_NO_OVERRIDE_MALLOC -DCHASQUI_MPI_FLAVOUR='"smpi"' -I"$root/include" -I"$root/src" \
  "$root"/bench/smpi/smpi_bench.cpp "$root"/src/mpi/*.cpp $libraries -lfmt -lpthread -o "$build/bin/smpi_bench"
