//! The per-mount counters of Linux's NFS client: `/proc/self/mountstats`.
//!
//! The kernel's `nfs_show_stats` and `xprt_print_stats` print the format; nfsiostat(8) and
//! mountstats(8) read it. Malformed lines and other file systems are ignored.

use std::path::{Path, PathBuf};

use crate::mounts::path_of;

/// The counters of one NFS mount since it was mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountStats {
    /// The source: `server:/export`.
    pub source: String,
    /// The mount point.
    pub point: PathBuf,
    /// The options in force, as `opts:` lists them.
    pub options: String,
    /// Bytes read and written; `None` if the kernel does not report them.
    pub bytes: Option<Bytes>,
    /// Its connections. Mounts of one server share them.
    pub transports: Vec<Transport>,
    /// Calls by procedure, including unused ones.
    pub procedures: Vec<Procedure>,
}

/// Bytes sent to and received from the server, without headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Bytes of all READ calls, including readahead.
    pub server_read: u64,
    /// Bytes of all WRITE calls.
    pub server_written: u64,
}

/// A transport to the server; it connects on first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// Number of connects.
    pub connects: u64,
    /// Calls sent.
    pub sends: u64,
    /// Sum, over all sends, of the number of calls then waiting for a slot.
    pub waiting_for_slot: u64,
    /// Maximum number of slots in use; `None` before Linux 3.3.
    pub slots_used_max: Option<u64>,
}

/// The calls of one procedure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Procedure {
    /// `READ`, `WRITE`, `GETATTR`.
    pub name: String,
    /// Completed calls.
    pub calls: u64,
    /// Sum of their times from sending to the reply, in milliseconds: network and server.
    pub round_trip_ms: u64,
}

impl MountStats {
    /// The procedure with this name.
    pub fn procedure(&self, name: &str) -> Option<&Procedure> {
        self.procedures.iter().find(|procedure| procedure.name == name)
    }
}

/// The last NFS mount on exactly this mount point.
pub fn on<'a>(all: &'a [MountStats], point: &Path) -> Option<&'a MountStats> {
    all.iter().rev().find(|stats| stats.point == point)
}

/// Parses the text of `/proc/self/mountstats`.
pub fn parse(text: &[u8]) -> Vec<MountStats> {
    let mut all: Vec<MountStats> = Vec::new();
    let mut is_nfs = false;
    let mut in_procedures = false;
    for line in text.split(|byte| *byte == b'\n') {
        if line.starts_with(b"device ") {
            let mount = head(line);
            is_nfs = mount.is_some();
            in_procedures = false;
            all.extend(mount);
            continue;
        }
        let Some(mount) = all.last_mut().filter(|_| is_nfs) else { continue };
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line == "per-op statistics" {
            in_procedures = true;
        } else if let Some(options) = line.strip_prefix("opts:") {
            mount.options = options.trim().to_owned();
        } else if let Some(bytes) = line.strip_prefix("bytes:") {
            mount.bytes = bytes_of(bytes);
        } else if let Some(transport) = line.strip_prefix("xprt:") {
            mount.transports.extend(transport_of(transport));
        } else if in_procedures {
            mount.procedures.extend(procedure_of(line));
        }
    }
    all
}

/// Parses `device SOURCE mounted on POINT with fstype nfs4 statvers=1.1`, for NFS only.
fn head(line: &[u8]) -> Option<MountStats> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [b"device", source, b"mounted", b"on", point, b"with", b"fstype", fstype, ..] =
        fields.as_slice()
    else {
        return None;
    };
    if *fstype != b"nfs" && *fstype != b"nfs4" {
        return None;
    }
    let source = path_of(source).to_string_lossy().into_owned();
    Some(MountStats { source, point: path_of(point), ..MountStats::default() })
}

/// Parses `read written direct-read direct-written server-read server-written pages-read
/// pages-written`. The first four count requests of programs, the next two traffic with the server.
fn bytes_of(text: &str) -> Option<Bytes> {
    let mut fields = text.split_ascii_whitespace().skip(4).map(str::parse);
    Some(Bytes { server_read: fields.next()?.ok()?, server_written: fields.next()?.ok()? })
}

