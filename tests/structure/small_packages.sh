#!/bin/sh
# What scripts/install-packages --small installs is enough for the programs: without the packages of the tests CMake leaves the tests
# away, and the programs are built as ever. usage: small_packages.sh SOURCE WORK-FOLDER
set -eu
rm -rf "$2"
mkdir -p "$2"
cmake -S "$1" -B "$2" -G Ninja -DCHASQUI_CCACHE=OFF -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON >"$2/log" 2>&1 ||
  { cat "$2/log"; exit 1; }
for words in "GoogleTest or RapidCheck not found: tests are skipped" "Google Benchmark not found: benchmarks are skipped"; do
  grep -q "$words" "$2/log" || { echo "not said: $words"; cat "$2/log"; exit 1; }
done
ninja -C "$2" -t commands programs >"$2/steps"
grep -q "bin/chasqui " "$2/steps" && ! grep -E "$1/(tests|bench)/" "$2/steps" || { echo "the programs need what is there for tests only"; exit 1; }
