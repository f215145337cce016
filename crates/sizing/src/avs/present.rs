//! What is there today: hosts, datastores, and what guests hold of what they were given.
//!
//! For: setting a design beside what it is to replace. Hosts and datastores are those of the whole
//! inventory, machines that do not count with them; what guests hold is of the machines that count.

use std::collections::{BTreeMap, BTreeSet};

use cloud::avs::Host;
use units::Bytes;

use crate::avs::design::{Design, Sizing};
use crate::avs::machine::{Held, Selection, sum};

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// What an inventory says of what is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estate {
    /// Hosts.
    pub hosts: Vec<PresentHost>,
    /// Clusters.
    pub clusters: Vec<PresentCluster>,
    /// Datastores.
    pub datastores: Vec<PresentStore>,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PresentHost {
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
pub struct PresentCluster {
    /// Its hosts.
    pub hosts: Option<u64>,
    /// Their cores.
    pub cores: Option<u64>,
    /// Hosts that may fail, as its high availability is set.
    pub failover: Option<u64>,
}

/// A datastore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresentStore {
    /// `VMFS`, `NFS`, `vsan`
    pub kind: Option<String>,
    /// Its size.
    pub capacity: Option<Bytes>,
    /// What machines were given of it.
    pub provisioned: Option<Bytes>,
    /// What it holds.
    pub in_use: Option<Bytes>,
}

/// What is there, summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Today {
    /// Hosts; `None` where the inventory has none.
    pub hosts: Option<HostsToday>,
    /// Datastores by their kinds; empty where the inventory has none.
    pub datastores: Vec<StoresToday>,
    /// What guests hold; `None` where nobody says.
    pub guests: Option<GuestsToday>,
    /// Today, vSAN alone, and the best design beside each other; empty where nothing is known of
    /// today.
    pub beside: Vec<Beside>,
}

/// What is there, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
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
    /// What those can hold: of vSAN what may be used, of files their quotas.
    pub capacity: Option<Bytes>,
    /// What they hold: today everything, of a design the machines that count.
    pub stored: Option<Bytes>,
}

/// Hosts together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostsToday {
    /// How many.
    pub count: u64,
    /// In how many clusters.
    pub clusters: u64,
    /// Their cores; `None` where not all say it, as with all of the following.
    pub cores: Option<u64>,
    /// Their memory.
    pub memory: Option<Bytes>,
    /// Virtual processors on them.
    pub vcpus: Option<u64>,
    /// How busy processors are, in thousandths, by cores.
    pub processors_permille: Option<u64>,
    /// How full memory is, in thousandths, by its size.
    pub memory_permille: Option<u64>,
    /// Hosts that may fail, over all clusters.
    pub failover: Option<u64>,
}

/// Datastores of one kind together, or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoresToday {
    /// `VMFS`
    pub kind: String,
    /// How many.
    pub count: u64,
    /// Of those, how many do not say their size or what they hold; they are in no sum.
    pub unknown: u64,
    /// Their size.
    pub capacity: Bytes,
    /// What machines were given of them; `None` where one does not say.
    pub provisioned: Option<Bytes>,
    /// What they hold.
    pub in_use: Bytes,
}

/// What guests hold, of the machines of which it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestsToday {
    /// Machines that count and say what their guests hold, and what they hold on datastores.
    pub machines: u64,
    /// Machines that count.
    pub of: u64,
    /// What those store, in each sense; `provisioned` and `guest_capacity` only where all say it.
    pub held: Held,
}

impl Beside {
    /// What datastores can hold beyond what they hold.
    pub fn free(&self) -> Option<Bytes> {
        Some(Bytes::new(self.capacity?.get().saturating_sub(self.stored?.get())))
    }
}

impl StoresToday {
    /// What is free.
    pub fn free(&self) -> Bytes {
        Bytes::new(self.capacity.get().saturating_sub(self.in_use.get()))
    }

    /// What was given out of what there is, in thousandths; above 1,000 more was given than there
    /// is.
    pub fn committed_permille(&self) -> Option<u64> {
        permille(self.provisioned?, self.capacity)
    }
}

impl GuestsToday {
    /// What datastores hold of it beyond what guests say: snapshots, swap, and blocks that guests
    /// gave up.
    pub fn reclaimable(&self) -> Option<Bytes> {
        let less = self.held.in_use?.get().saturating_sub(self.held.guest_used?.get());
        Some(Bytes::new(less))
    }

    /// By how much guests may grow without being given more.
    pub fn growth(&self) -> Option<Bytes> {
        let less = self.held.guest_capacity?.get().saturating_sub(self.held.guest_used?.get());
        Some(Bytes::new(less))
    }
}

