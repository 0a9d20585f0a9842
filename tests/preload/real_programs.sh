#!/bin/sh
# scripts/real-programs on two programs that only print numbers, and a launcher that starts one process.
# usage: real_programs.sh SOURCE WORK-FOLDER
set -eu
source=$1
work=$2
fail() { echo "real_programs.sh: $1"; cat "$work/out" 2>/dev/null; exit 1; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
rm -rf "$work"
mkdir -p "$work/bin" "$work/build/bin" "$work/data/peptide" "$work/data/hpcc"
: > "$work/data/peptide/in.peptide"
printf 'Ns\n1000 Ns\n80 NBs\n' > "$work/data/hpcc/_hpccinf.txt"

# As `chasqui run` does: a report, then the command; by the component one of the numbers of LAMMPS comes out otherwise.
cat > "$work/build/bin/chasqui" <<'END'
#!/bin/sh
[ "$1 $2 $4" = "run --by --report" ] || exit 9
[ "$3" = component ] && saved=1e6 || saved=9e6  # of 5 ms to both sides
echo '{"collectives":[{"collective":"Bcast","ours":3,"saved_ns":2e6,"saved_low_ns":-1e6,"saved_high_ns":5e6},'\
'{"collective":"Allreduce","ours":9,"saved_ns":'$saved',"saved_low_ns":-3e6,"saved_high_ns":5e6}],'\
'"passed":[{"calls":5,"reason":"no data"},{"calls":1,"reason":"too long"},{"calls":2,"reason":"no data"}]}' > "$5"
export WAY=$3
shift 6
exec "$@"
END
printf '#!/bin/sh\nshift 2\nexec "$@"\n' > "$work/bin/launch"
cat > "$work/bin/lmp" <<'END'
#!/bin/sh
printf 'Step 0 CPU = %s (sec)\nTotEng = -5237.4580 Temp = 282.1\n' $$
[ "${WAY:-}" != component ] && echo 'Press = 1.5' || echo 'Press = 1.6'
END
printf '#!/bin/sh\ngrep -q "300 Ns" hpccinf.txt && printf "HPL_N=300\\nSuccess=1\\n" > hpccoutf.txt\n' > "$work/bin/hpcc"
chmod +x "$work/bin"/* "$work/build/bin/chasqui"
run() {
  PATH="$work/bin:/usr/bin:/bin" "$source/scripts/real-programs" --build "$work/build" --work "$work/kept" --launcher launch \
    --data "$work/data" "$@" > "$work/out" 2>&1
}

status=0
run --only 'LAMMPS|HPCC' || status=$?
[ $status = 1 ] || fail "status $status, not 1"
grep -q '^| LAMMPS.* component .* 12 (Allreduce, Bcast) | 8 | 7: no data; 1: too long | unclear | 3 numbers: DIFFERENT (0, 6.3e-02)' "$work/out" || fail "a number that differs"
grep -q '^| LAMMPS.* preload .* | 6.0 .. 16.0 | 3 numbers: the same' "$work/out" || fail "times count"
grep -q '^| HPCC.* component .* 4 numbers: the same' "$work/out" || fail "hpcc"
run --only HPCC || fail "status of what is right"
status=0
run --only nothing || status=$?
[ $status = 2 ] && grep -q 'nothing could be run' "$work/out" || fail "nothing to run"
echo "ok: real-programs"
