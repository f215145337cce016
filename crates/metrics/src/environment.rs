//! What an experiment was measured on and with.
//!
//! For: typed access to the facts that the analysis interprets. Every other fact is kept as text,
//! to be shown and compared. On disk and in every output the environment is a list of `(name,
//! value)` ([`Environment::pairs`]); only this file translates between the two.

use core::net::{IpAddr, SocketAddr};

use workload::limit::{PriorKnowledge, fill};

use crate::interleaved::Interleaved;

/// The name of [`Environment::experiment_text`] in the list.
pub const EXPERIMENT_TEXT: &str = "experiment.text";
/// How the names of facts about a target begin.
const OF_TARGET: [&str; 4] = ["device.", "filesystem.", "mount.", "target."];
const COMMAND_LINE: &str = "command.line";
const CLOUD: &str = "machine.cloud";
const AZURE: &str = "azure";
const VM_SIZE: &str = "vm.size";
const INTERFACE: &str = "nic.name";
const MOUNT_CONNECTIONS: &str = "mount.nconnect";
const MOUNT_OPTIONS: &str = "mount.super_options";
const MOUNT_SERVER: &str = "mount.server";
const NFS_VERSION: &str = "mount.version";
const SERVERS: &str = "target.servers";

/// The name of a fact about one of several targets: `mount.nconnect.vol2`. Facts about the first target are
/// stored without its name, as those of an experiment with one target.
pub fn fact_of_target(fact: &str, target: &str) -> String {
    format!("{fact}.{target}")
}

/// What a stored fact is about: its name without that of a target, and the target; `None` for other facts,
/// and if there is only one target.
///
/// * `targets` - the names of the experiment's targets
pub fn without_target<'a>(fact: &'a str, targets: &'a [String]) -> (&'a str, Option<&'a str>) {
    let is_about_target = OF_TARGET.iter().any(|start| fact.starts_with(start));
    let Some(first) = targets.first().filter(|_| is_about_target && targets.len() > 1) else {
        return (fact, None);
    };
    let named = |target: &'a String| {
        let name = fact.strip_suffix(target.as_str())?.strip_suffix('.')?;
        // A target can have the name of a fact.
        name.contains('.').then_some((name, Some(target.as_str())))
    };
    let shortest = targets.iter().filter_map(named).min_by_key(|(name, _)| name.len());
    shortest.unwrap_or((fact, Some(first)))
}

/// The host, the target and the command of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// What is known about limits, from the host and from the user.
    pub prior: PriorKnowledge,
    /// The command line as the user gave it.
    pub command_line: Option<String>,
    /// The experiment as the user wrote it.
    pub experiment_text: Option<String>,
    /// The host is a virtual machine in Azure.
    pub is_azure: bool,
    /// The size of the virtual machine: `Standard_D32s_v5`.
    pub vm_size: Option<String>,
    /// The network interface to the server.
    pub interface: Option<String>,
    /// Connections of the kernel's NFS mount.
    pub mount_connections: Option<u64>,
    /// The file system's own mount options, as the kernel lists them.
    pub mount_options: Option<String>,
    /// The server of the kernel's NFS mount.
    pub mount_server: Option<IpAddr>,
    /// The NFS version of the kernel's mount: `3`, `4.1`.
    pub nfs_version: Option<String>,
    /// The addresses at which the built-in client reaches the export.
    pub servers: Vec<SocketAddr>,
    /// For one side of an interleaved comparison: its partner and the order of the runs.
    pub interleaved: Option<Interleaved>,
    /// All other facts, `(name, value)`.
    pub other: Vec<(String, String)>,
}

impl Environment {
    /// All facts as `(name, value)`, ordered by name.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let servers: Vec<String> = self.servers.iter().map(ToString::to_string).collect();
        let typed = [
            (COMMAND_LINE, self.command_line.clone()),
            (EXPERIMENT_TEXT, self.experiment_text.clone()),
            (CLOUD, self.is_azure.then(|| AZURE.to_owned())),
            (VM_SIZE, self.vm_size.clone()),
            (INTERFACE, self.interface.clone()),
            (MOUNT_CONNECTIONS, self.mount_connections.map(|count| count.to_string())),
            (MOUNT_OPTIONS, self.mount_options.clone()),
            (MOUNT_SERVER, self.mount_server.map(|address| address.to_string())),
            (NFS_VERSION, self.nfs_version.clone()),
            (SERVERS, (!servers.is_empty()).then(|| servers.join(", "))),
        ];
        let mut pairs = self.prior.pairs();
        pairs.extend(typed.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        pairs.extend(self.interleaved.iter().flat_map(Interleaved::pairs));
        pairs.extend(self.other.iter().cloned());
        pairs.sort();
        pairs
    }

