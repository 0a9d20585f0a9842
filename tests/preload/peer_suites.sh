#!/bin/sh
# scripts/peer-suites on a suite of four scripts and a launcher that starts one process: what it finds, counts, ends and keeps.
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
shift 2
mode=native
[ "$1" = env ] && mode=served
[ "$1" = env ] && shift 2
[ $mode = native ] || echo '{"collectives":[{"ours":3},{"ours":4}],"different":0}' > "$CHASQUI_REPORT"
MODE=$mode exec "$@"
END
printf '#!/bin/sh\n' > "$work/bin/mpicc.openmpi"
chmod +x "$work/bin"/*
cd "$work/suite/test/mpi"
printf '@folder@\n' > testlist.in
printf 'good 2\ngood 2 arg=-x\nlost 2\nwon 9\nhangs 2 # a comment\nnever 2\n' > coll/testlist
script() { printf '#!/bin/sh\n%s\n' "$2" > "coll/$1.sh"; chmod +x "coll/$1.sh"; }
script good 'echo No Errors'
script lost '[ $MODE = native ] && echo No Errors'
script won '[ $MODE = served ] && echo No Errors'
script hangs '[ $MODE = native ] || sleep 1000; echo No Errors'
cat > configure <<'END'
#!/bin/sh
case "$*" in *" MPICC=mpicc.openmpi "*) ;; *) exit 1 ;; esac
mkdir -p coll
echo coll > testlist
echo all: > Makefile
printf 'good lost won hangs:\n\tcp %s/coll/$@.sh $@\n' "$(dirname "$0")" > coll/Makefile
END
chmod +x configure
cd "$work"
run() { PATH="$work/bin:$PATH" "$source/scripts/peer-suites" "$work/suite" --build "$work/build" --work "$work/kept" --mpi openmpi \
  --limit 2 --modes default,nodes "$@" > "$work/out" 2>&1; }

status=0
run || status=$?
[ $status = 1 ] || fail "status $status, not 1"
grep -q '^openmpi: 5 programs' out || fail "not five programs"
grep -q '^| native | 4 of 5 |' out || fail "natively"
grep -q '^| default | 3 of 5 | – | – | – | 2 | 1 | 35 |' out || fail "the table"
grep -q 'passes natively, not with the library: mpich coll/lost (2), nodes: status 1 (again)' out || fail "lost"
grep -q 'passes natively, not with the library: mpich coll/hangs (2), default: not done after 2 s (again)' out || fail "hangs"
grep -q 'passes with the library, not natively: mpich coll/won (4), default' out || fail "won"
grep -q 'cannot be built for openmpi .*: coll/never$' out || fail "what cannot be built"
[ "$(wc -l < kept/results.jsonl)" = 15 ] || fail "results"

# What is known is not run again; what was cut off is.
sed -i '$d' kept/results.jsonl
: > bin/mpirun.calls
sed -i '2i echo called >> '"$work"'/bin/mpirun.calls' bin/mpirun.openmpi
run --only coll/ || true
[ "$(wc -l < kept/results.jsonl)" = 15 ] || fail "it did not go on"
[ "$(wc -l < bin/mpirun.calls)" -le 2 ] || fail "it began again"

status=0
"$source/scripts/peer-suites" "$work/bin" --build "$work/build" --work "$work/none" > out 2>&1 || status=$?
[ $status = 2 ] && grep -q 'nothing to run' out || fail "a folder without a suite"
echo "ok: peer-suites"
