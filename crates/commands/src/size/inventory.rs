//! Converts an exported inventory to the input of a sizing.

use anyhow::anyhow;
use rvtools::inventory::{self, Host, Inventory};
use sizing::avs::current_estate::{Estate, ExistingCluster, ExistingDatastore, ExistingHost};
use sizing::avs::machine::Labels;
use sizing::avs::machine::{Disk, Machine, Power, StorageUse};
use sizing::avs::ratio::{Ratio, RatioSource};
use sizing::avs::senses::{LoadSense, MemorySense, Senses, StorageSense};

use crate::outcome::Failure;

/// The machines.
///
/// * `senses` - which of several figures counts
pub(super) fn machines(inventory: &Inventory, senses: Senses) -> Result<Vec<Machine>, Failure> {
    let all = &inventory.machines;
    if senses.memory == MemorySense::Consumed
        && all.iter().all(|machine| machine.memory_consumed.is_none())
    {
        return Err(Failure::input(anyhow!(
            "count consumed memory: there is no sheet vMemory with a column Consumed; use \
             --memory provisioned"
        )));
    }
    if senses.storage == StorageSense::Guest
        && all.iter().all(|machine| machine.guest_used.is_none())
    {
        return Err(Failure::input(anyhow!(
            "count the guests' file systems: there is no sheet vPartition with a machine of the \
             inventory; use --storage in-use"
        )));
    }
    Ok(all.iter().map(|one| machine(one, senses)).collect())
}

fn machine(machine: &inventory::Machine, senses: Senses) -> Machine {
    let load = machine.load.unwrap_or_default();
    let (rate, throughput) = match senses.load {
        LoadSense::Peak => (load.peak_rate, load.peak_throughput),
        LoadSense::Mean => (load.mean_rate, load.mean_throughput),
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
        memory: match senses.memory {
            MemorySense::Consumed => machine.memory_consumed.unwrap_or(machine.memory),
            MemorySense::Provisioned => machine.memory,
        },
        storage: match senses.storage {
            StorageSense::InUse => machine.in_use,
            StorageSense::Provisioned => machine.provisioned,
            StorageSense::Guest => machine.guest_used.or(machine.in_use),
        },
        storage_use: StorageUse {
            provisioned: machine.provisioned,
            in_use: machine.in_use,
            guest_used: machine.guest_used,
            guest_capacity: machine.guest_capacity,
        },
        labels: labels(machine),
        disks: machine.disks.iter().map(disk).collect(),
        rate,
        throughput,
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

/// The present hosts, clusters and datastores.
pub(super) fn estate(inventory: &Inventory) -> Estate {
    let host = |host: &Host| ExistingHost {
        cluster: host.cluster.clone(),
        cores: host.cores,
        memory: host.memory,
        vcpus: host.vcpus,
        processors_percent: host.cpu_usage_percent,
        memory_percent: host.memory_usage_percent,
    };
    let cluster = |cluster: &inventory::Cluster| ExistingCluster {
        hosts: cluster.hosts,
        cores: cluster.cores,
        failover: cluster.failover,
    };
    let store = |store: &inventory::Datastore| ExistingDatastore {
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

/// Virtual processors per core: from the sheet of hosts, or without it those of all running
/// machines to the cores of all clusters.
pub(super) fn ratio(inventory: &Inventory) -> Option<Ratio> {
    if !inventory.hosts.is_empty() {
        return of_hosts(&inventory.hosts);
    }
    let cores: Option<Vec<u64>> = inventory.clusters.iter().map(|cluster| cluster.cores).collect();
    let cores = cores?.into_iter().fold(0, u64::saturating_add);
    let runs = |machine: &&inventory::Machine| machine.power == inventory::Power::On;
    let running = inventory.machines.iter().filter(runs);
    let vcpus = running.fold(0, |sum: u64, machine| sum.saturating_add(machine.vcpus));
    let source = RatioSource::RunningMachines;
    (vcpus > 0 && cores > 0).then_some(Ratio { vcpus, cores, source })
}

/// All virtual processors of the hosts to all their cores; if the export lacks either, the mean of
/// the hosts' ratios.
fn of_hosts(hosts: &[Host]) -> Option<Ratio> {
    let sums = hosts.iter().map(|host| Some((host.vcpus?, host.cores?)));
    let sums: Option<Vec<(u64, u64)>> = sums.collect();
    if let Some(sums) = sums.filter(|sums| !sums.is_empty()) {
        let vcpus = sums.iter().fold(0, |sum: u64, (vcpus, _)| sum.saturating_add(*vcpus));
        let cores = sums.iter().fold(0, |sum: u64, (_, cores)| sum.saturating_add(*cores));
        let source = RatioSource::Hosts;
        return (vcpus > 0 && cores > 0).then_some(Ratio { vcpus, cores, source });
    }
    let ratios: Vec<f64> = hosts.iter().filter_map(|host| host.vcpus_per_core).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
    let vcpus = (mean * 1000.0).round().clamp(0.0, 1e9) as u64;
    let source = RatioSource::HostMean;
    (vcpus > 0).then_some(Ratio { vcpus, cores: 1000, source })
}
