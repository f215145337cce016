//! Distance between a published figure and a configuration: the sum of their differences.
//!
//! The weights are a judgement, not a measurement: a doubling counts 0.5, an unknown property
//! counts 1, a different kind counts more. The distance orders figures, and intervals of
//! predictions grow with the distance to the nearest figure; the growth is fitted
//! ([`crate::spread`]). `docs/method.md`, section Expectations, lists the weights.

use cloud::figure::{Access, Figure, Mix, Protocol};
use cloud::row::Status;
use cloud::service_level::VolumeKind;
use units::Bytes;

use crate::configuration::{
    Configuration, endpoints_of, hosts_of, is_esxi, is_of_endpoint, read_of, size_of,
};

/// Weight of each doubling.
const DOUBLING: f64 = 0.5;
/// Weight of a property that the source does not state.
const NOT_STATED: f64 = 1.0;
/// Weight of another protocol, too much for other similarities to compensate.
const PROTOCOL: f64 = 16.0;
/// Weight of random instead of sequential access.
const PATTERN: f64 = 6.0;
/// Weight of only reads instead of only writes.
const MIX: f64 = 6.0;
/// Weight of the VMware client instead of the Linux client.
const CLIENT: f64 = 4.0;
/// Weight of another kind of volume.
const KIND: f64 = 3.0;
/// Weight of another machine size with as many processors.
const SIZE: f64 = 0.2;
/// Weight of a year.
const YEAR: f64 = 0.05;
/// Weight of possible caching.
const CACHING: f64 = 0.5;
/// Weight of a figure that is replaced by a newer one.
const SUPERSEDED: f64 = 0.5;

/// A difference and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What differs.
    pub contrast: Contrast,
    /// Its weight.
    pub weight: f64,
}

/// Properties of a figure and of a configuration that can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The protocol.
    Protocol,
    /// The access pattern.
    Pattern,
    /// The share of reads.
    Read,
    /// The transfer size.
    TransferSize,
    /// Linux or VMware client.
    Client,
    /// Connections of each host.
    Nconnect,
    /// The kind of the volumes.
    Volume,
    /// The number of volumes.
    Volumes,
    /// The number of endpoints.
    Endpoints,
    /// The number of hosts.
    Hosts,
    /// The size of the virtual machines.
    Vm,
    /// Whether caches contributed.
    Caching,
    /// The age of the figure.
    Age,
    /// Whether a newer figure exists.
    Superseded,
}

impl Property {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Property::Protocol => "protocol",
            Property::Pattern => "pattern",
            Property::Read => "read",
            Property::TransferSize => "transfer_size",
            Property::Client => "client",
            Property::Nconnect => "nconnect",
            Property::Volume => "volume",
            Property::Volumes => "volumes",
            Property::Endpoints => "endpoints",
            Property::Hosts => "hosts",
            Property::Vm => "vm",
            Property::Caching => "caching",
            Property::Age => "age",
            Property::Superseded => "superseded",
        }
    }
}

/// A property with the value of the figure, then that of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Contrast {
    /// Protocols.
    Protocol(Protocol, Protocol),
    /// Access patterns.
    Pattern(Access, Access),
    /// Shares of reads, 0 to 1.
    Read(f64, f64),
    /// The figure is for the best share of reads.
    BestRead,
    /// The figure is a mean over shares of reads.
    MeanRead,
    /// Transfer sizes.
    TransferSize(Bytes, Bytes),
    /// Whether each client is VMware's.
    VmwareClient(bool, bool),
    /// Connections of each host.
    Nconnect(u64, u64),
    /// The figure is for an endpoint, whatever its volumes.
    Endpoint,
    /// Kinds of volumes.
    Volume(VolumeKind, VolumeKind),
    /// Numbers of volumes.
    Volumes(u64, u64),
    /// Numbers of endpoints.
    Endpoints(u64, u64),
    /// Numbers of hosts.
    Hosts(u64, u64),
    /// Sizes of virtual machines.
    Vm(String, String),
    /// A size of virtual machine, and a number of processors.
    VmProcessors(String, u64),
    /// Caches contributed to the figure.
    Cached,
    /// The year of the figure, and its age in years.
    Age(u64, u64),
    /// A newer figure replaces this one.
    Superseded,
    /// The figure's source does not state the property.
    NotStated(Property),
}

