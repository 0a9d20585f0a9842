#!/bin/sh
# Manual pages: one a command, without a word of complaint from the formatters, and with every option of --help.
# usage: manual.sh CHASQUI WORK-FOLDER. Exit status 77: no formatter here.
set -eu
chasqui=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
"$chasqui" man --all "$work"
tried=0
for page in "$work"/*.1; do
  if command -v mandoc >/dev/null; then
    tried=1
    mandoc -Tlint -W warning "$page" >"$work/lint" 2>&1 || { cat "$work/lint"; exit 1; }
  fi
  if command -v man >/dev/null; then
    tried=1
    MANWIDTH=78 man --warnings -l "$page" 2>"$work/warnings" >"$work/text" || true
    if [ -s "$work/warnings" ]; then cat "$work/warnings"; exit 1; fi
  fi
done
commands=$("$chasqui" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 20 ]
for command in $commands; do
  for option in $("$chasqui" "$command" --help | sed -n 's/^  \(--*[a-zA-Z-]*\).*/\1/p'); do
    grep -qF -- "$(printf '%s' "$option" | sed 's/-/\\-/g')" "$work/chasqui-$command.1" || { echo "chasqui-$command.1 does not have $option"; exit 1; }
  done
done
[ $tried = 1 ] || exit 77
echo "ok: $(ls "$work"/*.1 | wc -l) pages"
