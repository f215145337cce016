//! Number of hosts by processors, memory and vSAN capacity.
//!
//! Source of the formula: the TCO estimator (docs/avs-calc v6.1), its parser and page: `hosts =
//! max(by processors, by memory, by storage, 3)`; usable vSAN is `raw x (1 - policy) x (1 - slack)
//! x (1 - format) x saving`. The estimator keeps no host free, but the service does, so each
//! cluster gets spare hosts for processors and memory. vSAN of spare hosts counts, because the
//! slack covers a failed host.

use cloud::avs::{Avs, AvsLimit};
use units::{Bytes, Share};

use crate::avs::ask::Ask;
use crate::avs::selection::Totals;
use crate::avs::statement::{Reason, Statement, VsanUsable};

/// Required hosts by each criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Hosts {
    /// By processors; `None` if the number of processors per core is unknown.
    pub by_processors: Option<u64>,
    /// By memory.
    pub by_memory: u64,
    /// By storage if vSAN holds everything.
    pub by_storage: u64,
    /// The smallest cluster.
    pub least: u64,
    /// The smallest cluster for the storage policy, if anything is on vSAN.
    pub least_by_policy: u64,
    /// The largest cluster.
    pub cluster_max: u64,
    /// Hosts of each cluster whose processors and memory are kept free.
    pub spare_per_cluster: u64,
    /// The arithmetic of each, in this order.
    pub reasons: Vec<Reason>,
}

impl Hosts {
    /// Hosts if vSAN holds everything, including spare hosts.
    pub fn with_vsan_only(&self) -> u64 {
        self.at_least(self.least.max(self.by_storage).max(self.least_by_policy))
    }

    /// The fewest hosts, at least `least`, that suffice for processors and memory without the spare
    /// ones.
    pub fn at_least(&self, least: u64) -> u64 {
        let each = self.cluster_max.saturating_sub(self.spare_per_cluster).max(1);
        let clusters = self.busy().div_ceil(each);
        let spare = self.spare_per_cluster.saturating_mul(clusters);
        let mut count = self.busy().saturating_add(spare).max(least);
        // Another host may start a cluster with more spare hosts than it adds.
        while count < u64::MAX && !self.is_enough(count) {
            count += 1;
        }
        count
    }

    /// Whether this many hosts suffice for processors and memory without the spare ones.
    pub fn is_enough(&self, count: u64) -> bool {
        count.saturating_sub(self.spare(count)) >= self.busy()
    }

    /// How many of this many hosts are spare.
    pub fn spare(&self, count: u64) -> u64 {
        let clusters = count.div_ceil(self.cluster_max.max(1));
        self.spare_per_cluster.saturating_mul(clusters).min(count)
    }

    /// Hosts for processors and memory without spare ones.
    fn busy(&self) -> u64 {
        self.by_processors.unwrap_or(0).max(self.by_memory)
    }
}

/// Hosts for the selected machines.
pub fn hosts(totals: &Totals, ask: &Ask, avs: &Avs) -> Hosts {
    let host = &ask.host;
    let mut reasons = Vec::new();
    let by_processors = ask.vcpus_per_core.as_ref().map(|ratio| {
        let cores = u128::from(totals.vcpus) * u128::from(ratio.cores);
        let count = cores.div_ceil(u128::from(ratio.vcpus.max(1)) * u128::from(host.cores));
        let statement = Statement::HostsByProcessors {
            vcpus: totals.vcpus,
            ratio: ratio.clone(),
            cores: host.cores,
            hosts: whole(count),
        };
        reasons.push(Reason::from_rows(statement, [host.row()]));
        whole(count)
    });
    if by_processors.is_none() {
        reasons.push(Reason::given(Statement::ProcessorsUnknown { vcpus: totals.vcpus }));
    }
    let each = Bytes::gib(host.memory_gib);
    let by_memory = totals.memory.get().div_ceil(each.get());
    let statement = Statement::HostsByMemory { memory: totals.memory, each, hosts: by_memory };
    reasons.push(Reason::from_rows(statement, [host.row()]));
    let one = usable(1, ask, avs);
    let by_storage = totals.storage.get().div_ceil(one.get().max(1));
    let statement = Statement::HostsByStorage {
        stored: totals.storage,
        each: one,
        hosts: by_storage,
        usable: vsan_usable(ask, avs),
    };
    let rows = [host.row(), ask.policy.row(), avs.limit_row(AvsLimit::VsanUsedMax)];
    reasons.push(Reason::from_rows(statement, rows));
    let least = avs.limit(AvsLimit::HostsPerClusterMin);
    let least_by_policy = ask.policy.hosts_min;
    let statement = Statement::SmallestCluster {
        hosts: least,
        policy: ask.policy.name.clone(),
        hosts_of_policy: least_by_policy,
    };
    let rows = [avs.limit_row(AvsLimit::HostsPerClusterMin), ask.policy.row()];
    reasons.push(Reason::from_rows(statement, rows));
    let cluster_max = avs.limit(AvsLimit::HostsPerClusterMax);
    let of_facts = avs.limit(AvsLimit::SpareHostsPerCluster);
    // A cluster must have at least one host that is not spare.
    let spare_per_cluster = ask.spare_hosts.unwrap_or(of_facts).min(cluster_max.saturating_sub(1));
    let mut hosts = Hosts {
        by_processors,
        by_memory,
        by_storage,
        least,
        least_by_policy,
        cluster_max,
        spare_per_cluster,
        reasons,
    };
    hosts.reasons.push(spare_reason(&hosts, ask, avs));
    hosts
}

fn spare_reason(hosts: &Hosts, ask: &Ask, avs: &Avs) -> Reason {
    let mut rows = vec![avs.limit_row(AvsLimit::HostsPerClusterMax)];
    if ask.spare_hosts.is_none() {
        rows.push(avs.limit_row(AvsLimit::SpareHostsPerCluster));
    }
    let count = hosts.at_least(0);
    let statement = Statement::SpareHosts {
        busy: hosts.busy(),
        spare: hosts.spare(count),
        cluster_max: hosts.cluster_max,
        hosts: count,
    };
    Reason::from_rows(statement, rows)
}

/// Usable vSAN capacity of this many hosts.
pub fn usable(hosts: u64, ask: &Ask, avs: &Avs) -> Bytes {
    let share = u128::from(ask.policy.data)
        * u128::from(avs.limit(AvsLimit::VsanUsedMax))
        * u128::from(ask.format.rest().permille())
        * u128::from(ask.saving.permille());
    let of = u128::from(ask.policy.parts) * 100 * 1000 * 1000;
    let raw = u128::from(hosts) * u128::from(ask.host.raw_bytes());
    Bytes::new(whole(raw.saturating_mul(share) / of))
}

fn vsan_usable(ask: &Ask, avs: &Avs) -> VsanUsable {
    VsanUsable {
        raw_gb: ask.host.raw_gb,
        data: ask.policy.data,
        parts: ask.policy.parts,
        policy: ask.policy.name.clone(),
        used: Share::from_percent(avs.limit(AvsLimit::VsanUsedMax)),
        format: ask.format,
        saving: ask.saving,
    }
}

/// Clusters for this many hosts.
pub fn clusters(hosts: u64, avs: &Avs) -> u64 {
    hosts.div_ceil(avs.limit(AvsLimit::HostsPerClusterMax))
}

fn whole(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