impl Contrast {
    /// What differs.
    pub const fn property(&self) -> Property {
        match self {
            Contrast::Protocol(..) => Property::Protocol,
            Contrast::Pattern(..) => Property::Pattern,
            Contrast::Read(..) | Contrast::BestRead | Contrast::MeanRead => Property::Read,
            Contrast::TransferSize(..) => Property::TransferSize,
            Contrast::VmwareClient(..) => Property::Client,
            Contrast::Nconnect(..) => Property::Nconnect,
            Contrast::Endpoint | Contrast::Volume(..) => Property::Volume,
            Contrast::Volumes(..) => Property::Volumes,
            Contrast::Endpoints(..) => Property::Endpoints,
            Contrast::Hosts(..) => Property::Hosts,
            Contrast::Vm(..) | Contrast::VmProcessors(..) => Property::Vm,
            Contrast::Cached => Property::Caching,
            Contrast::Age(..) => Property::Age,
            Contrast::Superseded => Property::Superseded,
            Contrast::NotStated(property) => *property,
        }
    }
}

impl Difference {
    /// Whether the model can account for it; otherwise it is only reported.
    pub fn is_modelled(&self) -> bool {
        !matches!(
            self.contrast.property(),
            Property::Protocol | Property::Caching | Property::Age | Property::Superseded
        )
    }
}

/// All differences, in a fixed order.
pub(crate) fn differences(mine: &Configuration, figure: &Figure, year: u64) -> Vec<Difference> {
    let mut all = Vec::new();
    each(mine, figure, &mut |weight, contrast| {
        all.push(Difference { contrast: contrast(), weight });
    });
    let mut add = |weight: f64, contrast: Contrast| {
        if weight > 0.0 {
            all.push(Difference { contrast, weight });
        }
    };
    match figure.caching {
        Some(true) => add(CACHING, Contrast::Cached),
        Some(false) => {}
        None => add(CACHING / 2.0, Contrast::NotStated(Property::Caching)),
    }
    let then: u64 = figure.origin.date.get(..4).and_then(|y| y.parse().ok()).unwrap_or(year);
    let age = year.saturating_sub(then);
    add(YEAR * age as f64, Contrast::Age(then, age));
    if figure.origin.status == Status::Superseded {
        add(SUPERSEDED, Contrast::Superseded);
    }
    all
}

/// Distance of a configuration from the nearest of some figures, by configuration only: neither age
/// nor caching counts. `None` without figures.
pub(crate) fn to_nearest<'a>(
    mine: &Configuration,
    figures: impl Iterator<Item = &'a Figure>,
) -> Option<f64> {
    let of = |figure: &Figure| {
        let mut sum = 0.0;
        each(mine, figure, &mut |weight, _| sum += weight);
        sum
    };
    figures.map(of).min_by(f64::total_cmp)
}

/// Receives a difference: its weight, and a function for what differs, because distances need only
/// weights.
type Add<'f> = dyn FnMut(f64, &dyn Fn() -> Contrast) + 'f;

/// Every difference between a configuration and that of a figure.
fn each(mine: &Configuration, figure: &Figure, add: &mut Add<'_>) {
    let mut add = |weight: f64, contrast: &dyn Fn() -> Contrast| {
        if weight > 0.0 {
            add(weight, contrast);
        }
    };
    if figure.protocol != mine.protocol {
        add(PROTOCOL, &|| Contrast::Protocol(figure.protocol, mine.protocol));
    }
    if let Some(pattern) = figure.pattern.filter(|pattern| *pattern != mine.access) {
        add(PATTERN, &|| Contrast::Pattern(pattern, mine.access));
    }
    match (read_of(figure), figure.read) {
        (Some(read), _) => {
            add(MIX * (read - mine.read).abs(), &|| Contrast::Read(read, mine.read));
        }
        (None, Mix::Peak) => add(NOT_STATED, &|| Contrast::BestRead),
        (None, Mix::Average) => add(NOT_STATED, &|| Contrast::MeanRead),
        (None, _) => add(NOT_STATED, &|| Contrast::NotStated(Property::Read)),
    }
    match figure.transfer_bytes {
        Some(bytes) => {
            let (its, own) = (Bytes::new(bytes), Bytes::new(mine.transfer_bytes));
            let weight = doublings(bytes, mine.transfer_bytes);
            add(weight, &|| Contrast::TransferSize(its, own));
        }
        None => add(NOT_STATED, &|| Contrast::NotStated(Property::TransferSize)),
    }
    if is_esxi(figure) != mine.esxi {
        add(CLIENT, &|| Contrast::VmwareClient(!mine.esxi, mine.esxi));
    }
    hosts(mine, figure, &mut add);
    match (figure.nconnect.filter(|_| !is_esxi(figure)), mine.esxi) {
        (_, true) => {}
        (Some(nconnect), false) => {
            let weight = doublings(nconnect, mine.nconnect);
            add(weight, &|| Contrast::Nconnect(nconnect, mine.nconnect));
        }
        (None, false) if is_esxi(figure) => {}
        (None, false) => add(NOT_STATED, &|| Contrast::NotStated(Property::Nconnect)),
    }
    match is_of_endpoint(figure) {
        true => add(NOT_STATED, &|| Contrast::Endpoint),
        false => {
            let kind = figure.volume.unwrap_or(VolumeKind::Regular);
            if kind != mine.kind {
                add(KIND, &|| Contrast::Volume(kind, mine.kind));
            }
            let volumes = figure.volumes;
            add(doublings(volumes, mine.volumes), &|| Contrast::Volumes(volumes, mine.volumes));
            let endpoints = endpoints_of(figure);
            let weight = doublings(endpoints, mine.endpoints);
            add(weight, &|| Contrast::Endpoints(endpoints, mine.endpoints));
        }
    }
}

