#!/bin/sh
# Every C++ file is laid out as .clang-format says: layout.sh CLANG_FORMAT ROOT
set -eu
cd "$2"
find include src tests bench examples explorer python \( -name node_modules -o -name build \) -prune -o \
  \( -name '*.cpp' -o -name '*.hpp' \) -print0 | xargs -0 "$1" --dry-run --Werror
