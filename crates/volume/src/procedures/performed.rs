//! The outcome of a request, for limits, counters and the log.

use nfs3::procedure::Procedure;
use nfs3::server::Request;

use crate::exports::VolumeIndex;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The volume; `None` if the request names none, or none that the client may use.
    pub volume: Option<VolumeIndex>,
    /// The procedure.
    pub procedure: Procedure,
    /// Bytes read or written; 0 for other procedures than READ and WRITE.
    pub bytes: u64,
    /// Whether the reply is a refusal.
    pub failed: bool,
    /// Whether it is a repeated call that was answered with its first reply.
    pub replayed: bool,
    /// The resource that was used up, if the request failed for it.
    pub shortage: Option<Shortage>,
}

/// A resource of a volume that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// The quota: NFS3ERR_DQUOT.
    Quota,
    /// The memory limit of the service: NFS3ERR_NOSPC. It is a limit of the emulation, not of the
    /// volume, so it is logged.
    Memory,
    /// The disk under `--data`: NFS3ERR_NOSPC. Crate `disk` logs it.
    Disk,
    /// The number of files and directories: NFS3ERR_NOSPC.
    Inodes,
}

impl Performed {
    /// Success, with no bytes moved and no volume.
    pub(crate) fn of(request: &Request<'_>) -> Performed {
        Performed {
            volume: None,
            procedure: request.arguments.procedure(),
            bytes: 0,
            failed: false,
            replayed: false,
            shortage: None,
        }
    }
}
