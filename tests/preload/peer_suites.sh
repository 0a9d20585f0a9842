#!/bin/sh
# scripts/peer-suites on a suite of five scripts and a launcher that starts one process: what it finds, counts, ends and keeps.
# usage: peer_suites.sh SOURCE WORK-FOLDER
set -eu
source=$1
work=$2
fail() { echo "peer_suites.sh: $1"; cat "$work/out" 2>/dev/null; exit 1; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
rm -rf "$work"
mkdir -p "$work/bin" "$work/suite/test/mpi/coll" "$work/build/lib"
: > "$work/build/lib/libchasqui-mpi-openmpi.so"  # the loader passes over an empty file

# "native" or what the drop-in library would have been told, and a report as it writes one.
cat > "$work/bin/mpirun.openmpi" <<'END'
#!/bin/sh
echo called >> "$(dirname "$0")/mpirun.calls"
shift 2
mode=native
[ "$1" = env ] && mode=served${CHASQUI_NODE_SIZE:+_nodes}
[ "$1" = env ] && shift 2
[ $mode = native ] || echo '{"collectives":[{"ours":3},{"ours":4}],"different":0}' > "$CHASQUI_REPORT"
MODE=$mode exec "$@"
END
printf '#!/bin/sh\n' > "$work/bin/mpicc.openmpi"
chmod +x "$work/bin"/*
cd "$work/suite/test/mpi"
printf '@folder@\n' > testlist.in
printf 'good 2\ngood 2 arg=-x\nlost 2\nwon 9\nhangs 2 # a comment\ndiffers 3\nnever 2\n' > coll/testlist
script() { printf '#!/bin/sh\n%s\n' "$2" > "coll/$1.sh"; chmod +x "coll/$1.sh"; }
script good 'echo No Errors'
script lost '[ $MODE != served_nodes ] && echo No Errors'
script won '[ $MODE = native ] || echo No Errors'
script hangs "[ -e '$work/no_hang' ] || { sleep 100000 & echo \$! >> '$work/hung'; wait; }; echo No Errors"
script differs 'sed -i "s/\"different\":0/\"different\":2/" "${CHASQUI_REPORT:-/dev/null}" 2>/dev/null; echo No Errors'
cat > configure <<'END'
#!/bin/sh
case "$*" in *" MPICC=mpicc.openmpi "*) ;; *) exit 1 ;; esac
mkdir -p coll
echo coll > testlist
echo all: > Makefile
printf 'good lost won hangs differs:\n\tcp %s/coll/$@.sh $@\n' "$(dirname "$0")" > coll/Makefile
END
chmod +x configure
cd "$work"
run() { PATH="$work/bin:$PATH" "$source/scripts/peer-suites" "$work/suite" --build "$work/build" --work "$work/kept" --mpi openmpi \
  --modes default,nodes "$@" > "$work/out" 2>&1; }

# Nothing hangs yet: no program has a limit that a slow machine could reach.
touch no_hang
status=0
run --limit 600 || status=$?
[ $status = 1 ] || fail "status $status, not 1"
grep -q '^openmpi: 6 programs' out || fail "not six programs"
grep -q '^| native | 5 of 6 |' out || fail "natively"
grep -q '^| default | 5 of 6 | – | – | – | 1 | 1 | 42 |' out || fail "the table"
grep -q '^| nodes | 4 of 6 | – | – | – | 2 | 1 | 42 |' out || fail "the table of the nodes"
grep -q 'passes natively, not with the library: mpich coll/lost (2), nodes: status 1 (again)' out || fail "lost"
grep -q 'not with the library: mpich coll/differs (3), default: 2 results differ from the MPI library.s (again)' out || fail "differs"
grep -q 'passes with the library, not natively: mpich coll/won (4), default' out || fail "won"
grep -q 'cannot be built for openmpi .*: coll/never$' out || fail "what cannot be built"
[ "$(wc -l < kept/results.jsonl)" = 18 ] || fail "results"

# What is known is not run again; what was cut off is.
sed -i '$d' kept/results.jsonl
: > bin/mpirun.calls
run --limit 600 --only coll/ || true
[ "$(wc -l < kept/results.jsonl)" = 18 ] || fail "it did not go on"
[ "$(wc -l < bin/mpirun.calls)" -le 2 ] || fail "it began again"

# One that hangs is ended, with all that it has started; and no other is asked for.
rm no_hang
sed -i '/hangs.*"default"/d; /good/d' kept/results.jsonl
: > bin/mpirun.calls
run --limit 2 --only hangs || true
grep -q 'passes natively, not with the library: mpich coll/hangs (2), default: not done after 2 s (again)' out || fail "hangs"
[ "$(wc -l < bin/mpirun.calls)" = 2 ] || fail "more than --only was run"
[ "$(wc -l < hung)" = 2 ] || fail "it was not tried twice"
for process in $(cat hung); do
  [ ! -e "/proc/$process" ] || ! grep -q sleep "/proc/$process/cmdline" || fail "process $process was left behind"
done

status=0
"$source/scripts/peer-suites" "$work/bin" --build "$work/build" --work "$work/none" > out 2>&1 || status=$?
[ $status = 2 ] && grep -q 'nothing to run' out || fail "a folder without a suite"
echo "ok: peer-suites"