fn hosts(mine: &Configuration, figure: &Figure, add: &mut Add<'_>) {
    match hosts_of(figure) {
        Some(hosts) => add(doublings(hosts, mine.hosts), &|| Contrast::Hosts(hosts, mine.hosts)),
        None => add(NOT_STATED, &|| Contrast::NotStated(Property::Hosts)),
    }
    if mine.esxi || is_esxi(figure) {
        return;
    }
    let name = mine.vm.as_ref().map(|own| own.name.as_str());
    match (size_of(figure), mine.vcpu) {
        (Some(size), Some(own)) if name != Some(size.name.as_str()) => {
            let contrast = || match name {
                Some(name) => Contrast::Vm(size.name.clone(), name.to_owned()),
                None => Contrast::VmProcessors(size.name.clone(), own),
            };
            add(SIZE + doublings(size.vcpu, own), &contrast);
        }
        (None, Some(_)) => add(NOT_STATED, &|| Contrast::NotStated(Property::Vm)),
        (Some(_), _) | (None, None) => {}
    }
}

fn doublings(one: u64, other: u64) -> f64 {
    DOUBLING * (one.max(1) as f64 / other.max(1) as f64).log2().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_accounts_for_all_differences_but_those_of_time_and_protocol() {
        let of = |contrast| Difference { contrast, weight: 1.0 }.is_modelled();
        let not_modelled = [
            Contrast::Protocol(Protocol::Nfsv3, Protocol::Smb),
            Contrast::Cached,
            Contrast::Age(2024, 2),
            Contrast::Superseded,
            Contrast::NotStated(Property::Caching),
        ];
        assert!(not_modelled.into_iter().all(|contrast| !of(contrast)));
        let modelled = [
            Contrast::Pattern(Access::Random, Access::Sequential),
            Contrast::Read(1.0, 0.0),
            Contrast::BestRead,
            Contrast::TransferSize(Bytes::new(4096), Bytes::new(8192)),
            Contrast::VmwareClient(true, false),
            Contrast::Nconnect(1, 8),
            Contrast::Endpoint,
            Contrast::Volume(VolumeKind::Large, VolumeKind::Regular),
            Contrast::Volumes(1, 2),
            Contrast::Endpoints(1, 2),
            Contrast::Hosts(1, 2),
            Contrast::Vm("D8s_v5".to_owned(), "D16s_v5".to_owned()),
            Contrast::NotStated(Property::Hosts),
        ];
        assert!(modelled.into_iter().all(of));
    }

    #[test]
    fn a_doubling_counts_half_in_both_directions() {
        let weights = [(8, 8), (8, 16), (16, 8), (1, 8), (0, 2)].map(|(a, b)| doublings(a, b));
        assert_eq!(weights, [0.0, 0.5, 0.5, 1.5, 0.5]);
    }

    #[test]
    fn each_contrast_belongs_to_its_property() {
        let names = |contrast: Contrast| contrast.property().name();
        assert_eq!(names(Contrast::MeanRead), "read");
        assert_eq!(names(Contrast::Endpoint), "volume");
        assert_eq!(names(Contrast::VmProcessors("D8s_v5".to_owned(), 8)), "vm");
        assert_eq!(names(Contrast::Cached), "caching");
        assert_eq!(names(Contrast::NotStated(Property::Nconnect)), "nconnect");
    }
}
