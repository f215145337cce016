//! The content of the lease file, which is the lock of our directory on a file system that other
//! machines reach. Written by `nfs/folder/lease.rs` and `posix/lease_file.rs`.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::nfs::random_u64;
use crate::refusal::Holder;

/// The name of the lease file.
pub(crate) const LEASE_NAME: &str = ".fourcorners.lock";
/// A lease that was not renewed for longer than this, by the server's clock, has expired.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(30);
/// How many bytes of a lease file are read.
pub(crate) const CONTENT_BYTES: usize = 4096;
const FORMAT: &str = "fourcorners lease";

/// The process that a lock belongs to: the one that measures, or the controller of the hosts that
/// do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    /// The name of its host.
    pub host: String,
    /// Its process number there.
    pub process: u32,
}

impl LockOwner {
    /// This process.
    pub fn this_process() -> LockOwner {
        LockOwner { host: this_host(), process: std::process::id() }
    }
}

/// How a host holds a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It took the lease, and no other host shares it.
    Alone,
    /// It took the lease, and others share it. It renews the lease.
    First,
    /// It shares the lease that another host took. It renews it only when the others do not: 1,000
    /// hosts that all renew it would load the server.
    Other,
}

/// The content of a lease file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// Identifies the kind of file.
    format: String,
    host: String,
    process: u32,
    /// When the lease was taken, by the clock of the host that took it, in milliseconds since 1970.
    began_unix_ms: u64,
    /// Distinguishes the leases of one process.
    token: u64,
    /// The kernel's lock on the directory is the only one: the file is not renewed, and names the
    /// owner of that lock.
    #[serde(default)]
    pub(crate) by_kernel: bool,
}

/// This machine's name.
pub(crate) fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl Content {
    /// A new lease.
    pub(crate) fn of(owner: &LockOwner) -> Content {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Content {
            format: FORMAT.to_owned(),
            host: owner.host.clone(),
            process: owner.process,
            began_unix_ms: now.map_or(0, |since| since.as_millis() as u64),
            token: random_u64(),
            by_kernel: false,
        }
    }

    /// Parses a lease file; `None` while its holder is still writing it.
    pub(crate) fn parse(text: &[u8]) -> Option<Content> {
        serde_json::from_slice(text).ok().filter(|content: &Content| content.format == FORMAT)
    }

    /// The text of the lease file.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("names and numbers");
        text.push(b'\n');
        text
    }
}

/// The holder of a lease that was last renewed `silence` ago.
pub(crate) fn holder(content: Option<Content>, silence: Duration) -> Holder {
    let silent_seconds = Some(silence.as_secs());
    match content {
        Some(Content { host, process, by_kernel, .. }) => {
            Holder { host, process, silent_seconds: silent_seconds.filter(|_| !by_kernel) }
        }
        None => Holder { host: "an unknown host".to_owned(), process: 0, silent_seconds },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_file_parses_to_what_was_written_and_a_truncated_one_not_at_all() {
        let content = Content::of(&LockOwner::this_process());
        let text = content.text();
        assert_eq!(Content::parse(&text), Some(content));
        assert_eq!(Content::parse(&text[..text.len() / 2]), None);
        assert_eq!(Content::parse(b"{\"format\":\"a cake\"}"), None);
    }
}