/// Parses `tcp port binds connects connect-time idle sends recvs bad-xids requests backlog slots
/// sending pending`; the first fields of `rdma` are the same.
fn transport_of(text: &str) -> Option<Transport> {
    let mut fields = text.split_ascii_whitespace();
    let kind = fields.next()?;
    let numbers: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    match (kind, numbers.as_slice()) {
        // After a long uptime the idle time can be negative, which ends the numbers here; the line
        // is still a connection.
        ("tcp" | "rdma", [_, _, connects, rest @ ..]) => Some(Transport {
            connects: *connects,
            sends: rest.get(2).copied().unwrap_or(0),
            waiting_for_slot: rest.get(6).copied().unwrap_or(0),
            slots_used_max: rest.get(7).copied().filter(|_| kind == "tcp"),
        }),
        // UDP has neither connections nor a count of connects.
        ("udp", [_, _, rest @ ..]) => Some(Transport {
            connects: 1,
            sends: rest.first().copied().unwrap_or(0),
            waiting_for_slot: rest.get(4).copied().unwrap_or(0),
            slots_used_max: rest.get(5).copied(),
        }),
        _ => None,
    }
}

/// Parses `READ: calls transmissions timeouts sent received queued round-trip total [errors]`.
fn procedure_of(line: &str) -> Option<Procedure> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> =
        numbers.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let [calls, _, _, _, _, _, round_trip_ms, _, ..] = numbers.as_slice() else { return None };
    Some(Procedure { name: name.to_owned(), calls: *calls, round_trip_ms: *round_trip_ms })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &[u8] = b"\
device proc mounted on /proc with fstype proc
device 10.0.0.4:/vol1 mounted on /mnt/two\\040words with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=262144,wsize=262144,hard,proto=tcp,nconnect=2,sec=sys,local_lock=none
\tage:\t86400
\tcaps:\tcaps=0x3fef,wtmult=4096,dtsize=4096,bsize=0,namlen=255
\tbytes:\t0 0 4096 8192 4096 8192 0 2
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\ttcp 759 1 1 0 12 39 39 0 80 5 17 2 0
\txprt:\ttcp 0 0 0 0 0 0 0 0 0 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0
\t     GETATTR: 8 8 0 952 784 0 4 5 0
\t        READ: 2 2 0 10 20 0 3
device tmpfs mounted on /dev/shm with fstype tmpfs
\topts:\tnot,of,nfs
";

    #[test]
    fn an_nfs_mount_has_options_connections_and_calls() {
        let all = parse(TEXT);
        assert_eq!(all.len(), 1);
        let mount = on(&all, Path::new("/mnt/two words")).unwrap();
        assert_eq!(mount.source, "10.0.0.4:/vol1");
        assert_eq!(mount.bytes, Some(Bytes { server_read: 4096, server_written: 8192 }));
        assert!(mount.options.starts_with("rw,vers=3") && mount.options.ends_with("=none"));
        let used =
            Transport { connects: 1, sends: 39, waiting_for_slot: 5, slots_used_max: Some(17) };
        let unused = Transport { slots_used_max: Some(2), ..Transport::default() };
        assert_eq!(mount.transports, [used, unused]);
        assert_eq!(mount.procedure("GETATTR").map(|p| (p.calls, p.round_trip_ms)), Some((8, 4)));
        assert_eq!(mount.procedure("READ"), None, "a truncated line is ignored");
        assert_eq!(on(&all, Path::new("/proc")), None);
    }

    #[test]
    fn a_transport_without_the_newer_counters_is_read() {
        assert_eq!(
            transport_of("\ttcp 700 1 3 0 -5 9").map(|t| (t.connects, t.sends)),
            Some((3, 0))
        );
        let old = transport_of("tcp 700 1 3 0 5 9 9 0 12 4").unwrap();
        assert_eq!((old.sends, old.waiting_for_slot, old.slots_used_max), (9, 4, None));
        assert_eq!(transport_of("local 1 2"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            parse(&bytes);
        }

        #[test]
        fn a_damaged_text_is_read_without_a_panic(
            at in 0..TEXT.len(), byte in any::<u8>(), cut in 0..TEXT.len(),
        ) {
            let mut bytes = TEXT.to_vec();
            bytes[at] = byte;
            bytes.truncate(cut);
            parse(&bytes);
        }
    }
}
