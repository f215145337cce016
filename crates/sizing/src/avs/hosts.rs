//! How many hosts: by processors, by memory, by what vSAN can hold.
//!
//! Source of the formula: the TCO estimator's (docs/avs-calc v6.1), as its parser and page show it:
//! `hosts = max(by processors, by memory, by storage, 3)`, vSAN's usable share is
//! `raw x (1 - policy) x (1 - slack) x (1 - format) x saving`. The estimator keeps no host free;
//! the service does, so hosts for processors and memory have the spare ones of each cluster on
//! top. vSAN of spare hosts counts: for a host that fails it has the part that may not be used.

use cloud::avs::{Avs, AvsLimit};
use cloud::reason::Reason;
use units::{Bytes, counted, percent, thousands};

use crate::avs::ask::Ask;
use crate::avs::machine::Totals;

/// Hosts that are needed, each for its own reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// By processors; `None` where nobody knows how many share a core.
    pub by_processors: Option<u64>,
    /// By memory.
    pub by_memory: u64,
    /// By storage, where vSAN holds everything.
    pub by_storage: u64,
    /// The smallest cluster.
    pub least: u64,
    /// The smallest cluster for the storage policy, while anything lies on vSAN.
    pub least_by_policy: u64,
    /// The largest cluster.
    pub cluster_max: u64,
    /// Hosts of each cluster whose processors and memory are kept free.
    pub spare_per_cluster: u64,
    /// The arithmetic of each, in this order.
    pub reasons: Vec<Reason>,
}

impl Hosts {
    /// What is needed whatever the storage, spare hosts with it.
    pub fn for_compute(&self) -> u64 {
        self.at_least(self.least)
    }

    /// What is needed where vSAN holds everything, spare hosts with it.
    pub fn with_vsan_only(&self) -> u64 {
        self.at_least(self.least.max(self.by_storage).max(self.least_by_policy))
    }

    /// The fewest hosts from `least` on that are enough for processors and memory without those
    /// that are spare.
    pub fn at_least(&self, least: u64) -> u64 {
        let each = self.cluster_max.saturating_sub(self.spare_per_cluster).max(1);
        let clusters = self.busy().div_ceil(each);
        let spare = self.spare_per_cluster.saturating_mul(clusters);
        let mut count = self.busy().saturating_add(spare).max(least);
        // One host more may begin a cluster, whose spare hosts then are more than it brings.
        while count < u64::MAX && !self.is_enough(count) {
            count += 1;
        }
        count
    }

    /// Whether so many hosts are enough for processors and memory without those that are spare.
    pub fn is_enough(&self, count: u64) -> bool {
        count.saturating_sub(self.spare(count)) >= self.busy()
    }

    /// How many of so many hosts are spare: all of them where there are too few.
    pub fn spare(&self, count: u64) -> u64 {
        let clusters = count.div_ceil(self.cluster_max.max(1));
        self.spare_per_cluster.saturating_mul(clusters).min(count)
    }

    /// Hosts that processors and memory keep busy.
    fn busy(&self) -> u64 {
        self.by_processors.unwrap_or(0).max(self.by_memory)
    }
}

/// Hosts for the machines that count.
pub fn hosts(totals: &Totals, ask: &Ask, avs: &Avs) -> Hosts {
    let host = &ask.host;
    let mut reasons = Vec::new();
    let by_processors = ask.vcpus_per_core.as_ref().map(|ratio| {
        let cores = u128::from(totals.vcpus) * u128::from(ratio.cores);
        let count = cores.div_ceil(u128::from(ratio.vcpus.max(1)) * u128::from(host.cores));
        let text = format!(
            "{} vCPUs / ({} vCPUs on {} cores x {} cores of a host) = {} ({})",
            thousands(totals.vcpus),
            thousands(ratio.vcpus),
            thousands(ratio.cores),
            host.cores,
            counted(whole(count), "host"),
            ratio.source
        );
        reasons.push(Reason::from_rows(text, [host.row()]));
        whole(count)
    });
    if by_processors.is_none() {
        reasons.push(Reason::asked(format!(
            "{} vCPUs: how many share a core is not known, so processors do not count",
            thousands(totals.vcpus)
        )));
    }
    let memory = Bytes::gib(host.memory_gib);
    let by_memory = totals.memory.get().div_ceil(memory.get());
    let text = format!("{} / {memory} of a host = {}", totals.memory, counted(by_memory, "host"));
    reasons.push(Reason::from_rows(text, [host.row()]));
    let one = usable(1, ask, avs);
    let by_storage = totals.storage.get().div_ceil(one.get().max(1));
    let text = format!(
        "{} / {one} of vSAN of a host = {} ({})",
        totals.storage,
        counted(by_storage, "host"),
        usable_text(ask, avs)
    );
    let rows = [host.row(), ask.policy.row(), avs.limit_row(AvsLimit::VsanUsedMax)];
    reasons.push(Reason::from_rows(text, rows));
    let least = avs.limit(AvsLimit::HostsPerClusterMin);
    let least_by_policy = ask.policy.hosts_min;
    let text = format!(
        "a cluster has at least {least} hosts; with the policy {} at least {least_by_policy}",
        ask.policy.name
    );
    let rows = [avs.limit_row(AvsLimit::HostsPerClusterMin), ask.policy.row()];
    reasons.push(Reason::from_rows(text, rows));
    let cluster_max = avs.limit(AvsLimit::HostsPerClusterMax);
    let of_facts = avs.limit(AvsLimit::SpareHostsPerCluster);
    // A cluster of spare hosts alone would never be enough.
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
    let text = match hosts.spare(count) {
        0 => format!("{} for processors and memory, and no spare one", counted(count, "host")),
        spare => format!(
            "{} for processors and memory, and {} spare (in each cluster of at most {} hosts) = {}",
            counted(hosts.busy(), "host"),
            spare,
            hosts.cluster_max,
            counted(count, "host")
        ),
    };
    Reason::from_rows(text, rows)
}

/// What vSAN of so many hosts can hold.
pub fn usable(hosts: u64, ask: &Ask, avs: &Avs) -> Bytes {
    let share = u128::from(ask.policy.data)
        * u128::from(avs.limit(AvsLimit::VsanUsedMax))
        * u128::from(1000 - ask.format_permille.min(1000))
        * u128::from(ask.saving_permille);
    let of = u128::from(ask.policy.parts) * 100 * 1000 * 1000;
    let raw = u128::from(hosts) * u128::from(ask.host.raw_bytes());
    Bytes::new(whole(raw.saturating_mul(share) / of))
}

/// The same in words.
fn usable_text(ask: &Ask, avs: &Avs) -> String {
    let mut text = format!(
        "{} GB raw x {}/{} for {} x {} % that may be used",
        thousands(ask.host.raw_gb),
        ask.policy.data,
        ask.policy.parts,
        ask.policy.name,
        avs.limit(AvsLimit::VsanUsedMax)
    );
    if ask.format_permille > 0 {
        text.push_str(&format!(" less {} for its format", percent(ask.format_permille)));
    }
    if ask.saving_permille != 1000 {
        let saving = format!("{}.{:03}", ask.saving_permille / 1000, ask.saving_permille % 1000);
        text.push_str(&format!(" x {} saved", saving.trim_end_matches('0').trim_end_matches('.')));
    }
    text
}

/// Clusters for so many hosts.
pub fn clusters(hosts: u64, avs: &Avs) -> u64 {
    hosts.div_ceil(avs.limit(AvsLimit::HostsPerClusterMax))
}

fn whole(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
