#!/bin/sh
# bench/smpi/build.sh BUILD_DIR: compiles the MPI room and the benchmarks with smpicxx against the libraries of a build
# (cmake --preset release && cmake --build --preset release), into BUILD_DIR/bin/smpi_bench and bsp_bench, and what makes the
# simulator fast, BUILD_DIR/bin/libsmpi_detached.so. LEVEL is another optimisation than -O2.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
level=${LEVEL:--O2}
libraries=""
for room in measure show run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
mkdir -p "$build/bin" "$build/smpi"
"${CXX:-c++}" -std=c++20 "$level" -Wall -Wextra -fPIC -shared "$root"/bench/smpi/detached.cpp -ldl -o "$build/bin/libsmpi_detached.so"
for source in "$root"/src/mpi/*.cpp; do
  case $source in */forced.cpp) continue ;; esac  # the simulator has no MPI_T, and nobody here forces its algorithms
  echo "#include \"$source\""
done >"$build/smpi/mpi.cpp"
smpicxx -std=c++20 "$level" -fPIC -DSMPI_NO_OVERRIDE_MALLOC -DCHASQUI_MPI_FLAVOUR='"smpi"' -I"$root/include" -I"$root/src" -c "$build/smpi/mpi.cpp" -o "$build/smpi/mpi.o"
# shellcheck disable=SC2086
smpicxx -std=c++20 "$level" -fPIC -DSMPI_NO_OVERRIDE_MALLOC -I"$root/include" -I"$root/src" "$root"/bench/smpi/smpi_bench.cpp "$build/smpi/mpi.o" \
  $libraries -lfmt -lpthread -o "$build/bin/smpi_bench"
if [ -f "$build/src/bsp/libchasqui_bsp.a" ]; then
  for source in "$root"/src/bsp/mpi/*.cpp "$root"/bench/smpi/bsp_bench.cpp; do echo "#include \"$source\""; done >"$build/smpi/bsp.cpp"
  # shellcheck disable=SC2086
  smpicxx -std=c++20 "$level" -fPIC -DSMPI_NO_OVERRIDE_MALLOC -I"$root/include" -I"$root/src" "$build/smpi/bsp.cpp" "$build/smpi/mpi.o" \
    "$build/src/bsp/libchasqui_bsp.a" "$build/src/threads/libchasqui_threads.a" $libraries \
    $(pkg-config --libs hwloc 2>/dev/null || true) -lboost_context -lfmt -lpthread -o "$build/bin/bsp_bench"
fi
