//! The environment that is stored with the results: host, target, command and this binary.

use std::net::SocketAddr;

use host::Root;
use metrics::environment::{Environment, fact_of_target};
use metrics::fleet::FleetHost;
use target::directory::TargetDirectory;
use target::storage::DirectIo;
use units::Bytes;
use workload::limit::{PriorKnowledge, StatedLimit};
use workload::plan::Plan;

use crate::build_id::build_id;
use crate::outcome::Failure;

/// The environment of a run of `plan` on this host.
///
/// * `experiment_text` - the experiment as the user wrote it
/// * `command_line` - the command that repeats the run
/// * `directories` - of the targets, in the plan's order; none for the null target
/// * `stated` - limits that the user states
pub(crate) fn of_host(
    plan: &Plan,
    experiment_text: &str,
    command_line: &str,
    directories: &[TargetDirectory],
    stated: &[StatedLimit],
) -> Result<Environment, Failure> {
    let root = Root::of_this_host();
    let mut environment: Environment = host::facts::of_host(&root).into_iter().collect();
    let mut interfaces: Vec<String> = Vec::new();
    for (at, directory) in directories.iter().enumerate() {
        let mut facts = of_target(&root, directory);
        let interface = interface_to(&root, directory, &facts);
        if let Some(name) = interface.filter(|name| !interfaces.contains(name)) {
            facts.extend(host::network::facts(&root, &name));
            interfaces.push(name);
        }
        let named = |(name, value): (String, String)| match at {
            0 => (name, value),
            _ => (fact_of_target(&name, &plan.target_name(at)), value),
        };
        environment.extend(facts.into_iter().map(named));
    }
    environment.extend(host::instance::facts(&root));
    environment.prior.stated_limits.extend_from_slice(stated);
    environment.command_line = Some(command_line.to_owned());
    environment.experiment_text = Some(experiment_text.to_owned());
    if let Some(mounted) = directories.first().and_then(TargetDirectory::mounted) {
        let time = target::nfs::null_round_trip(mounted);
        environment.prior.null_round_trip_ns = time.map(|time| time.as_nanos() as u64);
    }
    let mut add = |name: &str, value: String| environment.other.push((name.to_owned(), value));
    add("fourcorners.version", env!("CARGO_PKG_VERSION").to_owned());
    add("fourcorners.build_id", build_id()?);
    Ok(environment)
}

/// The interface through which this host reaches the server of a target with these facts.
fn interface_to(
    root: &Root,
    directory: &TargetDirectory,
    facts: &[(String, String)],
) -> Option<String> {
    let server = match directory.mounted() {
        Some(mounted) => mounted.servers.first().map(SocketAddr::ip),
        None => facts.iter().cloned().collect::<Environment>().mount_server,
    };
    host::network::interface_to(root, Some(server?))
}

/// Facts about a target as this host reaches it.
fn of_target(root: &Root, directory: &TargetDirectory) -> Vec<(String, String)> {
    let Some(mounted) = directory.mounted() else {
        let direct_io = match &directory.storage().direct {
            DirectIo::Supported { offset_align_bytes } => {
                format!("in multiples of {offset_align_bytes} bytes")
            }
            DirectIo::Unsupported { reason } => format!("not supported: {reason}"),
        };
        let mut facts = host::facts::of_target(root, directory.path());
        facts.push(("target.directory".to_owned(), directory.path().display().to_string()));
        facts.push(("target.direct_io".to_owned(), direct_io));
        return facts;
    };
    let size = |bytes: u32| Bytes::new(u64::from(bytes)).to_string();
    let servers: Vec<String> = mounted.servers.iter().map(ToString::to_string).collect();
    let facts = [
        ("target.rsize", size(mounted.rsize_bytes)),
        ("target.servers", servers.join(", ")),
        ("target.url", mounted.url.to_string()),
        ("target.wsize", size(mounted.wsize_bytes)),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The environment of a run on a fleet: what all hosts have in common. Processors and round-trip time of
/// a single host are not those of the fleet, so they are left to the facts about each host.
pub(crate) fn of_fleet(
    experiment_text: &str,
    command_line: &str,
    hosts: &[FleetHost],
    stated: &[StatedLimit],
) -> Environment {
    let is_common = |fact: &&(String, String)| hosts.iter().all(|host| host.facts.contains(fact));
    let facts = hosts.iter().take(1).flat_map(|host| &host.facts);
    let mut environment: Environment = facts.filter(is_common).cloned().collect();
    environment.prior = PriorKnowledge {
        stated_limits: stated.to_vec(),
        filesystem: environment.prior.filesystem.take(),
        ..PriorKnowledge::default()
    };
    environment.command_line = Some(command_line.to_owned());
    environment.experiment_text = Some(experiment_text.to_owned());
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_has_the_common_facts_of_its_hosts_without_their_processors() {
        let host = |size: &str| {
            let facts = [
                ("cpu.count", "8"),
                ("filesystem.type", "nfs"),
                ("mount.nconnect", "4"),
                ("target.null_round_trip_ns", "250000"),
                ("vm.size", size),
            ];
            let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            FleetHost { facts, ..FleetHost::default() }
        };
        let of = |hosts: &[FleetHost]| of_fleet("", "", hosts, &[]);
        let same = of(&[host("Standard_D8s_v5"), host("Standard_D8s_v5")]);
        assert_eq!(same.vm_size.as_deref(), Some("Standard_D8s_v5"));
        assert_eq!(same.prior.filesystem.as_deref(), Some("nfs"));
        assert_eq!((same.prior.processors, same.prior.null_round_trip_ns), (None, None));
        let unequal = of(&[host("Standard_D8s_v5"), host("Standard_D16s_v5")]);
        assert_eq!((unequal.vm_size, unequal.mount_connections), (None, Some(4)));
    }
}
