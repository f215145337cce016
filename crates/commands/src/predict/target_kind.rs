//! What kind of storage a record's target is, as far as published figures of a file service over a
//! network can be compared with it.

use cloud::figure::Protocol;
use metrics::environment::Environment;
use metrics::run_record::ExperimentRecord;
use report::expect::basis::TargetKind;
use workload::plan::TargetSpec;

/// Linux's file system types of SMB mounts.
const SMB: [&str; 2] = ["cifs", "smb3"];

/// The kind of a record's target.
pub(super) fn of(record: &ExperimentRecord) -> TargetKind {
    by(record.plan.target(), &record.environment)
}

fn by(target: &TargetSpec, environment: &Environment) -> TargetKind {
    // Also true for a server on this host that was reached at a non-loopback address.
    let is_through_loopback = environment.interface.as_deref() == Some("lo");
    match target {
        TargetSpec::Null => TargetKind::Null,
        TargetSpec::Emulated { .. } => TargetKind::Emulated,
        TargetSpec::Nfs { .. } => {
            // Without addresses in the record, a remote server is assumed.
            let servers = &environment.servers;
            let all_loopback =
                !servers.is_empty() && servers.iter().all(|server| server.ip().is_loopback());
            match is_through_loopback || all_loopback {
                true => TargetKind::Loopback,
                false => TargetKind::Nfs,
            }
        }
        TargetSpec::Directory { .. } => {
            let server = environment.mount_server;
            match environment.prior.filesystem.as_deref().unwrap_or_default() {
                "nfs" | "nfs4"
                    if is_through_loopback || server.is_some_and(|ip| ip.is_loopback()) =>
                {
                    TargetKind::Loopback
                }
                "nfs" | "nfs4" => TargetKind::Nfs,
                // Records contain neither the SMB server nor the interface to it.
                name if SMB.contains(&name) => TargetKind::Smb,
                _ => TargetKind::Disk,
            }
        }
    }
}

/// The protocol of the nearest figures.
pub(super) fn protocol(kind: TargetKind) -> Protocol {
    match kind {
        TargetKind::Smb => Protocol::Smb,
        _ => Protocol::Nfsv3,
    }
}

/// The NFS version of the mount if there are no figures for it.
pub(super) fn other_version(record: &ExperimentRecord) -> Option<String> {
    let version = record.environment.nfs_version.as_deref().filter(|version| *version != "3");
    version.filter(|_| of(record) == TargetKind::Nfs).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(target: TargetSpec, environment: &[(&str, &str)]) -> TargetKind {
        let owned = environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        by(&target, &owned.collect::<Environment>())
    }

    fn directory() -> TargetSpec {
        TargetSpec::Directory { path: "/mnt/vol1".to_owned() }
    }

    #[test]
    fn published_figures_apply_to_servers_on_other_machines_only() {
        let export = || TargetSpec::Nfs { url: "nfs://a/b".to_owned(), connections: None };
        let by_servers = |servers: &str| kind_of(export(), &[("target.servers", servers)]);
        assert_eq!(by_servers("10.0.0.4:2049"), TargetKind::Nfs);
        assert_eq!(by_servers("127.0.0.1:2049, [::1]:2049"), TargetKind::Loopback);
        assert_eq!(by_servers("127.0.0.1:2049, 10.0.0.4:2049"), TargetKind::Nfs);
        assert_eq!(kind_of(export(), &[]), TargetKind::Nfs);
        let own = [("target.servers", "10.0.0.4:2049"), ("nic.name", "lo")];
        assert_eq!(kind_of(export(), &own), TargetKind::Loopback);
        assert_eq!(kind_of(TargetSpec::Null, &[]), TargetKind::Null);
        assert!(!TargetKind::Null.is_network() && !TargetKind::Loopback.is_network());
    }

    #[test]
    fn the_kind_of_a_directory_is_that_of_its_file_system() {
        let by = |filesystem: &str, server: &str| {
            kind_of(directory(), &[("filesystem.type", filesystem), ("mount.server", server)])
        };
        assert_eq!(by("nfs", "10.0.0.4"), TargetKind::Nfs);
        assert_eq!(by("nfs4", "10.0.0.4"), TargetKind::Nfs);
        assert_eq!(by("nfs", "::1"), TargetKind::Loopback);
        assert_eq!(by("cifs", ""), TargetKind::Smb);
        assert_eq!(protocol(TargetKind::Smb), Protocol::Smb);
        for filesystem in ["ext4", "xfs", "tmpfs", ""] {
            assert_eq!(by(filesystem, ""), TargetKind::Disk, "{filesystem}");
        }
    }
}
