#!/bin/sh
# Runs a command in an allocation of three nodes: `slurm.sh DIRECTORY COMMAND...`. All nodes are this
# machine. To be started in new namespaces of mounts, networks and processes, which end with it.
set -eu
D=$1
shift
# Slurm wants an address that is not loopback, and this machine's name for it.
ip link set lo up
ip link add a0 type veth peer name a1
ip address add 10.99.0.1/24 dev a0
ip link set a0 up
ip link set a1 up
printf '127.0.0.1 localhost\n10.99.0.1 %s\n' "$(hostname)" > "$D/hosts"
mount --bind "$D/hosts" /etc/hosts
cat > "$D/slurm.conf" <<C
ClusterName=test
SlurmctldHost=$(hostname)(10.99.0.1)
SlurmctldPort=17000
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool-%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd-%n.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd-%n.log
NodeName=n[1-3] NodeHostname=$(hostname) NodeAddr=10.99.0.1 Port=[17001-17003] CPUs=1
PartitionName=p Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
C
mkdir "$D/state"
export SLURM_CONF=$D/slurm.conf
slurmctld -D -f "$SLURM_CONF" > /dev/null 2>&1 &
for node in n1 n2 n3; do slurmd -D -f "$SLURM_CONF" -N $node > /dev/null 2>&1 & done
for turn in $(seq 300); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.2
done
exec salloc --quiet --nodes=3 "$@"
