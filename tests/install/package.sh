#!/bin/sh
# Makes the Debian package, installs it into a root of its own, and plans, verifies and draws with what is there.
# usage: package.sh BUILD-FOLDER WORK-FOLDER
set -eu
build=$1
work=$2
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg"; exit 77; }
rm -rf "$work"
mkdir -p "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates"
: >"$work/root/var/lib/dpkg/status"
(cd "$build" && cpack -G DEB -B "$work/packages" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
package=$(ls "$work"/packages/chasqui_*.deb)
dpkg-deb --info "$package" | grep -q "Package: chasqui"

if ! dpkg --root="$work/root" --force-not-root --force-depends --force-script-chrootless -i "$package" >"$work/dpkg.log" 2>&1; then
  cat "$work/dpkg.log"
  echo "dpkg could not install into a root of its own: unpacking instead"
  dpkg-deb -x "$package" "$work/root"
fi
chasqui=$work/root/usr/bin/chasqui
"$chasqui" plan broadcast -P 8 -L 6 -o 2 -g 4 --out "$work/b.json" | grep -q "finish *24 (optimal)"
"$chasqui" verify "$work/b.json" | grep -q legal
"$chasqui" draw "$work/b.json" --out "$work/b.svg" && grep -q "<svg" "$work/b.svg"
grep -q "IMPORTED_LOCATION" "$work"/root/usr/lib*/cmake/chasqui/chasqui-targets-*.cmake
echo "ok: $(basename "$package") installs and works"
