//! Errors of the NFS client, in words and as Linux error numbers.

use std::io;
use std::time::Duration;

use nfs3::mount::mountstat3;
use nfs3::rpc::ReplyStatus;
use nfs3::types::nfsstat3;
use rustix::io::Errno;

use super::fault::ProtocolFault;

/// A procedure that failed, with its file.
#[derive(Debug, thiserror::Error)]
#[error("{procedure} {file}: {failure}")]
pub struct NfsError {
    /// The procedure's name in the RFC, or `CONNECT`.
    pub procedure: &'static str,
    /// Server and path.
    pub file: String,
    /// The reason.
    pub failure: NfsFailure,
}

/// Why a procedure failed.
#[derive(Debug, thiserror::Error)]
pub enum NfsFailure {
    /// The server replied with an error.
    #[error("{message} ({status})", message = io::Error::from_raw_os_error(errno(*.0)), status = .0)]
    Status(nfsstat3),
    /// The server refused the mount.
    #[error("the server refuses the mount ({status:?}){}", mount_remedy(*.0), status = .0)]
    Mount(mountstat3),
    /// The server did not accept the call.
    #[error("the server did not accept the call: {}", refusal(.0))]
    Refused(ReplyStatus),
    /// The reply is not a reply of the procedure.
    #[error("the server's reply cannot be decoded: {0}")]
    Malformed(String),
    /// The portmapper does not know the program.
    #[error(
        "the server's portmapper does not list {program} over TCP; give its port as `{option}=` in \
         the URL if it has one"
    )]
    NotRegistered {
        /// The program.
        program: &'static str,
        /// The option of the URL that sets its port.
        option: &'static str,
    },
    /// The connection failed.
    #[error("{address}: {source}")]
    Connection {
        /// The server's address.
        address: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// No reply within this time, including reconnections.
    #[error("no reply within {} s", .0.as_secs_f64())]
    Deadline(Duration),
    /// The server replied NFS3ERR_JUKEBOX until the call's time was over.
    #[error(
        "the server replied NFS3ERR_JUKEBOX (try again later) {times} times in {} s",
        within.as_secs_f64()
    )]
    Jukebox {
        /// Number of these replies.
        times: u64,
        /// Time limit of the call.
        within: Duration,
    },
    /// The server does not export the path.
    #[error(
        "the server does not export it (MNT3ERR_NOENT); {}",
        exports_text(exports, nearest.as_deref())
    )]
    NoExport {
        /// What it exports, according to EXPORT (RFC 1813, section 5.2.5).
        exports: Vec<String>,
        /// The one with the most similar name.
        nearest: Option<String>,
    },
    /// The server violated the protocol.
    #[error(transparent)]
    Fault(#[from] ProtocolFault),
    /// The user cancelled while no reply came.
    #[error("interrupted while waiting for the server")]
    Cancelled,
}

/// Maximum number of exports in an error message.
const EXPORTS_LISTED: usize = 12;

fn exports_text(exports: &[String], nearest: Option<&str>) -> String {
    if exports.is_empty() {
        return "it lists no exports".to_owned();
    }
    let mut others: Vec<&str> = exports.iter().map(String::as_str).collect();
    if let Some(position) = others.iter().position(|name| Some(*name) == nearest) {
        let nearest = others.remove(position);
        others.insert(0, nearest);
    }
    let omitted = others.len().saturating_sub(EXPORTS_LISTED);
    others.truncate(EXPORTS_LISTED);
    let mut text = format!("it exports {}", others.join(", "));
    if omitted > 0 {
        text.push_str(&format!(" and {omitted} more"));
    }
    if let Some(nearest) = nearest {
        text.push_str(&format!("; did you mean {nearest}?"));
    }
    text
}

fn mount_remedy(status: mountstat3) -> &'static str {
    match status {
        mountstat3::MNT3ERR_ACCES | mountstat3::MNT3ERR_PERM => {
            "; check the export's rules and whether it requires `privileged=true`"
        }
        _ => "",
    }
}

fn refusal(status: &ReplyStatus) -> String {
    match status {
        ReplyStatus::AuthError(why) => {
            format!("{why:?}; check uid, gid and `privileged=true`, and the export's rules")
        }
        ReplyStatus::ProgMismatch { low, high } => {
            format!("it supports versions {low} to {high} of the program; version 3 is needed")
        }
        ReplyStatus::ProgUnavail => "the program is not available on this port".to_owned(),
        other => format!("{other:?}"),
    }
}

impl NfsError {
    /// The Linux error number that a mounted file system would return.
    pub fn errno(&self) -> i32 {
        match &self.failure {
            NfsFailure::Status(status) => errno(*status),
            NfsFailure::Mount(status) => errno(nfsstat3(*status as u32)),
            NfsFailure::Refused(status) => refused_errno(status),
            NfsFailure::Malformed(_) | NfsFailure::Fault(_) => Errno::PROTO.raw_os_error(),
            NfsFailure::NoExport { .. } => Errno::NOENT.raw_os_error(),
            NfsFailure::Jukebox { .. } => Errno::TIMEDOUT.raw_os_error(),
            NfsFailure::Cancelled => Errno::INTR.raw_os_error(),
            NfsFailure::NotRegistered { .. } => Errno::PROTONOSUPPORT.raw_os_error(),
            NfsFailure::Connection { source, .. } => {
                let errno = match source.kind() {
                    io::ErrorKind::TimedOut => Errno::TIMEDOUT,
                    _ => Errno::IO,
                };
                source.raw_os_error().unwrap_or(errno.raw_os_error())
            }
            NfsFailure::Deadline(_) => Errno::TIMEDOUT.raw_os_error(),
        }
    }

