#!/bin/sh
# bench/bsp_bulk.sh BULK_DIR BUILD_DIR: Bulk's thread back end against ours in one run. BULK_DIR: a checkout of
# github.com/jwbuurlage/Bulk; BUILD_DIR: a build of this tree (cmake --preset release && cmake --build --preset release).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bulk=$1 build=$2
libraries=""
for room in bsp threads run plan schedule model base; do libraries="$libraries $build/src/$room/libchasqui_$room.a"; done
# shellcheck disable=SC2086
"${CXX:-c++}" -std=c++20 -O3 -I"$root/include" -I"$bulk/include" "$root/bench/bsp_bulk.cpp" $libraries \
  $(pkg-config --libs hwloc 2>/dev/null || true) -lboost_context -lfmt -lpthread -o "$build/bin/bsp_bulk"
"$build/bin/bsp_bulk"
