#!/bin/sh
# Makes the Debian packages, installs them into a root of its own, and plans, verifies, draws and runs an MPI program there.
# usage: package.sh BUILD-FOLDER WORK-FOLDER
set -eu
build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/mpi.sh"
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg"; exit 77; }
rm -rf "$work"
mkdir -p "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates"
: >"$work/root/var/lib/dpkg/status"
# Not compressed: that takes longer than everything else here.
(cd "$build" && cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none -B "$work/packages" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
package=$(ls "$work"/packages/chasqui_*.deb)
for each in "$work"/packages/*.deb; do dpkg-deb --field "$each" Description | cksum; done | sort | uniq -d | grep . && { echo "two packages describe themselves alike"; exit 1; }
if dpkg-deb --info "$package" | grep -qE "Depends:.*(openmpi|mpich)"; then
  echo "the program alone must not need an MPI library"
  exit 1
fi

if ! dpkg --root="$work/root" --force-not-root --force-depends --force-script-chrootless -i "$work"/packages/*.deb >"$work/dpkg.log" 2>&1; then
  cat "$work/dpkg.log"
  echo "dpkg could not install into a root of its own: unpacking instead"
  for each in "$work"/packages/*.deb; do dpkg-deb -x "$each" "$work/root"; done
fi
chasqui=$work/root/usr/bin/chasqui
"$chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 --out "$work/b.json" | grep -q "finish *24 (optimal)"
"$chasqui" verify "$work/b.json" | grep -q legal
"$chasqui" draw "$work/b.json" --out "$work/b.svg" && grep -q "<svg" "$work/b.svg"
[ -s "$work/root/usr/share/man/man1/chasqui-plan.1" ] && [ -s "$work/root/usr/share/bash-completion/completions/chasqui" ]
grep -q "IMPORTED_LOCATION" "$work"/root/usr/lib*/cmake/chasqui/chasqui-targets-*.cmake
for mpi in openmpi mpich; do
  if [ -e "$work/root/usr/bin/chasqui-mpi-$mpi" ] && launch "$mpi"; then served "$mpi" "$chasqui" "$work"; fi
done
echo "ok: $(cd "$work/packages" && echo *.deb) install and work"
