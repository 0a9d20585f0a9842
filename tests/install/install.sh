#!/bin/sh
# Installs a build tree into a folder and builds a program against it, through find_package and through pkg-config.
# usage: install.sh BUILD-FOLDER WORK-FOLDER COMPILER
set -eu
build=$1
work=$2
compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"

"$work/prefix/bin/chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 | grep -q "finish *24 (optimal)"
echo "ok: the installed program plans"

cmake -S "$here/project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log"
"$work/cmake/courier" | grep -q "finish 24"
echo "ok: find_package(chasqui)"

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name chasqui.pc)")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  "$compiler" "$here/project/courier.cpp" -o "$work/courier" $(pkg-config --cflags --libs chasqui)
  "$work/courier" | grep -q "finish 24"
  echo "ok: pkg-config chasqui"
else
  echo "skipped: no pkg-config"
fi
