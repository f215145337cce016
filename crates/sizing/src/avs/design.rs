//! A design: everything on vSAN, or the rest on Azure NetApp Files datastores.

use cloud::avs::AvsLimit;
use cloud::price::Usd;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::avs::ask::{Ask, Facts};
use crate::avs::hosts::{clusters, usable};
use crate::avs::pool::Pool;
use crate::avs::statement::{Reason, Statement};

/// One design.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The levels of its pools; empty for vSAN only.
    pub levels: Vec<ServiceLevel>,
    /// Hosts.
    pub hosts: u64,
    /// Their clusters.
    pub clusters: u64,
    /// Machines with data on vSAN, as indices of the selected machines.
    pub on_vsan: Vec<usize>,
    /// Their stored data.
    pub vsan_stored: Bytes,
    /// Usable vSAN capacity of the hosts.
    pub vsan_usable: Bytes,
    /// Pools of Azure NetApp Files.
    pub pools: Vec<Pool>,
    /// Datastores, pool by pool.
    pub datastores: Vec<Datastore>,
    /// Monthly cost of the pools; `None` without prices.
    pub files_month: Option<Usd>,
    /// Monthly cost of the hosts; `None` unless the user gives the price of one.
    pub hosts_month: Option<Usd>,
    /// Violated constraints; a design without is possible.
    pub lacks: Vec<Lack>,
    /// The arithmetic, in order.
    pub reasons: Vec<Reason>,
}

/// A datastore on Azure NetApp Files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datastore {
    /// Its name.
    pub name: String,
    /// Service level of its pool.
    pub level: ServiceLevel,
    /// Its quota.
    pub quota_gib: u64,
    /// The throughput limit of its volume.
    pub throughput: KibPerSec,
    /// Its machines: index of the selected machine, part (from 1), and number of parts.
    pub machines: Vec<(usize, u64, u64)>,
    /// Their stored data.
    pub stored: Bytes,
    /// Their load in bytes per second; 0 if unknown.
    pub load_bytes_per_s: u64,
}

/// A violated constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Lack {
    /// The constraint and the missing amount.
    pub reason: Reason,
}

impl Design {
    /// Whether no constraint is violated.
    pub fn is_possible(&self) -> bool {
        self.lacks.is_empty()
    }

    /// `vSAN only`, `Premium`, `Ultra + Standard`
    pub fn name(&self) -> String {
        if self.levels.is_empty() {
            return "vSAN only".to_owned();
        }
        let capital = |level: &ServiceLevel| {
            let name = level.name();
            name[..1].to_uppercase() + &name[1..]
        };
        self.levels.iter().map(capital).collect::<Vec<_>>().join(" + ")
    }

    /// The load of all datastores, rounded up; 0 if it is unknown.
    pub fn load(&self) -> KibPerSec {
        let bytes: u64 = self.datastores.iter().map(|store| store.load_bytes_per_s).sum();
        KibPerSec::new(bytes.div_ceil(1024))
    }

    /// Total monthly cost, if known.
    pub fn month(&self) -> Option<Usd> {
        Some(self.files_month? + self.hosts_month?)
    }
}

/// A design with this many hosts and no datastores yet.
pub(crate) fn with_hosts(count: u64, ask: &Ask, facts: &Facts<'_>) -> Design {
    let most = facts.avs.limit(AvsLimit::HostsPerCloudMax);
    let mut lacks = Vec::new();
    if count > most {
        let statement = Statement::HostsOfCloud { hosts: count, excess: count - most };
        let rows = [facts.avs.limit_row(AvsLimit::HostsPerCloudMax)];
        lacks.push(Lack { reason: Reason::from_rows(statement, rows) });
    }
    Design {
        levels: Vec::new(),
        hosts: count,
        clusters: clusters(count, facts.avs),
        on_vsan: Vec::new(),
        vsan_stored: Bytes::ZERO,
        vsan_usable: usable(count, ask, facts.avs),
        pools: Vec::new(),
        datastores: Vec::new(),
        files_month: None,
        hosts_month: ask.host_month.map(|month| month.times(count)),
        lacks,
        reasons: Vec::new(),
    }
}
