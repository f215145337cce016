//! The current estate: hosts, datastores, and how full guests' disks are.
//!
//! For: comparing a design with what it replaces. Hosts and datastores are those of the whole
//! inventory, including machines that are not sized; guest figures cover the sized machines.

use std::collections::{BTreeMap, BTreeSet};

use cloud::avs::Host;
use units::{Bytes, Share};

use crate::avs::design::Design;
use crate::avs::machine::StorageUse;
use crate::avs::recommendation::Sizing;
use crate::avs::selection::{Selection, sum};

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// Hosts, clusters and datastores of an inventory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estate {
    /// Hosts.
    pub hosts: Vec<ExistingHost>,
    /// Clusters.
    pub clusters: Vec<ExistingCluster>,
    /// Datastores.
    pub datastores: Vec<ExistingDatastore>,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExistingHost {
    /// Its cluster.
    pub cluster: Option<String>,
    /// Its cores.
    pub cores: Option<u64>,
    /// Its memory.
    pub memory: Option<Bytes>,
    /// Virtual processors on it.
    pub vcpus: Option<u64>,
    /// How busy its processors are, in hundredths.
    pub processors_percent: Option<f64>,
    /// How full its memory is, in hundredths.
    pub memory_percent: Option<f64>,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExistingCluster {
    /// Its hosts.
    pub hosts: Option<u64>,
    /// Their cores.
    pub cores: Option<u64>,
    /// Hosts that may fail, as its high availability is set.
    pub failover: Option<u64>,
}

/// A datastore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExistingDatastore {
    /// `VMFS`, `NFS`, `vsan`
    pub kind: Option<String>,
    /// Its size.
    pub capacity: Option<Bytes>,
    /// What machines were given of it.
    pub provisioned: Option<Bytes>,
    /// What it holds.
    pub in_use: Option<Bytes>,
}

/// The totals of an inventory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurrentEstate {
    /// Hosts; `None` if the inventory lists none.
    pub hosts: Option<HostTotals>,
    /// Datastores by kind; empty if the inventory lists none.
    pub datastores: Vec<DatastoreTotals>,
    /// Guest disk usage; `None` if the inventory has none.
    pub guests: Option<GuestTotals>,
    /// Today, vSAN only, and the best design; empty if nothing is known about today.
    pub comparison: Vec<EstateRow>,
}

/// One row of the comparison: the current estate or a design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EstateRow {
    /// `today`, or the design's name.
    pub name: String,
    /// Hosts.
    pub hosts: Option<u64>,
    /// Their clusters.
    pub clusters: Option<u64>,
    /// Their cores.
    pub cores: Option<u64>,
    /// Their memory.
    pub memory: Option<Bytes>,
    /// Datastores, with that of vSAN of each cluster.
    pub datastores: Option<u64>,
    /// Usable capacity: of vSAN after its reserve, of file datastores their quotas.
    pub capacity: Option<Bytes>,
    /// Stored data: today everything, for a design that of the sized machines.
    pub stored: Option<Bytes>,
}

/// Hosts together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostTotals {
    /// How many.
    pub count: u64,
    /// In how many clusters.
    pub clusters: u64,
    /// Their cores; `None` unless known of all, as with all of the following.
    pub cores: Option<u64>,
    /// Their memory.
    pub memory: Option<Bytes>,
    /// Virtual processors on them.
    pub vcpus: Option<u64>,
    /// Utilization of the processors, weighted by cores.
    pub processors: Option<Share>,
    /// Utilization of the memory, weighted by size.
    pub memory_used: Option<Share>,
    /// Hosts that may fail, over all clusters.
    pub failover: Option<u64>,
}

/// Datastores of one kind together, or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatastoreTotals {
    /// `VMFS`
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Of those, how many lack size or usage; they are in no sum.
    pub unknown: u64,
    /// Their size.
    pub capacity: Bytes,
    /// Provisioned to machines; `None` unless known of all.
    pub provisioned: Option<Bytes>,
    /// Used space.
    pub in_use: Bytes,
}

/// Guest disk usage of the machines that report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestTotals {
    /// Sized machines with known guest and datastore usage.
    pub machines: u64,
    /// Sized machines.
    pub of: u64,
    /// Their totals; `provisioned` and `guest_capacity` only if known of all.
    pub storage_use: StorageUse,
}

