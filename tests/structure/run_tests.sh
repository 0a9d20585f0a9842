#!/bin/sh
# scripts/run-tests: a test that fails once passes and is named, one that fails twice fails, and a wrong call is told apart.
# usage: run_tests.sh SCRIPT WORK-FOLDER
set -eu
script=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(tried LANGUAGES NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME once COMMAND sh -c "rmdir tried || { mkdir tried; false; }")
add_test(NAME twice COMMAND false)
END
cat > CMakePresets.json <<'END'
{"version": 6,
 "configurePresets": [{"name": "tried", "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/build/tried"}],
 "testPresets": [{"name": "tried", "configurePreset": "tried"}]}
END
fail() { echo "$1"; cat log; exit 1; }
cmake --preset tried >log 2>&1 || fail "no such project can be made"

"$script" tried -R good >log 2>&1 || fail "a good test failed"
! grep -q "once more" log || fail "a good test ran twice"

"$script" tried -E twice >log 2>&1 || fail "a test that fails once counted as a failure"
grep -q "== passed only when they ran alone.*: once" log || fail "it was not named"

if "$script" tried >log 2>&1; then fail "a test that fails twice passed"; fi
if "$script" none >log 2>&1; then fail "a preset that is not there passed"; fi
! grep -q "once more" log || fail "a wrong call was made twice"
echo "ok"