/// `part` of `all` in thousandths, upwards; `None` of nothing.
pub fn permille(part: Bytes, all: Bytes) -> Option<u64> {
    let part = u128::from(part.get()) * 1000;
    let all = u128::from(all.get());
    (all > 0).then(|| u64::try_from(part.div_ceil(all)).unwrap_or(u64::MAX))
}

/// Sums up what is there, and sets designs of so many of these hosts beside it.
pub fn today(estate: &Estate, sizing: &Sizing, host: &Host) -> Today {
    let mut today = Today {
        hosts: hosts(estate),
        datastores: datastores(&estate.datastores),
        guests: guests(&sizing.selection),
        beside: Vec::new(),
    };
    if today.hosts.is_some() || !today.datastores.is_empty() {
        let best = sizing.best.map(|at| &sizing.designs[at]);
        today.beside.push(now(&today));
        let designs = sizing.designs.first().into_iter().chain(best);
        today.beside.extend(designs.map(|design| would_be(design, host)));
    }
    today
}

fn now(today: &Today) -> Beside {
    let hosts = today.hosts.clone().unwrap_or_default();
    let known = today.hosts.is_some();
    let stores = today.datastores.last();
    // A sum of some of them is no sum.
    let known_stores = stores.filter(|stores| stores.unknown == 0);
    Beside {
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

fn would_be(design: &Design, host: &Host) -> Beside {
    let quotas = design.datastores.iter().map(|store| Bytes::gib(store.quota_gib));
    let stored = design.datastores.iter().map(|store| store.stored);
    Beside {
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

fn hosts(estate: &Estate) -> Option<HostsToday> {
    let failover = all_known(estate.clusters.iter().map(|cluster| cluster.failover));
    if estate.hosts.is_empty() {
        let clusters = &estate.clusters;
        return Some(HostsToday {
            count: all_known(clusters.iter().map(|cluster| cluster.hosts))?,
            clusters: clusters.len() as u64,
            cores: all_known(clusters.iter().map(|cluster| cluster.cores)),
            failover,
            ..HostsToday::default()
        });
    }
    let hosts = &estate.hosts;
    let named: BTreeSet<&str> = hosts.iter().filter_map(|host| host.cluster.as_deref()).collect();
    let memory = all_known(hosts.iter().map(|host| host.memory.map(Bytes::get)));
    Some(HostsToday {
        count: hosts.len() as u64,
        clusters: (named.len() as u64).max(estate.clusters.len() as u64),
        cores: all_known(hosts.iter().map(|host| host.cores)),
        memory: memory.map(Bytes::new),
        vcpus: all_known(hosts.iter().map(|host| host.vcpus)),
        processors_permille: mean_permille(
            hosts.iter().map(|host| Some((host.processors_percent?, host.cores?))),
        ),
        memory_permille: mean_permille(
            hosts.iter().map(|host| Some((host.memory_percent?, host.memory?.get()))),
        ),
        failover,
    })
}

/// The sum, where there are any and all are known.
fn all_known(numbers: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    (!numbers.is_empty()).then(|| numbers.into_iter().fold(0, u64::saturating_add))
}

/// The mean of hundredths by their weights, in thousandths.
fn mean_permille(shares: impl Iterator<Item = Option<(f64, u64)>>) -> Option<u64> {
    let shares: Vec<(f64, u64)> = shares.collect::<Option<_>>()?;
    let weights: f64 = shares.iter().map(|(_, weight)| *weight as f64).sum();
    let sum: f64 = shares.iter().map(|(share, weight)| share * *weight as f64).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    (weights > 0.0).then(|| (sum / weights * 10.0).round() as u64)
}

/// Each kind, in order of its name; all of them last where there are several kinds.
fn datastores(stores: &[PresentStore]) -> Vec<StoresToday> {
    let mut kinds: BTreeMap<&str, Vec<&PresentStore>> = BTreeMap::new();
    for store in stores {
        kinds.entry(store.kind.as_deref().unwrap_or("unknown")).or_default().push(store);
    }
    let mut today: Vec<StoresToday> =
        kinds.iter().map(|(kind, stores)| together(kind, stores)).collect();
    if today.len() > 1 {
        today.push(together("all", &stores.iter().collect::<Vec<_>>()));
    }
    today
}

fn together(kind: &str, stores: &[&PresentStore]) -> StoresToday {
    let known = || stores.iter().filter(|store| store.capacity.is_some() && store.in_use.is_some());
    let add = |of: fn(&PresentStore) -> Option<Bytes>| {
        known().filter_map(|store| of(store)).fold(Bytes::ZERO, sum)
    };
    let provisioned = known().all(|store| store.provisioned.is_some());
    StoresToday {
        kind: kind.to_owned(),
        count: stores.len() as u64,
        unknown: (stores.len() - known().count()) as u64,
        capacity: add(|store| store.capacity),
        provisioned: provisioned.then(|| add(|store| store.provisioned)),
        in_use: add(|store| store.in_use),
    }
}

fn guests(selection: &Selection) -> Option<GuestsToday> {
    let held = selection.machines.iter().map(|machine| machine.held);
    let known: Vec<Held> =
        held.filter(|held| held.guest_used.is_some() && held.in_use.is_some()).collect();
    let all = |of: fn(&Held) -> Option<Bytes>| {
        all_known(known.iter().map(|held| of(held).map(Bytes::get))).map(Bytes::new)
    };
    (!known.is_empty()).then(|| GuestsToday {
        machines: known.len() as u64,
        of: selection.machines.len() as u64,
        held: Held {
            provisioned: all(|held| held.provisioned),
            in_use: all(|held| held.in_use),
            guest_used: all(|held| held.guest_used),
            guest_capacity: all(|held| held.guest_capacity),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(kind: &str, capacity: u64, given: Option<u64>, held: u64) -> PresentStore {
        PresentStore {
            kind: Some(kind.to_owned()),
            capacity: Some(Bytes::gib(capacity)),
            provisioned: given.map(Bytes::gib),
            in_use: Some(Bytes::gib(held)),
        }
    }

    #[test]
    fn datastores_are_summed_by_kind_and_those_that_say_nothing_are_counted() {
        let silent = PresentStore { kind: Some("VMFS".to_owned()), ..PresentStore::default() };
        let stores = [
            store("VMFS", 100, Some(150), 60),
            store("VMFS", 100, Some(100), 50),
            silent,
            store("NFS", 10, None, 5),
        ];
        let today = datastores(&stores);
        let kinds: Vec<(&str, u64, u64)> =
            today.iter().map(|kind| (kind.kind.as_str(), kind.count, kind.unknown)).collect();
        assert_eq!(kinds, [("NFS", 1, 0), ("VMFS", 3, 1), ("all", 4, 1)]);
        assert_eq!(today[1].committed_permille(), Some(1250));
        assert_eq!(today[1].free(), Bytes::gib(90));
        assert_eq!((today[2].provisioned, today[2].in_use), (None, Bytes::gib(115)));
        assert_eq!(datastores(&[]), []);
    }

    #[test]
    fn a_datastore_without_a_size_is_counted_and_leaves_no_sum_of_today() {
        let silent = PresentStore { kind: Some("VMFS".to_owned()), ..PresentStore::default() };
        let of = |stores: &[PresentStore]| {
            now(&Today { datastores: datastores(stores), ..Today::default() })
        };
        let known = of(&[store("VMFS", 100, None, 60), store("NFS", 10, None, 5)]);
        assert_eq!((known.datastores, known.free()), (Some(2), Some(Bytes::gib(45))));
        let one_silent = of(&[store("VMFS", 100, None, 60), silent]);
        assert_eq!(one_silent.datastores, Some(2));
        assert_eq!((one_silent.capacity, one_silent.stored), (None, None));
        assert_eq!(of(&[]), Beside { name: "today".to_owned(), ..Beside::default() });
    }

    #[test]
    fn hosts_are_told_by_their_sheet_or_else_by_that_of_clusters() {
        let host = |cores, percent| PresentHost {
            cluster: Some("c".to_owned()),
            cores: Some(cores),
            processors_percent: Some(percent),
            ..PresentHost::default()
        };
        let cluster = PresentCluster { hosts: Some(4), cores: Some(64), failover: Some(1) };
        let both = Estate {
            hosts: vec![host(10, 50.0), host(30, 10.0)],
            clusters: vec![cluster.clone()],
            datastores: Vec::new(),
        };
        let today = hosts(&both).unwrap();
        assert_eq!((today.count, today.clusters, today.cores), (2, 1, Some(40)));
        assert_eq!((today.processors_permille, today.memory), (Some(200), None));
        let clusters = Estate { clusters: vec![cluster.clone(), cluster], ..Estate::default() };
        let today = hosts(&clusters).unwrap();
        assert_eq!((today.count, today.cores, today.failover), (8, Some(128), Some(2)));
        assert_eq!(hosts(&Estate::default()), None);
    }
}