impl EstateRow {
    /// Free space.
    pub fn free(&self) -> Option<Bytes> {
        Some(Bytes::new(self.capacity?.get().saturating_sub(self.stored?.get())))
    }
}

impl DatastoreTotals {
    /// Free space.
    pub fn free(&self) -> Bytes {
        Bytes::new(self.capacity.get().saturating_sub(self.in_use.get()))
    }

    /// Provisioned over capacity, rounded up; above 100 % the datastores are overcommitted.
    pub fn committed(&self) -> Option<Share> {
        let capacity = self.capacity.get();
        (capacity > 0).then_some(Share::of_rounded_up(self.provisioned?.get(), capacity))
    }
}

impl GuestTotals {
    /// Datastore usage beyond guest usage: snapshots, swap, and blocks that guests freed.
    pub fn reclaimable(&self) -> Option<Bytes> {
        let less =
            self.storage_use.in_use?.get().saturating_sub(self.storage_use.guest_used?.get());
        Some(Bytes::new(less))
    }

    /// How much guests can grow within their disks.
    pub fn growth(&self) -> Option<Bytes> {
        let less = self
            .storage_use
            .guest_capacity?
            .get()
            .saturating_sub(self.storage_use.guest_used?.get());
        Some(Bytes::new(less))
    }
}

/// Totals the current estate and compares it with designs on hosts of type `host`.
pub fn today(estate: &Estate, sizing: &Sizing, host: &Host) -> CurrentEstate {
    let mut today = CurrentEstate {
        hosts: hosts(estate),
        datastores: datastores(&estate.datastores),
        guests: guests(&sizing.selection),
        comparison: Vec::new(),
    };
    if today.hosts.is_some() || !today.datastores.is_empty() {
        let best = sizing.best.map(|at| &sizing.designs[at]);
        today.comparison.push(now(&today));
        let designs = sizing.designs.first().into_iter().chain(best);
        today.comparison.extend(designs.map(|design| proposed(design, host)));
    }
    today
}

fn now(today: &CurrentEstate) -> EstateRow {
    let hosts = today.hosts.clone().unwrap_or_default();
    let known = today.hosts.is_some();
    let stores = today.datastores.last();
    // A partial sum would mislead.
    let known_stores = stores.filter(|stores| stores.unknown == 0);
    EstateRow {
        name: "today".to_owned(),
        hosts: known.then_some(hosts.count),
        clusters: (known && hosts.clusters > 0).then_some(hosts.clusters),
        cores: hosts.cores,
        memory: hosts.memory,
        datastores: stores.map(|stores| stores.count),
        capacity: known_stores.map(|stores| stores.capacity),
        stored: known_stores.map(|stores| stores.in_use),
    }
}

fn proposed(design: &Design, host: &Host) -> EstateRow {
    let quotas = design.datastores.iter().map(|store| Bytes::gib(store.quota_gib));
    let stored = design.datastores.iter().map(|store| store.stored);
    EstateRow {
        name: design.name(),
        hosts: Some(design.hosts),
        clusters: Some(design.clusters),
        cores: Some(design.hosts.saturating_mul(host.cores)),
        memory: Some(Bytes::new(design.hosts.saturating_mul(host.memory_gib.saturating_mul(GIB)))),
        datastores: Some(design.clusters + design.datastores.len() as u64),
        capacity: Some(quotas.fold(design.vsan_usable, sum)),
        stored: Some(stored.fold(design.vsan_stored, sum)),
    }
}

fn hosts(estate: &Estate) -> Option<HostTotals> {
    let failover = all_known(estate.clusters.iter().map(|cluster| cluster.failover));
    if estate.hosts.is_empty() {
        let clusters = &estate.clusters;
        return Some(HostTotals {
            count: all_known(clusters.iter().map(|cluster| cluster.hosts))?,
            clusters: clusters.len() as u64,
            cores: all_known(clusters.iter().map(|cluster| cluster.cores)),
            failover,
            ..HostTotals::default()
        });
    }
    let hosts = &estate.hosts;
    let named: BTreeSet<&str> = hosts.iter().filter_map(|host| host.cluster.as_deref()).collect();
    let memory = all_known(hosts.iter().map(|host| host.memory.map(Bytes::get)));
    Some(HostTotals {
        count: hosts.len() as u64,
        clusters: (named.len() as u64).max(estate.clusters.len() as u64),
        cores: all_known(hosts.iter().map(|host| host.cores)),
        memory: memory.map(Bytes::new),
        vcpus: all_known(hosts.iter().map(|host| host.vcpus)),
        processors: mean_share(
            hosts.iter().map(|host| Some((host.processors_percent?, host.cores?))),
        ),
        memory_used: mean_share(
            hosts.iter().map(|host| Some((host.memory_percent?, host.memory?.get()))),
        ),
        failover,
    })
}

