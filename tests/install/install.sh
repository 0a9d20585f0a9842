#!/bin/sh
# Installs a build tree into a folder and builds programs against it, through find_package and through pkg-config, then
# runs an unchanged MPI program with the installed drop-in library. usage: install.sh BUILD-FOLDER WORK-FOLDER COMPILER
set -eu
build=$1
work=$2
compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/mpi.sh"
rm -rf "$work"
mkdir -p "$work"
# Only looked at, not built: that is for whoever runs the tests.
cmake --build "$build" --target installable -- -n >"$work/installable.log" || { tail "$work/installable.log"; exit 1; }
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
prefix=$work/prefix

"$prefix/bin/chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 | grep -q "finish *24 (optimal)"
echo "ok: the installed program plans"

for command in $("$prefix/bin/chasqui" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
  [ -s "$prefix/share/man/man1/chasqui-$command.1" ] || { echo "no manual page of $command"; exit 1; }
done
[ -s "$prefix/share/man/man1/chasqui.1" ]
grep -q _chasqui "$prefix/share/bash-completion/completions/chasqui"
grep -q '#compdef chasqui' "$prefix"/share/zsh/*/_chasqui
[ -s "$prefix/share/doc/chasqui/docs/tutorial.md" ]
echo "ok: manual pages, completions, documentation"

if [ -s "$prefix/share/chasqui/explorer.html" ]; then
  "$prefix/bin/chasqui" explore --no-open >"$work/address" &
  server=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$work/address" ] || sleep 0.5; done
  kill $server
  grep -q "^http://127.0.0.1:" "$work/address" || { echo "the installed explorer does not find its page"; exit 1; }
  echo "ok: the installed explorer"
fi

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name chasqui.pc)")
export PKG_CONFIG_PATH
cmake -S "$here/project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log"
"$work/cmake/courier" | grep -q "finish 24"
"$work/cmake/everyday" | grep -q "sum 3"
"$work/cmake/plain" | grep -q "finish 24"
echo "ok: find_package(chasqui)"
if command -v pkg-config >/dev/null; then
  # shellcheck disable=SC2046
  "$compiler" "$here/project/courier.cpp" -o "$work/courier" $(pkg-config --cflags --libs chasqui)
  "$work/courier" | grep -q "finish 24"
  echo "ok: pkg-config chasqui"
  # shellcheck disable=SC2046
  cc "$here/project/plain.c" -o "$work/plain" $(pkg-config --cflags --libs chasqui-c)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir chasqui-c) "$work/plain" | grep -q "finish 24"
  echo "ok: pkg-config chasqui-c"
  if pkg-config --exists chasqui-bsp; then
    # shellcheck disable=SC2046
    "$compiler" -std=c++20 "$prefix/share/doc/chasqui/examples/bsp_hello.cpp" -o "$work/bsp" $(pkg-config --cflags --libs chasqui-bsp)
    "$work/bsp" >"$work/bsp.log"
    echo "ok: pkg-config chasqui-bsp"
  fi
else
  echo "skipped: no pkg-config"
fi

for mpi in openmpi mpich; do
  launch "$mpi" || { echo "skipped: no $mpi"; continue; }
  cmake -S "$here/project/mpi" -B "$work/$mpi" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -Dchasqui_MPI=$mpi >"$work/$mpi-configure.log"
  cmake --build "$work/$mpi" >"$work/$mpi-build.log"
  # shellcheck disable=SC2086
  timeout 600 $launcher "$work/$mpi/relay" | grep -q "sum 3 on 2 ranks"
  echo "ok: find_package(chasqui COMPONENTS mpi), $mpi"
  if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046
    "mpicxx.$mpi" "$here/project/mpi/relay.cpp" -o "$work/relay-$mpi" $(pkg-config --cflags --libs chasqui-mpi-$mpi)
    # shellcheck disable=SC2086
    timeout 600 $launcher "$work/relay-$mpi" | grep -q "sum 3 on 2 ranks"
    echo "ok: pkg-config chasqui-mpi-$mpi"
  fi
  served "$mpi" "$prefix/bin/chasqui" "$work"
done
