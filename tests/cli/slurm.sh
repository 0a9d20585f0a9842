#!/bin/bash
# SPDX-License-Identifier: MIT
# chasqui run in front of srun: a Slurm of one node in a folder of its own starts two ranks, which are served, whatever --export says.
#   slurm.sh chasqui folder plain.c mpi…
# Needs slurmctld, slurmd, srun and sinfo; where they are missing, or do not start, it says so and ends with 77.
set -u
chasqui=$1 folder=$2 program=$3
shift 3
PATH=$PATH:/usr/sbin
for needed in slurmctld slurmd srun sinfo; do
  command -v $needed >/dev/null || { echo "skipped: no $needed (apt install slurmd slurmctld slurm-client)"; exit 77; }
done
rm -rf "$folder" && mkdir -p "$folder/state" && cd "$folder" || exit 1
port=$((20000 + $$ % 20000 / 2 * 2)) host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$PWD/state/slurmctld.pid
SlurmdPidFile=$PWD/state/slurmd.pid
SlurmdSpoolDir=$PWD/state/slurmd
StateSaveLocation=$PWD/state
SwitchType=switch/none
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D -c >slurmctld.log 2>&1 & controller=$!
slurmd -D >slurmd.log 2>&1 & daemon=$!
trap 'kill $daemon $controller 2>/dev/null; wait $daemon $controller' EXIT
for ((i = 0; i < 60; ++i)); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.5
done
[ $i -lt 60 ] || { echo "skipped: Slurm does not start here"; tail -n 5 slurmctld.log slurmd.log; exit 77; }

failed() { echo "$1:"; cat said.txt; exit 1; }
for mpi in "$@"; do
  "mpicc.$mpi" "$program" -o "plain-$mpi" || exit 1
  [ "$mpi" = openmpi ] && way=pmix || way=pmi2
  srun --mpi=list 2>&1 | grep -q $way || { echo "left out: this Slurm has no $way for $mpi"; continue; }
  for export in --export=ALL --export=PATH,HOME; do
    CHASQUI_TRIALS=0 timeout 600 "$chasqui" run -- srun --mpi=$way $export -n 2 "./plain-$mpi" 200 >said.txt 2>&1 || failed "srun $export, $mpi"
    grep -q "sums are right" said.txt && grep -q "by its drop-in library for $mpi" said.txt && grep -q "Allreduce .*184" said.txt ||
      failed "srun $export, $mpi: not served"
  done
  # The same for ranks that Chasqui's own commands measure.
  PATH=$(dirname "$chasqui"):$PATH timeout 600 srun --mpi=$way -n 2 chasqui measure --mpi --seconds 0.2 --out "$mpi.json" >said.txt 2>&1 ||
    failed "measure, $mpi"
  grep -q "mpirun -np 2 .*($mpi)" "$mpi.json" || failed "measure, $mpi: $(head -c 300 "$mpi.json")"
  # The variables of a job step's environment come from the batch script: its options count like srun's own.
  SLURM_EXPORT_ENV=NONE "$chasqui" run -- srun -n 2 "./plain-$mpi" 200 >said.txt 2>&1 && failed "without any variable, $mpi"
  grep -q -- "--export=NONE gives the ranks no variable" said.txt || failed "without any variable, $mpi"
  echo "ok: srun, $mpi"
done
[ -z "$(ls | grep chasqui-report)" ] || { echo "left behind:"; ls; exit 1; }
