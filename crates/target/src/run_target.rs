//! A target that is ready for runs, whatever its kind.
//!
//! [`RunTarget`] is the interface between a kind of target and the engine and runner. A new kind
//! implements it in its module and adds what its workers open to [`Opener`]. How the user names a
//! target: [`crate::location`].

use std::fmt;
use std::path::PathBuf;

use workload::plan::{Capabilities, IoMethod, IoMethodUsed, Stream};

use crate::names::{NameOpener, NameWork};
use crate::nfs::{NfsAccess, NfsFiles, Rewrite};
use crate::null::Null;
use crate::posix::FileAccess;
use crate::posix::psync::Psync;
use crate::posix::ring::RingFiles;
use crate::{Target, TargetError};

/// A target whose files exist and were verified.
pub trait RunTarget: fmt::Debug + Send + Sync {
    /// What this kind of target can do.
    fn capabilities(&self) -> Capabilities;

    /// What `worker` opens; `None` if the target does not have the files of its stream.
    fn opener(&self, worker: &WorkerShare<'_>) -> Option<Opener>;

    /// What `worker`, whose stream has operations on names, opens; `None` if this kind of target has no
    /// names.
    fn name_opener(&self, _worker: &WorkerShare<'_>, _work: NameWork) -> Option<NameOpener> {
        None
    }

    /// The I/O method and the reason for it, if this kind supports only one; `None` if it is to be
    /// probed.
    fn fixed_io_method(&self, _requested: IoMethod) -> Option<(IoMethodUsed, &'static str)> {
        None
    }

    /// The stream's files on this host, indexed by `Op::file`; empty for other kinds.
    fn local_paths(&self, _stream: &Stream) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// One worker of a run, and how the resources of this process are divided among its workers.
#[derive(Clone)]
pub struct WorkerShare<'a> {
    /// The stream it works for.
    pub stream: &'a Stream,
    /// Its number among the workers of this process, from 0.
    pub number: u32,
    /// Workers of this process.
    pub workers: u32,
    /// Connections of this process, if the run sets them.
    pub connections: Option<u32>,
    /// How operations are sent.
    pub io_method: IoMethodUsed,
    /// Whether reads are verified.
    pub verify: bool,
    /// Generates the data of a write again, if the stream writes.
    pub rewrite: Option<Rewrite>,
}

/// What a worker's thread needs to open its target. An enum and not a trait object, because the
/// loop that uses the target is compiled for each kind (see [`UseTarget`]).
#[derive(Clone, Debug)]
pub enum Opener {
    /// The null target.
    Null,
    /// Files through blocking calls.
    Psync(FileAccess),
    /// Files through io_uring.
    Ring(FileAccess),
    /// Files on an NFS export.
    Nfs(Box<NfsAccess>),
}

/// Code that uses an open target. A trait and not a closure, because the loop around a target is
/// compiled for each kind: a virtual call for each operation would add to every measurement.
pub trait UseTarget {
    /// The result.
    type Output;

    /// Uses `target` until done.
    fn use_target<T: Target>(self, target: T) -> Self::Output;
}

impl Opener {
    /// The number of connections that the worker opens.
    pub fn connections(&self) -> usize {
        match self {
            Opener::Nfs(access) => access.connections.len(),
            Opener::Null | Opener::Psync(_) | Opener::Ring(_) => 0,
        }
    }

    /// Opens the target for `queue_depth` operations, in the thread that will use it.
    ///
    /// # Errors
    /// The target cannot be opened.
    pub fn open<U: UseTarget>(&self, queue_depth: u32, user: U) -> Result<U::Output, TargetError> {
        Ok(match self {
            Opener::Null => user.use_target(Null::new(queue_depth)),
            Opener::Psync(access) => user.use_target(Psync::open(access)?),
            Opener::Ring(access) => user.use_target(RingFiles::open(access, queue_depth)?),
            Opener::Nfs(access) => user.use_target(NfsFiles::open(access, queue_depth)?),
        })
    }
}
