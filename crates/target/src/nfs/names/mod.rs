//! Operations on names of a tree on an export: each is the sequence of NFSv3 calls that it needs, any
//! number of them outstanding over any number of connections.
//!
//! The calls of a sequence follow each other ([`sequence`]); connections, retries and counters are
//! those of [`super::core`]. Handles of directories and files come from bounded caches ([`handles`]);
//! a handle that is in neither costs LOOKUPs, which are counted as calls of that kind.

mod encode;
mod handles;
mod reply;
mod sequence;

pub(super) use encode::EXTRA_CALL_BYTES;
pub(super) use encode::NameCall;
pub(super) use reply::{NameReply, NoReply, name_reply};
pub(super) use sequence::Names;

use std::sync::Arc;

use nfs3::types::Handle;
use workload::op::OpKind;
use workload::plan::{Stream, WriteStability};

use super::files::UNCOMMITTED_MAX;
use super::{Mounted, NfsAccess, NfsFiles};
use crate::names::NameWork;
use crate::{Target, TargetError};

/// What a worker needs for operations on names of an export.
#[derive(Clone, Debug)]
pub struct NfsNameAccess {
    /// Connections and limits; without files.
    pub access: NfsAccess,
    /// The operations.
    pub work: NameWork,
    /// The handle of the directory that contains the tree.
    pub directory: Handle,
}

impl NfsNameAccess {
    /// The access of a worker of `stream`.
    pub(super) fn new(
        mounted: &Arc<Mounted>,
        connections: std::ops::Range<u32>,
        (stream, verify): (&Stream, bool),
        work: NameWork,
        directory: Handle,
    ) -> NfsNameAccess {
        let access = NfsAccess {
            mounted: Arc::clone(mounted),
            connections,
            files: Vec::new(),
            stability: stream.write_stability.unwrap_or(WriteStability::Unstable),
            transfer_size_max_bytes: work.part_bytes(),
            keep_read_data: verify || work.kinds.contains(&OpKind::Copy),
            rewrite: None,
            uncommitted_max: UNCOMMITTED_MAX.min(1),
        };
        NfsNameAccess { access, work, directory }
    }

    /// The number of connections that the worker opens.
    pub fn connections(&self) -> usize {
        self.access.connections.len()
    }

    /// Opens the connections for `queue_depth` operations.
    pub(crate) fn open(&self, queue_depth: u32) -> Result<Box<dyn Target>, TargetError> {
        let names = Names::new(self.work.clone(), self.directory, queue_depth);
        Ok(Box::new(NfsFiles::open_with(&self.access, queue_depth, Some(names))?))
    }
}