/// The sum; `None` if there are none or any is unknown.
fn all_known(numbers: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    (!numbers.is_empty()).then(|| numbers.into_iter().fold(0, u64::saturating_add))
}

/// The weighted mean of percentages.
fn mean_share(shares: impl Iterator<Item = Option<(f64, u64)>>) -> Option<Share> {
    let shares: Vec<(f64, u64)> = shares.collect::<Option<_>>()?;
    let weights: f64 = shares.iter().map(|(_, weight)| *weight as f64).sum();
    let sum: f64 = shares.iter().map(|(share, weight)| share * *weight as f64).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    (weights > 0.0).then(|| Share::from_permille((sum / weights * 10.0).round() as u64))
}

/// One row per kind, sorted by name; with several kinds, the total of all comes last.
fn datastores(stores: &[ExistingDatastore]) -> Vec<DatastoreTotals> {
    let mut kinds: BTreeMap<&str, Vec<&ExistingDatastore>> = BTreeMap::new();
    for store in stores {
        kinds.entry(store.kind.as_deref().unwrap_or("unknown")).or_default().push(store);
    }
    let mut today: Vec<DatastoreTotals> =
        kinds.iter().map(|(kind, stores)| together(kind, stores)).collect();
    if today.len() > 1 {
        today.push(together("all", &stores.iter().collect::<Vec<_>>()));
    }
    today
}

fn together(kind: &str, stores: &[&ExistingDatastore]) -> DatastoreTotals {
    let known = || stores.iter().filter(|store| store.capacity.is_some() && store.in_use.is_some());
    let add = |of: fn(&ExistingDatastore) -> Option<Bytes>| {
        known().filter_map(|store| of(store)).fold(Bytes::ZERO, sum)
    };
    let provisioned = known().all(|store| store.provisioned.is_some());
    DatastoreTotals {
        kind: kind.to_owned(),
        count: stores.len() as u64,
        unknown: (stores.len() - known().count()) as u64,
        capacity: add(|store| store.capacity),
        provisioned: provisioned.then(|| add(|store| store.provisioned)),
        in_use: add(|store| store.in_use),
    }
}

