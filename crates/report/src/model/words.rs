//! The sentences of the model: resources, reasons and assumptions.

use cloud::figure::Protocol;
use cloud::volume_limit::{Ceiling, LimitDerivation};
use predict::coverage::Coverage;
use predict::parameter::{Parameter, Per};
use predict::topology::NameLoad;
use predict::{Assumption, Reason, Resource, ResourceKind, Statement};
use units::{counted, fraction_percent, thousands};

use crate::sheet;

/// `volumes, random operations (data)`
pub(crate) fn resource(of: &Resource) -> String {
    match of.name.as_str() {
        "" => kind(of.kind).to_owned(),
        name => format!("{} ({name})", kind(of.kind)),
    }
}

/// `volumes, random: data`, for tables and charts.
pub(crate) fn resource_label(of: &Resource) -> String {
    match of.name.as_str() {
        "" => of.kind.label().to_owned(),
        name => format!("{}: {name}", of.kind.label()),
    }
}

/// A kind of resource in a sentence.
pub(crate) const fn kind(of: ResourceKind) -> &'static str {
    match of {
        ResourceKind::Outstanding => "concurrency (too few operations outstanding)",
        ResourceKind::Slots => "request slots of the connections",
        ResourceKind::Flow => "connections",
        ResourceKind::FlowLimit => "throughput limit of the connections",
        ResourceKind::FlowOpsLimit => "operation limit of the connections",
        ResourceKind::HostProcessing => "hosts",
        ResourceKind::Guest => "virtual machines",
        ResourceKind::Egress => "egress limit of the hosts",
        ResourceKind::LinkOut => "network interface of the hosts, sending",
        ResourceKind::LinkIn => "network interface of the hosts, receiving",
        ResourceKind::EndpointOps => "endpoint, operations",
        ResourceKind::EndpointThroughput => "endpoint, throughput",
        ResourceKind::EndpointLimit => "throughput limit of the endpoint",
        ResourceKind::VolumeLimit => "throughput limit of the volumes",
        ResourceKind::VolumeRandom => "volumes, random operations",
        ResourceKind::VolumeReads => "volumes, sequential reads",
        ResourceKind::VolumeWrites => "volumes, sequential writes",
        ResourceKind::VolumeNames => "volumes, operations on names",
    }
}

/// A reason in the form that sheets list.
pub(crate) fn reason(of: &Reason) -> sheet::Reason {
    sheet::Reason { text: statement(&of.statement), rows: of.rows.clone() }
}

/// One line of arithmetic, without a full stop.
pub(crate) fn statement(of: &Statement) -> String {
    match of {
        Statement::FloorGiven(floor) => {
            format!("response time at queue depth 1: {floor}, given by the topology")
        }
        Statement::FloorPublished { median, count, low, high } => format!(
            "response time at queue depth 1: {median}, the median of {count} published values from \
             {low} to {high}"
        ),
        Statement::FloorNotPublished => "no response time at queue depth 1 is published".to_owned(),
        Statement::NoFloor => "no response time is added to that of the limits".to_owned(),
        Statement::Calibration { parameters, figures, error } => {
            let values: Vec<String> = parameters.iter().map(parameter).collect();
            format!(
                "{}; fitted to {} with a root mean square error of {}",
                values.join(", "),
                counted(*figures, "published figure"),
                fraction_percent(*error, 0)
            )
        }
        Statement::NamesPublished { parameters } => {
            let values: Vec<String> = parameters.iter().map(parameter).collect();
            format!(
                "{}; from the largest published rates of an EDA mix, so a volume may carry more; of one \
                 document, so the interval is that of random operations",
                values.join(", ")
            )
        }
        Statement::Connections { workload, hosts, each, paths, connections } => match each {
            Some(each) => format!(
                "{workload}: {} x {} x {} = {} connections",
                counted(*hosts, "host"),
                counted(*each, "connection"),
                counted(*paths, "endpoint"),
                thousands(*connections)
            ),
            None => format!(
                "{workload}: {} x {} = {} connections",
                counted(*hosts, "host"),
                counted(*paths, "volume"),
                thousands(*connections)
            ),
        },
        Statement::Outstanding { workload, connections, slots, calls, outstanding } => format!(
            "{workload}: {} x {slots} slots / {calls} calls per operation = at most {} outstanding \
             operations",
            counted(*connections, "connection"),
            thousands(outstanding.round() as u64)
        ),
        Statement::VmSize { name, vcpu, egress_mbit_s, egress } => format!(
            "{name}: {vcpu} processors; egress limit {} Mbit/s = {:.1} MiB/s; ingress is not limited",
            thousands(*egress_mbit_s),
            egress.as_mib()
        ),
        Statement::VolumeLimitGiven { volume, limit } => {
            format!("{volume}: throughput limit {limit}, given by the topology")
        }
        Statement::VolumeLimit(derivation) => volume_limit(derivation),
    }
}

