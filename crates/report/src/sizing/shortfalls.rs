//! The sentences of a sizing without a solution: shortfalls, and what would be feasible.

use cloud::throughput::KibPerSec;
use sizing::design::Design;
use sizing::shortfall::{Lack, Shortfall, Tried};
use sizing::solve::Relaxation;
use units::{Nanos, Share, counted, thousands};

use super::names;
use super::statements::{extrapolation, path_count};

/// Longer times are reported without an amount.
const LONGER_MAX: Share = Share::from_percent(10_000);
/// The smallest amount that is printed.
const SMALLEST: Share = Share::from_permille(1);

/// The constraint and the missing amount.
pub(super) fn shortfall(one: &Shortfall) -> String {
    let by = match one.lack {
        Lack::ResponseTime { .. } => {
            let (predicted, required) = one.lack.amounts();
            match Share::of(predicted.saturating_sub(required), required) {
                over if over <= LONGER_MAX => format!("too long by {}", over.max(SMALLEST)),
                _ => "too long".to_owned(),
            }
        }
        _ => format!("short by {}", one.missing().max(SMALLEST)),
    };
    format!(
        "{}: {} ({by}; tried: {}; {})",
        names::constraint(one.lack.constraint()),
        lack(one),
        tried(&one.tried),
        names::claim_kind(one.kind)
    )
}

/// `premium, auto QoS, regular volumes, Standard_D32s_v3`
pub(super) fn tried(of: &Tried) -> String {
    match of {
        Tried::Front => "all designs that no other beats".to_owned(),
        Tried::Design { level, qos, kind, host } => {
            let host = host.as_ref().map_or(String::new(), |host| format!(", {host}"));
            format!("{level}, {} QoS, {} volumes{host}", qos.name(), kind.name())
        }
    }
}

/// The required amount and the limit.
pub(super) fn lack(one: &Shortfall) -> String {
    let host = match &one.tried {
        Tried::Design { host: Some(host), .. } => host.as_str(),
        _ => "hosts",
    };
    match &one.lack {
        Lack::Volumes { required, most, throughput, capacity_gib } => format!(
            "{throughput:.1} and {} GiB require {} volumes; a subscription has at most {}",
            thousands(*capacity_gib),
            thousands(*required),
            thousands(*most)
        ),
        Lack::PoolSize { required_gib, most_gib, pools_max } => format!(
            "a pool of {} GiB is required; a pool has at most {} GiB, an account {pools_max} pools",
            thousands(*required_gib),
            thousands(*most_gib)
        ),
        Lack::Datastores { required, most } => {
            format!("{} are required; there are at most {most}", counted(*required, "datastore"))
        }
        Lack::HostsOfCloud { required, most } => {
            format!("{required} x {host} are required; a private cloud has at most {most}")
        }
        Lack::Egress { required, most, hosts } => {
            format!("{hosts} x {host} send at most {most:.1}; writes require {required:.1}")
        }
        Lack::HostCapability { required, hosts, vcpu, extrapolated_from } => {
            let processors =
                vcpu.map_or(String::new(), |vcpu| format!(" with {vcpu} processors each"));
            let extrapolated = vcpu.zip(*extrapolated_from).map(extrapolation);
            let extrapolated = extrapolated.map_or(String::new(), |words| format!(" ({words})"));
            format!(
                "{hosts} x {host}{processors}; by published figures {required} are \
                 required{extrapolated}"
            )
        }
        Lack::HostsOfCluster { required, hosts } => {
            format!("{hosts} x {host}; a cluster has at least {required}")
        }
        Lack::Connections { required, hosts, each, paths } => format!(
            "{} connections are required; {} with {each} to each of {} have {}",
            thousands(*required),
            counted(*hosts, "host"),
            path_count(*paths),
            thousands(one.lack.amounts().1)
        ),
        Lack::Slots { required, most } => format!(
            "{} requests are outstanding; the connections have {} slots",
            thousands(*required),
            thousands(*most)
        ),
        Lack::EndpointRequests { required, most, endpoints } => format!(
            "{} requests are outstanding; {} accept {}",
            thousands(*required),
            counted(*endpoints, "endpoint"),
            thousands(*most)
        ),
        Lack::Endpoints { required, volumes } => format!(
            "{required} endpoints are required, but there are only {}",
            counted(*volumes, "volume")
        ),
        Lack::ResponseTime { required, predicted, unloaded } => {
            let predicted = match predicted {
                Some(time) => format!("{time} is predicted"),
                None => "the prediction is longer".to_owned(),
            };
            format!(
                "{required} is required; {predicted}, of which {} is the response time at queue depth \
                 1 (published: {} to {})",
                Nanos(unloaded.value),
                Nanos(unloaded.low),
                Nanos(unloaded.high)
            )
        }
    }
}

/// A change of the need that makes it feasible: `with 2 hosts of Standard_D32s_v3`.
pub(super) fn relaxation(of: Relaxation, design: &Design) -> String {
    match of {
        Relaxation::AnyHostCount => match &design.hosts {
            Some(hosts) => {
                format!("with {} of {}", counted(u64::from(hosts.count), "host"), hosts.vm)
            }
            None => "with any number of hosts".to_owned(),
        },
        Relaxation::AnyVm => match &design.hosts {
            Some(hosts) => format!("with another host size: {} x {}", hosts.count, hosts.vm),
            None => "with another host size".to_owned(),
        },
        Relaxation::AnyLevel => format!("with service level {}", design.level_names().join(" + ")),
        Relaxation::Previews => "with features in preview (breakthrough volumes)".to_owned(),
        Relaxation::NoHeadroom => "without headroom".to_owned(),
        Relaxation::ResponseTime(time) => format!("with a response time of {time}"),
        Relaxation::Throughput(throughput) => format!("with at most {}", shown(throughput)),
    }
}

/// One decimal; below 1 MiB/s all digits.
fn shown(throughput: KibPerSec) -> String {
    match KibPerSec::from_mib(1).is_some_and(|one| throughput < one) {
        true => throughput.to_string(),
        false => format!("{throughput:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throughput_below_1_mib_s_is_printed_with_all_digits() {
        let shown = |kib| shown(KibPerSec::new(kib));
        assert_eq!(shown(8), "0.0078125 MiB/s");
        assert_eq!(shown(1024), "1.0 MiB/s");
        assert_eq!(shown(1_953_125), "1,907.3 MiB/s");
    }
}