    /// Sets the typed field of this name. Returns false if there is none, if it is already set, or
    /// if the value is malformed.
    fn set(&mut self, name: &str, value: &str) -> bool {
        match name {
            COMMAND_LINE => fill(&mut self.command_line, value),
            EXPERIMENT_TEXT => fill(&mut self.experiment_text, value),
            CLOUD if value == AZURE => !std::mem::replace(&mut self.is_azure, true),
            VM_SIZE => fill(&mut self.vm_size, value),
            INTERFACE => fill(&mut self.interface, value),
            MOUNT_CONNECTIONS => fill(&mut self.mount_connections, value),
            MOUNT_OPTIONS => fill(&mut self.mount_options, value),
            MOUNT_SERVER => fill(&mut self.mount_server, value),
            NFS_VERSION => fill(&mut self.nfs_version, value),
            SERVERS if self.servers.is_empty() => {
                let servers = value.split(", ").map(str::parse).collect::<Result<_, _>>();
                servers.is_ok_and(|servers| {
                    self.servers = servers;
                    true
                })
            }
            _ => self.prior.add(name, value),
        }
    }
}

impl Extend<(String, String)> for Environment {
    fn extend<T: IntoIterator<Item = (String, String)>>(&mut self, pairs: T) {
        for (name, value) in pairs {
            if !self.set(&name, &value) {
                self.other.push((name, value));
            }
        }
        if let Some(interleaved) = Interleaved::of(&self.other) {
            self.other.retain(|(name, _)| !Interleaved::is_about(name));
            self.interleaved = Some(interleaved);
        }
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Environment {
        let mut environment = Environment::default();
        environment.extend(pairs);
        environment
    }
}

#[cfg(test)]
mod tests {
    use workload::interleave::ComparedSide;

    use super::*;

    /// One entry for each typed field and three others, ordered by name.
    const STORED: &[(&str, &str)] = &[
        ("command.line", "fourcorners run X --quick"),
        ("cpu.count", "8"),
        ("cpu.model", "EPYC"),
        ("experiment.text", "name = \"x\"\n"),
        ("filesystem.type", "nfs"),
        ("interleaved.order", "AB"),
        ("interleaved.partner", "20261121-061500-oltp-3f2a"),
        ("interleaved.side", "B"),
        ("kernel.release", "6.8.0"),
        ("known.link", "1250000000 bytes/s, as given"),
        ("machine.cloud", "azure"),
        ("mount.nconnect", "4"),
        ("mount.options", "rw,noatime"),
        ("mount.server", "10.0.0.4"),
        ("mount.super_options", "rw,vers=3"),
        ("mount.version", "3"),
        ("nic.name", "eth0"),
        ("target.null_round_trip_ns", "250000"),
        ("target.servers", "10.0.0.4:2049, [::1]:2049"),
        ("vm.size", "Standard_D8s_v5"),
    ];

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_fact_reads_back_as_it_was_stored() {
        let environment: Environment = owned(STORED).into_iter().collect();
        assert_eq!(environment.pairs(), owned(STORED));
        let other =
            [("cpu.model", "EPYC"), ("kernel.release", "6.8.0"), ("mount.options", "rw,noatime")];
        assert_eq!(environment.other, owned(&other));
        assert_eq!(environment.servers.len(), 2);
        assert_eq!(environment.mount_connections, Some(4));
        let interleaved = environment.interleaved.expect("it is one side of a comparison");
        assert_eq!(interleaved.side, ComparedSide::B);
        assert_eq!(environment.prior.processors.map(u32::from), Some(8));
    }

    #[test]
    fn facts_of_several_targets_have_different_names() {
        let targets = ["vol1", "vol2", "nconnect"].map(str::to_owned);
        for (stored, name, target) in [
            ("mount.nconnect", "mount.nconnect", Some("vol1")),
            ("kernel.release", "kernel.release", None),
            ("kernel.release.vol2", "kernel.release.vol2", None),
            (&fact_of_target("mount.nconnect", "vol2"), "mount.nconnect", Some("vol2")),
            (&fact_of_target("device.model", "nconnect"), "device.model", Some("nconnect")),
        ] {
            assert_eq!(without_target(stored, &targets), (name, target));
        }
        assert_eq!(without_target("mount.nconnect", &targets[..1]), ("mount.nconnect", None));
    }

    #[test]
    fn a_malformed_or_repeated_fact_is_kept_as_text() {
        let stored = owned(&[
            ("cpu.count", "many"),
            ("interleaved.side", "B"),
            ("machine.cloud", "another"),
            ("mount.server", "nowhere"),
            ("target.servers", "10.0.0.4"),
            ("vm.size", "a"),
            ("vm.size", "b"),
        ]);
        let environment: Environment = stored.iter().cloned().collect();
        assert_eq!(environment.vm_size.as_deref(), Some("a"));
        assert_eq!(environment.other.len(), stored.len() - 1);
        assert_eq!(environment.pairs(), stored);
    }
}
