#!/bin/sh
# SPDX-License-Identifier: MIT
# small_memory.sh SIZE COMMAND…: runs it where /dev/shm has SIZE bytes (a mount of its own that ends with the command).
# Where that is forbidden it says so and ends with 77.
size=$1
shift
if ! unshare --mount --map-root-user mount -t tmpfs -o size="$size" none /dev/shm 2>/dev/null; then
  echo "skipped: no permission for mount namespaces here"
  exit 77
fi
exec unshare --mount --map-root-user sh -c 'mount -t tmpfs -o mode=1777,size="$0" none /dev/shm && exec "$@"' "$size" "$@"
