#!/bin/sh
# SPDX-License-Identifier: MIT
# chasqui run: the report goes through a file of its own. A link that lies in wait under the process's number is not
# written through, nobody else may read the file, and it is gone afterwards, also where a signal ends the run. What no variable can carry is said.
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
# A signal to chasqui is one to the command. It waits for that and tidies up.
TMPDIR=$PWD/tmp "$chasqui" run --mpi "$mpi" -- sh -c 'trap "echo told > told.txt; exit 7" TERM; echo begun > begun.txt; while :; do sleep 0.05; done' > said.txt 2>&1 &
while [ ! -s begun.txt ]; do sleep 0.05; done
kill -TERM $!
status=0; wait $! || status=$?
[ "$status $(cat told.txt)" = "7 told" ] || { echo "status $status"; cat said.txt; exit 1; }
[ "$(ls tmp | wc -l)" = 1 ] || { echo "left behind:"; ls tmp; exit 1; }
# Whoever asks for the report of a rank on another host looks for it where both may see it.
printf '#!/bin/sh\necho report > "$CHASQUI_REPORT"; dirname "$CHASQUI_REPORT" > place.txt\n' > srun && chmod +x srun
TMPDIR=$PWD/tmp "$chasqui" run --mpi "$mpi" -- ./srun > said.txt 2>&1
[ "$(cat place.txt)" = "$PWD" ] || { echo "written in $(cat place.txt)"; exit 1; }
# The variables of this shell reach the ranks too, but for the secret of a group, which does not belong on a command line.
printf '#!/bin/sh\n[ "$1" != --version ] && echo "$@" | tr " " "\\n" > words.txt; exit 0\n' > mpirun && chmod +x mpirun
CHASQUI_AFTER=3 CHASQUI_SECRET=s "$chasqui" run --mpi "$mpi" -- ./mpirun ./app > said.txt 2>&1
grep -q "^CHASQUI_AFTER" words.txt && ! grep -q CHASQUI_SECRET words.txt || { cat words.txt; exit 1; }
# Whoever starts chasqui may ignore the end of children.
for command in "run --mpi $mpi --" "launch -n 2 --"; do
  status=0; timeout 600 sh -c 'trap "" CHLD; exec "$@"' sh "$chasqui" $command sh -c 'exit 3' > said.txt 2>&1 || status=$?
  [ "$status" = 3 ] || { echo "$command: status $status"; cat said.txt; exit 1; }
done
# LD_PRELOAD is divided at spaces, and nothing in it can be quoted: what lies in such a folder cannot be loaded.
mkdir -p "a b/bin" "a b/lib"
cp "$chasqui" "a b/bin/chasqui" && : > "a b/lib/libchasqui-mpi-$mpi.so"
status=0; "a b/bin/chasqui" run --by preload --mpi "$mpi" -- true > said.txt 2>&1 || status=$?
[ "$status" = 2 ] && grep -q "LD_PRELOAD is divided at spaces and colons: install Chasqui in a folder without" said.txt || { cat said.txt; exit 1; }