    /// The error kind that a mounted file system would return.
    pub fn kind(&self) -> io::ErrorKind {
        io::Error::from_raw_os_error(self.errno()).kind()
    }

    /// Whether the server replied with this status.
    pub fn is_status(&self, status: nfsstat3) -> bool {
        matches!(self.failure, NfsFailure::Status(replied) if replied == status)
    }
}

impl From<NfsError> for io::Error {
    fn from(error: NfsError) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}

/// The Linux error number of a status, as the kernel's client returns it. Statuses that the kernel
/// does not pass to programs (`EBADHANDLE` and similar) become the nearest number that it does.
pub fn errno(status: nfsstat3) -> i32 {
    let errno = match status {
        nfsstat3::NFS3ERR_NAMETOOLONG => Errno::NAMETOOLONG,
        nfsstat3::NFS3ERR_NOTEMPTY => Errno::NOTEMPTY,
        nfsstat3::NFS3ERR_DQUOT => Errno::DQUOT,
        nfsstat3::NFS3ERR_STALE | nfsstat3::NFS3ERR_BADHANDLE => Errno::STALE,
        nfsstat3::NFS3ERR_REMOTE => Errno::REMOTE,
        nfsstat3::NFS3ERR_NOT_SYNC => Errno::BUSY,
        nfsstat3::NFS3ERR_NOTSUPP => Errno::OPNOTSUPP,
        nfsstat3::NFS3ERR_BAD_COOKIE | nfsstat3::NFS3ERR_TOOSMALL | nfsstat3::NFS3ERR_BADTYPE => {
            Errno::INVAL
        }
        nfsstat3::NFS3ERR_SERVERFAULT => Errno::REMOTEIO,
        nfsstat3::NFS3ERR_JUKEBOX => Errno::AGAIN,
        // These have the same numbers in Linux.
        nfsstat3::NFS3ERR_PERM
        | nfsstat3::NFS3ERR_NOENT
        | nfsstat3::NFS3ERR_IO
        | nfsstat3::NFS3ERR_NXIO
        | nfsstat3::NFS3ERR_ACCES
        | nfsstat3::NFS3ERR_EXIST
        | nfsstat3::NFS3ERR_XDEV
        | nfsstat3::NFS3ERR_NODEV
        | nfsstat3::NFS3ERR_NOTDIR
        | nfsstat3::NFS3ERR_ISDIR
        | nfsstat3::NFS3ERR_INVAL
        | nfsstat3::NFS3ERR_FBIG
        | nfsstat3::NFS3ERR_NOSPC
        | nfsstat3::NFS3ERR_ROFS
        | nfsstat3::NFS3ERR_MLINK => return status.0 as i32,
        _ => Errno::IO,
    };
    errno.raw_os_error()
}

/// The Linux error number of a call that the server did not accept.
pub(super) fn refused_errno(status: &ReplyStatus) -> i32 {
    let errno = match status {
        ReplyStatus::AuthError(_) => Errno::ACCESS,
        ReplyStatus::ProgUnavail
        | ReplyStatus::ProgMismatch { .. }
        | ReplyStatus::RpcMismatch { .. } => Errno::PROTONOSUPPORT,
        ReplyStatus::ProcUnavail => Errno::OPNOTSUPP,
        ReplyStatus::Success | ReplyStatus::GarbageArgs | ReplyStatus::SystemErr => Errno::IO,
    };
    errno.raw_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_linux_error_number() {
        for status in nfsstat3::ALL.iter().filter(|status| **status != nfsstat3::NFS3_OK) {
            let number = errno(*status);
            assert!((1..134).contains(&number), "{status} {number}");
            let named = io::Error::from_raw_os_error(number).to_string();
            assert!(!named.contains("Unknown error"), "{status} {named}");
        }
        assert_eq!(errno(nfsstat3::NFS3ERR_STALE), 116);
        assert_eq!(errno(nfsstat3::NFS3ERR_DQUOT), 122);
        assert_eq!(errno(nfsstat3::NFS3ERR_NOTEMPTY), 39);
        assert_eq!(errno(nfsstat3(4711)), 5);
    }

    #[test]
    fn an_error_names_the_procedure_the_file_and_the_reason() {
        let error = NfsError {
            procedure: "LOOKUP",
            file: "server:/vol/a".to_owned(),
            failure: NfsFailure::Status(nfsstat3::NFS3ERR_NOENT),
        };
        assert_eq!(
            error.to_string(),
            "LOOKUP server:/vol/a: No such file or directory (os error 2) (NFS3ERR_NOENT)"
        );
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    }
}
