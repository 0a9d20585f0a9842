#!/bin/sh
# What only a terminal gets: colour (never with NO_COLOR) and bars for work that takes longer than a second. `script` is the
# terminal here. usage: terminal.sh CHASQUI WORK-FOLDER. Exit status 77: no such program.
set -eu
chasqui=$1
work=$2
command -v script >/dev/null || { echo "skipped: no script (apt install bsdutils)"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
PATH=$(dirname "$chasqui"):$PATH
TERM=xterm
export PATH TERM
unset NO_COLOR
escape=$(printf '\033')
chasqui plan broadcast -P 8 -L 6 -o 2 -g 4 --out b.json >log
chasqui plan allgather -P 300 -L 6 -o 1 -g 2 --out large.json >>log

script -qec "chasqui plan broadcast -P 8 -L 6 -o 2 -g 4" colour >/dev/null
grep -q "$escape\[" colour || { echo "no colour on a terminal"; exit 1; }
script -qec "NO_COLOR=1 chasqui plan broadcast -P 8 -L 6 -o 2 -g 4" plain >/dev/null
if grep -q "$escape\[" plain; then echo "colour in spite of NO_COLOR"; exit 1; fi
chasqui plan broadcast -P 8 -L 6 -o 2 -g 4 >piped
if grep -q "$escape" piped; then echo "colour in a pipe"; exit 1; fi
echo "ok: colour"

# A narrow window: nothing is cut, the columns go on below themselves.
for command in "--help" "explain allreduce --bytes 65536 -P 1000 --nodes 10" "simulate b.json" \
    "segments -P 32 -L 2000 -o 300 -g 400 --bytes 1000000 --G 1/4 --why"; do
  script -qec "stty cols 60; NO_COLOR=1 chasqui $command" narrow >/dev/null
  if sed '1d;$d' narrow | tr -d '\r' | grep -E '^.{61}'; then echo "more than 60 columns: chasqui $command"; exit 1; fi
done
echo "ok: narrow"

# Without man nobody wants to read roff.
script -qec "PATH=/nowhere $chasqui man plan" manless >/dev/null
grep -q "^Usage: chasqui plan" manless || { echo "no page without man"; cat manless; exit 1; }
if grep -q "^\.TH" manless; then echo "roff on a terminal"; exit 1; fi
echo "ok: manless"

# slow NAME PATTERN COMMAND: the bar is there on a terminal, and nowhere else.
slow() {
  script -qec "$3" "$1" >/dev/null
  tr '\r' '\n' <"$1" | grep -q "$2" || { echo "$1: no bar:"; cat "$1"; exit 1; }
  echo "ok: $1"
}
# Work whose length is given, however fast the machine.
slow measure "measuring \[#*\.*\]" "chasqui measure --threads 2 --seconds 1.5 --out m.json"
slow bench "bench \[#*\.*\]" "chasqui bench --threads 2 --kinds scan,allgather --seconds 0.3"
slow verify "verify \[ *<=> *\]" "sleep 1.6 | cat large.json - | chasqui verify -"
# Under a launcher a rank's error stream is a pipe; the launcher's is asked.
for name in OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle; do
  export $name=1
done
for library in openmpi mpich; do
  if command -v "chasqui-mpi-$library" >/dev/null && command -v "mpirun.$library" >/dev/null; then
    slow "measure-$library" "measuring \[#*\.*\]" "mpirun.$library -np 2 chasqui measure --mpi --seconds 1.5 --out m.json"
    slow "bench-$library" "bench \[#*\.*\]" "mpirun.$library -np 2 chasqui bench --mpi --kinds scan --seconds 0.3"
    "mpirun.$library" -np 2 chasqui measure --mpi --seconds 1.5 --out m.json 2>errors >>log
    if grep -q "measuring" errors; then echo "a bar without a terminal:"; cat errors; exit 1; fi
  fi
done
chasqui measure --threads 2 --seconds 1.5 --out m.json 2>errors >>log
if grep -q "measuring\|$escape" errors; then echo "a bar without a terminal:"; cat errors; exit 1; fi
echo "ok: silent elsewhere"
