//! From an inventory as it was exported to what a sizing takes.

use anyhow::anyhow;
use rvtools::inventory::{self, Host, Inventory};
use sizing::avs::ask::Ratio;
use sizing::avs::machine::{Disk, Held, Machine, Power};
use sizing::avs::present::{Estate, PresentCluster, PresentHost, PresentStore};
use sizing::avs::profile::Labels;

use crate::avs_args::{AvsArguments, LoadSense, MemorySense, StorageSense};
use crate::exit::Failure;

/// The machines, in the wanted senses.
pub(super) fn machines(
    inventory: &Inventory,
    arguments: &AvsArguments,
) -> Result<Vec<Machine>, Failure> {
    let all = &inventory.machines;
    if arguments.memory == MemorySense::Consumed
        && all.iter().all(|machine| machine.memory_consumed.is_none())
    {
        return Err(Failure::input(anyhow!(
            "count consumed memory: no sheet vMemory with a column Consumed; use --memory \
             provisioned"
        )));
    }
    if arguments.storage == StorageSense::Guest
        && all.iter().all(|machine| machine.guest_used.is_none())
    {
        return Err(Failure::input(anyhow!(
            "count what guests hold: no sheet vPartition with a machine of the inventory in it; \
             use --storage in-use"
        )));
    }
    Ok(all.iter().map(|one| machine(one, arguments)).collect())
}

fn machine(machine: &inventory::Machine, arguments: &AvsArguments) -> Machine {
    let load = machine.load.unwrap_or_default();
    let (ops_per_s, bytes_per_s) = match arguments.load {
        LoadSense::Peak => (load.peak_ops_per_s, load.peak_bytes_per_s),
        LoadSense::Mean => (load.mean_ops_per_s, load.mean_bytes_per_s),
    };
    let disk = |disk: &inventory::Disk| Disk {
        label: disk.label.clone(),
        capacity: disk.capacity,
        is_raw: disk.is_raw,
    };
    Machine {
        name: machine.name.clone(),
        row: machine.row,
        power: match machine.power {
            inventory::Power::On => Power::On,
            inventory::Power::Off => Power::Off,
            inventory::Power::Suspended => Power::Suspended,
        },
        is_template: machine.is_template,
        is_placeholder: machine.is_placeholder,
        vcpus: machine.vcpus,
        memory: match arguments.memory {
            MemorySense::Consumed => machine.memory_consumed.unwrap_or(machine.memory),
            MemorySense::Provisioned => machine.memory,
        },
        storage: match arguments.storage {
            StorageSense::InUse => machine.in_use,
            StorageSense::Provisioned => machine.provisioned,
            StorageSense::Guest => machine.guest_used.or(machine.in_use),
        },
        held: Held {
            provisioned: machine.provisioned,
            in_use: machine.in_use,
            guest_used: machine.guest_used,
            guest_capacity: machine.guest_capacity,
        },
        labels: labels(machine),
        disks: machine.disks.iter().map(disk).collect(),
        ops_per_s,
        bytes_per_s,
    }
}

fn labels(machine: &inventory::Machine) -> Labels {
    Labels {
        folder: machine.folder.clone(),
        resource_pool: machine.resource_pool.clone(),
        datacenter: machine.datacenter.clone(),
        cluster: machine.cluster.clone(),
        host: machine.host.clone(),
        os: machine.os.iter().chain(&machine.os_by_tools).cloned().collect(),
        annotation: machine.annotation.clone(),
        columns: machine.columns.clone(),
    }
}

/// Hosts, clusters and datastores as they are.
pub(super) fn estate(inventory: &Inventory) -> Estate {
    let host = |host: &Host| PresentHost {
        cluster: host.cluster.clone(),
        cores: host.cores,
        memory: host.memory,
        vcpus: host.vcpus,
        processors_percent: host.cpu_usage_percent,
        memory_percent: host.memory_usage_percent,
    };
    let cluster = |cluster: &inventory::Cluster| PresentCluster {
        hosts: cluster.hosts,
        cores: cluster.cores,
        failover: cluster.failover,
    };
    let store = |store: &inventory::Datastore| PresentStore {
        kind: store.kind.clone(),
        capacity: store.capacity,
        provisioned: store.provisioned,
        in_use: store.in_use,
    };
    Estate {
        hosts: inventory.hosts.iter().map(host).collect(),
        clusters: inventory.clusters.iter().map(cluster).collect(),
        datastores: inventory.datastores.iter().map(store).collect(),
    }
}

/// How many virtual processors share a core: by the sheet of hosts; without it, those of all
/// machines that run to the cores of all clusters.
pub(super) fn ratio(inventory: &Inventory) -> Option<Ratio> {
    if !inventory.hosts.is_empty() {
        return of_hosts(&inventory.hosts);
    }
    let cores: Option<Vec<u64>> = inventory.clusters.iter().map(|cluster| cluster.cores).collect();
    let cores = cores?.into_iter().fold(0, u64::saturating_add);
    let runs = |machine: &&inventory::Machine| machine.power == inventory::Power::On;
    let running = inventory.machines.iter().filter(runs);
    let vcpus = running.fold(0, |sum: u64, machine| sum.saturating_add(machine.vcpus));
    let source = "machines that run, and the sheet vCluster".to_owned();
    (vcpus > 0 && cores > 0).then_some(Ratio { vcpus, cores, source })
}

/// All virtual processors of the hosts to all their cores; where the export lacks either, the mean
/// of the hosts' own ratios.
fn of_hosts(hosts: &[Host]) -> Option<Ratio> {
    let sums = hosts.iter().map(|host| Some((host.vcpus?, host.cores?)));
    let sums: Option<Vec<(u64, u64)>> = sums.collect();
    if let Some(sums) = sums.filter(|sums| !sums.is_empty()) {
        let vcpus = sums.iter().fold(0, |sum: u64, (vcpus, _)| sum.saturating_add(*vcpus));
        let cores = sums.iter().fold(0, |sum: u64, (_, cores)| sum.saturating_add(*cores));
        let source = "sheet vHost".to_owned();
        return (vcpus > 0 && cores > 0).then_some(Ratio { vcpus, cores, source });
    }
    let ratios: Vec<f64> = hosts.iter().filter_map(|host| host.vcpus_per_core).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
    let vcpus = (mean * 1000.0).round().clamp(0.0, 1e9) as u64;
    let source = "mean over the sheet vHost".to_owned();
    (vcpus > 0).then_some(Ratio { vcpus, cores: 1000, source })
}
