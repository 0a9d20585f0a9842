# Sourced by install.sh and package.sh: an MPI program that knows nothing of Chasqui, run with the drop-in library, or with the component of Open MPI.

# launch MPI: sets $launcher to the words that start two ranks; fails where this MPI is not installed.
launch() {
  command -v "mpirun.$1" >/dev/null && command -v "mpicc.$1" >/dev/null || return 1
  launcher="mpirun.$1 -np 2"
  [ "$1" = openmpi ] || return 0
  launcher="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
    --mca btl self,vader --mca btl_vader_single_copy_mechanism none -np 2"
}

# served MPI CHASQUI WORK: the report of `chasqui run` says that the calls went through Chasqui.
served() {
  "mpicc.$1" "$here/../../examples/plain_mpi.c" -o "$3/plain-$1"
  # shellcheck disable=SC2086
  CHASQUI_TRIALS=0 timeout 600 "$2" run -- $launcher "$3/plain-$1" 200 >"$3/plain-$1.log" 2>&1 || { cat "$3/plain-$1.log"; return 1; }
  grep -q "sums are right" "$3/plain-$1.log" && grep -q "Allreduce .*184" "$3/plain-$1.log" || { cat "$3/plain-$1.log"; return 1; }
  if [ "$1" = openmpi ] && [ -n "$(find "$(dirname "$2")/.." -name mca_coll_chasqui.so)" ]; then
    grep -q "by its component of Open MPI" "$3/plain-$1.log" || { cat "$3/plain-$1.log"; return 1; }
  fi
  echo "ok: the installed library under a plain program, $1"
}
