//! How a record's target was reached, as far as it tells whether figures of a file service over a
//! network can be set beside it.

use std::net::{IpAddr, SocketAddr};

use cloud::figure::Protocol;
use metrics::run_record::ExperimentRecord;
use workload::plan::TargetSpec;

use super::entry;

/// File systems of mounts of SMB, as Linux calls them.
const SMB: [&str; 2] = ["cifs", "smb3"];

/// How the target was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// NFS, from another machine.
    Nfs,
    /// SMB, from another machine as far as is known.
    Smb,
    /// A server on this host.
    Loopback,
    /// The volume that the process served itself.
    Emulated,
    /// A directory of a file system on this host's disks.
    Disk,
    /// Nothing was reached.
    Null,
}

impl Reached {
    pub(super) fn of(record: &ExperimentRecord) -> Reached {
        Reached::by(&record.plan.target, &record.environment)
    }

    fn by(target: &TargetSpec, environment: &[(String, String)]) -> Reached {
        let entry = |name: &str| entry(environment, name);
        // So it is where a server on this host was reached by another address of its own.
        let is_through_loopback = entry("nic.name") == Some("lo");
        match target {
            TargetSpec::Null => Reached::Null,
            TargetSpec::Emulated { .. } => Reached::Emulated,
            TargetSpec::Nfs { .. } => {
                let servers = entry("target.servers").unwrap_or_default();
                let mut servers = servers.split(", ").filter_map(|text| text.parse().ok());
                // Where the record says nothing, the URL says at least that there is a server.
                let any = servers.next();
                let is_own = |server: SocketAddr| server.ip().is_loopback();
                match is_through_loopback || any.is_some_and(is_own) && servers.all(is_own) {
                    true => Reached::Loopback,
                    false => Reached::Nfs,
                }
            }
            TargetSpec::Directory { .. } => {
                let filesystem = entry("filesystem.type").unwrap_or_default();
                let server = entry("mount.server");
                let server: Option<IpAddr> = server.and_then(|text| text.parse().ok());
                match filesystem {
                    "nfs" | "nfs4"
                        if is_through_loopback || server.is_some_and(|ip| ip.is_loopback()) =>
                    {
                        Reached::Loopback
                    }
                    "nfs" | "nfs4" => Reached::Nfs,
                    // Of SMB no record says the server, nor the interface to it.
                    name if SMB.contains(&name) => Reached::Smb,
                    _ => Reached::Disk,
                }
            }
        }
    }

    /// Whether what is measured may be a file service's.
    pub(super) fn is_network(self) -> bool {
        matches!(self, Reached::Nfs | Reached::Smb)
    }

    /// The protocol of the figures that are nearest.
    pub(super) fn protocol(self) -> Protocol {
        match self {
            Reached::Smb => Protocol::Smb,
            _ => Protocol::Nfsv3,
        }
    }

    /// What is set beside what, and what that says.
    pub(super) fn words(self, record: &ExperimentRecord) -> String {
        let what = match self {
            Reached::Nfs | Reached::Smb => {
                let whose = match entry(&record.environment, "machine.cloud") {
                    Some("azure") => {
                        "What was published is of Azure NetApp Files; that this target is one of \
                         its volumes is assumed."
                    }
                    _ => {
                        "What was published is of Azure NetApp Files; whether this target is one \
                         of its volumes the record does not say. Of another store the shares tell \
                         how it compares, not what it should reach."
                    }
                };
                let where_it_is = match self {
                    Reached::Smb => {
                        " That the server is another machine is assumed: of SMB the record does \
                         not say."
                    }
                    _ => "",
                };
                return format!("{whose}{where_it_is}");
            }
            Reached::Loopback => "a server on this host",
            Reached::Emulated => "an emulated volume, whose limits were set and not bought",
            Reached::Disk => "a file system of this host",
            Reached::Null => "the target null:, which does nothing",
        };
        format!(
            "Measured was {what}; what was published is of Azure NetApp Files, over a network. \
             They stand beside each other because that was asked for."
        )
    }

    /// The version of NFS, where no figures are of it.
    pub(super) fn other_version(self, record: &ExperimentRecord) -> Option<&str> {
        let version = entry(&record.environment, "mount.version").filter(|version| *version != "3");
        version.filter(|_| self == Reached::Nfs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(target: TargetSpec, environment: &[(&str, &str)]) -> Reached {
        let owned = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Reached::by(&target, &owned.collect::<Vec<(String, String)>>())
    }

    fn directory() -> TargetSpec {
        TargetSpec::Directory { path: "/mnt/vol1".to_owned() }
    }

    #[test]
    fn only_a_store_behind_a_network_is_one_that_figures_may_be_of() {
        let export = || TargetSpec::Nfs { url: "nfs://a/b".to_owned(), connections: None };
        let by_servers = |servers: &str| reached(export(), &[("target.servers", servers)]);
        assert_eq!(by_servers("10.0.0.4:2049"), Reached::Nfs);
        assert_eq!(by_servers("127.0.0.1:2049, [::1]:2049"), Reached::Loopback);
        assert_eq!(by_servers("127.0.0.1:2049, 10.0.0.4:2049"), Reached::Nfs);
        assert_eq!(reached(export(), &[]), Reached::Nfs);
        let own = [("target.servers", "10.0.0.4:2049"), ("nic.name", "lo")];
        assert_eq!(reached(export(), &own), Reached::Loopback);
        assert_eq!(reached(TargetSpec::Null, &[]), Reached::Null);
        assert!(!Reached::Null.is_network() && !Reached::Loopback.is_network());
    }

    #[test]
    fn a_directory_is_what_is_mounted_there() {
        let by = |filesystem: &str, server: &str| {
            reached(directory(), &[("filesystem.type", filesystem), ("mount.server", server)])
        };
        assert_eq!(by("nfs", "10.0.0.4"), Reached::Nfs);
        assert_eq!(by("nfs4", "10.0.0.4"), Reached::Nfs);
        assert_eq!(by("nfs", "::1"), Reached::Loopback);
        assert_eq!(by("cifs", ""), Reached::Smb);
        assert_eq!(Reached::Smb.protocol(), Protocol::Smb);
        for filesystem in ["ext4", "xfs", "tmpfs", ""] {
            assert_eq!(by(filesystem, ""), Reached::Disk, "{filesystem}");
        }
    }
}
