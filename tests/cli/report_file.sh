#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui run: the report goes through a file of its own. A link that lies in wait under the process's number is not
# written through, nobody else may read the file, and it is gone afterwards.
#   report_file.sh chasqui folder mpi
set -eu
chasqui=$1 folder=$2 mpi=$3
rm -rf "$folder" && mkdir -p "$folder/tmp" && cd "$folder"
echo mine > victim
# exec keeps the process's number, so the link has the name that a report would have had by it.
TMPDIR=$PWD/tmp sh -c 'ln -s ../victim "tmp/chasqui-report-$$.txt"
  exec "$0" run --mpi "$1" -- sh -c "echo report > \$CHASQUI_REPORT; stat -c %a \$CHASQUI_REPORT"' "$chasqui" "$mpi" > said.txt 2>&1
printf '600\nchasqui run: by its drop-in library for %s\nreport\n' "$mpi" | cmp - said.txt || { echo "printed:"; cat said.txt; exit 1; }
[ "$(cat victim)" = mine ] || { echo "written through a link"; exit 1; }
[ "$(ls tmp | wc -l)" = 1 ] || { echo "left behind:"; ls tmp; exit 1; }