/// `5,120 GiB x 64 KiB/s per GiB = 320 MiB/s`
pub(crate) fn volume_limit(of: &LimitDerivation) -> String {
    match of {
        LimitDerivation::Assigned(throughput) => format!("{throughput} assigned, with manual QoS"),
        LimitDerivation::Quota { quota_gib, rate, granted, kind, ceiling } => {
            let ceiling = match ceiling {
                Ceiling::Lower(most) => format!("; a {} volume has at most {most}", kind.name()),
                Ceiling::NotLower => String::new(),
                Ceiling::NotStated => {
                    format!("; the service states no limit for {} volumes", kind.name())
                }
            };
            format!("{} GiB x {rate} = {granted}{ceiling}", thousands(*quota_gib))
        }
    }
}

/// `a call at an endpoint: 12.34 us`
fn parameter((parameter, value): &(Parameter, f64)) -> String {
    let label = parameter.label();
    match parameter.per() {
        Per::Call => format!("{label}: {:.2} us", value * 1e6),
        Per::Byte => format!("{label}: {:.3} ns", value * 1e9),
        Per::Power => format!("{label}: {value:.2}"),
    }
}

/// The paragraph about kinds of operations on names without a published rate.
pub(crate) fn not_counted(load: &NameLoad) -> String {
    format!(
        "Not enough data for {}: no rate of these operations is published. They are {} of the operations \
         on names and are left out of every number below.",
        load.not_counted.join(", "),
        fraction_percent(load.not_counted_share, 0)
    )
}

/// The paragraph about a protocol that the model does not cover.
pub(crate) fn not_modelled(protocol: Protocol) -> String {
    let name = protocol.name();
    format!(
        "Not modelled: {}. The numbers below are for NFSv3 on the same hosts and volumes, with wider \
         intervals; `fourcorners expect --protocol {name}` shows published figures.",
        name.to_uppercase()
    )
}

/// An assumption as a sentence.
pub(crate) fn assumption(of: Assumption) -> String {
    match of {
        Assumption::NamesAsEda => {
            "An operation on a name costs as much as the mean of those of an EDA mix, of which nine in ten are \
             stat and access; on hosts, connections and endpoints as much as a read without data."
        }
        Assumption::MedianFloor => {
            "The response time at queue depth 1 is the median of published values. Measure it with \
             `tune` and set it as `floor`."
        }
        Assumption::HostPower => {
            "The throughput of a host grows with a power of its processors, fitted to machines with 4 \
             to 104 processors; figures for fewer than 32 were measured over SMB."
        }
        Assumption::HostsDoNotLimit => {
            "Hosts without `vcpu` or `vm` are never the bottleneck."
        }
        Assumption::VmwareHosts => "VMware hosts perform like those in published tests (AV36).",
        Assumption::SharedEndpoint => "All regular volumes without `endpoint` share one endpoint.",
        Assumption::Breakthrough => {
            "Volumes in breakthrough mode follow the only published test: 30 machines, four corners, \
             8 KiB and 256 KiB."
        }
        Assumption::SequentialWrites => {
            "Sequential writes to a regular volume follow the majority of figures, which are older; \
             newer figures are higher (see `expect`)."
        }
        Assumption::EvenDistribution => {
            "Operations are distributed evenly over all volumes of a workload."
        }
        Assumption::WarmCaches => {
            "Caches of the service are as warm as in the published tests."
        }
    }
    .to_owned()
}

/// The meaning of the intervals in brackets, with their measured coverage.
pub(crate) fn coverage() -> String {
    let (rates, latencies) = (Coverage::RATES, Coverage::LATENCIES);
    format!(
        "In brackets: 90 % intervals, derived from the errors for documents that were left out of the \
         fit. They widen as the system differs from published ones. Of the published figures, \
         predicted without their own document, {} rates and {} response times are in their interval; \
         its median width (upper over lower end) is {:.1} and {:.0}.",
        rates.in_words(),
        latencies.in_words(),
        rates.width,
        latencies.width
    )
}

#[cfg(test)]
mod tests {
    use cloud::catalog::Catalog;
    use cloud::service_level::{ServiceLevel, VolumeKind};
    use cloud::throughput::KibPerSec;
    use cloud::volume_limit::VolumeSettings;
    use units::Bytes;

    use super::*;

    #[test]
    fn the_arithmetic_of_a_volume_limit_has_the_ceiling_that_applies() {
        let (quota, catalog) = (Bytes::gib(102_400), Catalog::embedded());
        let words = |settings: VolumeSettings| {
            let limit = catalog.volume_limit(&settings).expect("the service allows it");
            volume_limit(&limit.derivation)
        };
        let ultra = |kind| words(VolumeSettings::auto(ServiceLevel::Ultra, kind, quota));
        assert_eq!(
            ultra(VolumeKind::Regular),
            "102,400 GiB x 128 KiB/s per GiB = 12,800 MiB/s; a regular volume has at most 4,500 MiB/s"
        );
        assert_eq!(ultra(VolumeKind::Large), "102,400 GiB x 128 KiB/s per GiB = 12,800 MiB/s");
        assert_eq!(
            ultra(VolumeKind::Breakthrough),
            "102,400 GiB x 128 KiB/s per GiB = 12,800 MiB/s; the service states no limit for \
             breakthrough volumes"
        );
        let assigned = KibPerSec::from_mib(200).expect("it fits");
        let manual = VolumeSettings::manual(
            ServiceLevel::Flexible,
            VolumeKind::Regular,
            Bytes::gib(1024),
            assigned,
        );
        assert_eq!(words(manual), "200 MiB/s assigned, with manual QoS");
    }
}
