#!/bin/sh
# bench/wan/build.sh BUILD_DIR: compiles wan_bench with Open MPI and with MPICH against the libraries of a build
# (cmake --preset release && cmake --build --preset release), into BUILD_DIR/bin/wan_bench.openmpi and .mpich, and beside
# them what bench/wan/launch needs: wan_switch and wan_idle.so.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
libraries=""
for room in measure tune show run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
mkdir -p "$build/bin"
${CXX:-c++} -std=c++20 -O2 "$root/bench/wan/switch.cpp" -lpthread -o "$build/bin/wan_switch"
${CC:-cc} -O2 -shared -fPIC "$root/bench/wan/idle.c" -ldl -o "$build/bin/wan_idle.so"
for library in openmpi mpich; do
  command -v "mpicxx.$library" > /dev/null || { echo "no mpicxx.$library: skipped"; continue; }
  # shellcheck disable=SC2086
  "mpicxx.$library" -std=c++20 -O2 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DCHASQUI_MPI_FLAVOUR="\"$library\"" \
    -I"$root/include" -I"$root/src" -I"$root/bench/wan" "$root"/bench/wan/wan_bench.cpp \
    "$build/src/mpi/libchasqui_mpi_$library.a" $libraries -lfmt -lpthread -o "$build/bin/wan_bench.$library"
done