fn guests(selection: &Selection) -> Option<GuestTotals> {
    let uses = selection.machines.iter().map(|machine| machine.storage_use);
    let known: Vec<StorageUse> =
        uses.filter(|one| one.guest_used.is_some() && one.in_use.is_some()).collect();
    let all = |of: fn(&StorageUse) -> Option<Bytes>| {
        all_known(known.iter().map(|one| of(one).map(Bytes::get))).map(Bytes::new)
    };
    (!known.is_empty()).then(|| GuestTotals {
        machines: known.len() as u64,
        of: selection.machines.len() as u64,
        storage_use: StorageUse {
            provisioned: all(|one| one.provisioned),
            in_use: all(|one| one.in_use),
            guest_used: all(|one| one.guest_used),
            guest_capacity: all(|one| one.guest_capacity),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(kind: &str, capacity: u64, given: Option<u64>, in_use: u64) -> ExistingDatastore {
        ExistingDatastore {
            kind: Some(kind.to_owned()),
            capacity: Some(Bytes::gib(capacity)),
            provisioned: given.map(Bytes::gib),
            in_use: Some(Bytes::gib(in_use)),
        }
    }

    #[test]
    fn datastores_are_summed_by_kind_and_those_without_a_size_are_counted() {
        let unknown =
            ExistingDatastore { kind: Some("VMFS".to_owned()), ..ExistingDatastore::default() };
        let stores = [
            store("VMFS", 100, Some(150), 60),
            store("VMFS", 100, Some(100), 50),
            unknown,
            store("NFS", 10, None, 5),
        ];
        let today = datastores(&stores);
        let kinds: Vec<(&str, u64, u64)> =
            today.iter().map(|kind| (kind.kind.as_str(), kind.count, kind.unknown)).collect();
        assert_eq!(kinds, [("NFS", 1, 0), ("VMFS", 3, 1), ("all", 4, 1)]);
        assert_eq!(today[1].committed(), Some(Share::from_percent(125)));
        assert_eq!(today[1].free(), Bytes::gib(90));
        assert_eq!((today[2].provisioned, today[2].in_use), (None, Bytes::gib(115)));
        assert_eq!(datastores(&[]), []);
    }

    #[test]
    fn a_datastore_without_a_size_is_counted_and_voids_the_sum_of_today() {
        let unknown =
            ExistingDatastore { kind: Some("VMFS".to_owned()), ..ExistingDatastore::default() };
        let of = |stores: &[ExistingDatastore]| {
            now(&CurrentEstate { datastores: datastores(stores), ..CurrentEstate::default() })
        };
        let known = of(&[store("VMFS", 100, None, 60), store("NFS", 10, None, 5)]);
        assert_eq!((known.datastores, known.free()), (Some(2), Some(Bytes::gib(45))));
        let one_unknown = of(&[store("VMFS", 100, None, 60), unknown]);
        assert_eq!(one_unknown.datastores, Some(2));
        assert_eq!((one_unknown.capacity, one_unknown.stored), (None, None));
        assert_eq!(of(&[]), EstateRow { name: "today".to_owned(), ..EstateRow::default() });
    }

    #[test]
    fn hosts_come_from_their_sheet_or_else_from_that_of_clusters() {
        let host = |cores, percent| ExistingHost {
            cluster: Some("c".to_owned()),
            cores: Some(cores),
            processors_percent: Some(percent),
            ..ExistingHost::default()
        };
        let cluster = ExistingCluster { hosts: Some(4), cores: Some(64), failover: Some(1) };
        let both = Estate {
            hosts: vec![host(10, 50.0), host(30, 10.0)],
            clusters: vec![cluster.clone()],
            datastores: Vec::new(),
        };
        let today = hosts(&both).unwrap();
        assert_eq!((today.count, today.clusters, today.cores), (2, 1, Some(40)));
        assert_eq!((today.processors, today.memory), (Some(Share::from_percent(20)), None));
        let clusters = Estate { clusters: vec![cluster.clone(), cluster], ..Estate::default() };
        let today = hosts(&clusters).unwrap();
        assert_eq!((today.count, today.cores, today.failover), (8, Some(128), Some(2)));
        assert_eq!(hosts(&Estate::default()), None);
    }

    #[test]
    fn space_to_reclaim_is_beyond_the_guests_and_growth_is_within_them() {
        let storage_use = StorageUse {
            provisioned: Some(Bytes::gib(90)),
            in_use: Some(Bytes::gib(70)),
            guest_used: Some(Bytes::gib(40)),
            guest_capacity: Some(Bytes::gib(100)),
        };
        let totals = GuestTotals { machines: 1, of: 1, storage_use };
        assert_eq!(totals.reclaimable(), Some(Bytes::gib(30)));
        assert_eq!(totals.growth(), Some(Bytes::gib(60)));
        let unknown = GuestTotals::default();
        assert_eq!((unknown.reclaimable(), unknown.growth()), (None, None));
    }

    #[test]
    fn without_a_named_cluster_the_number_of_clusters_is_unknown() {
        let clusters = |names: &[Option<&str>]| {
            let host = |name: &Option<&str>| ExistingHost {
                cluster: name.map(str::to_owned),
                ..ExistingHost::default()
            };
            let hosts =
                hosts(&Estate { hosts: names.iter().map(host).collect(), ..Estate::default() });
            let now = now(&CurrentEstate { hosts, ..CurrentEstate::default() });
            (now.hosts, now.clusters)
        };
        assert_eq!(clusters(&[None]), (Some(1), None));
        assert_eq!(clusters(&[Some("a")]), (Some(1), Some(1)));
        assert_eq!(clusters(&[Some("a"), Some("b"), Some("a")]), (Some(3), Some(2)));
    }
}
