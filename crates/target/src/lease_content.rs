//! The content of the lease file, which is the lock of our directory on an export. Written by
//! `nfs/folder/lease.rs`; read there and by the lock of a mounted directory.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::nfs::random_u64;
use crate::refusal::Holder;

/// The name of the lease file.
pub(crate) const LEASE_NAME: &str = ".fourcorners.lock";
/// A lease that was not renewed for longer than this, by the server's clock, has expired.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(30);
const FORMAT: &str = "fourcorners lease";

/// The content of a lease file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// Identifies the kind of file.
    format: String,
    host: String,
    process: u32,
    /// When the lease was taken, by the holder's clock, in milliseconds since 1970.
    began_unix_ms: u64,
    /// Distinguishes the leases of one process.
    token: u64,
}

/// This machine's name.
pub(crate) fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl Content {
    /// A new lease of this process.
    pub(crate) fn of_this_process() -> Content {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Content {
            format: FORMAT.to_owned(),
            host: this_host(),
            process: std::process::id(),
            began_unix_ms: now.map_or(0, |since| since.as_millis() as u64),
            token: random_u64(),
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
    let silent_seconds = silence.as_secs();
    match content {
        Some(Content { host, process, .. }) => Holder { host, process, silent_seconds },
        None => Holder { host: "an unknown host".to_owned(), process: 0, silent_seconds },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_file_parses_to_what_was_written_and_a_truncated_one_not_at_all() {
        let content = Content::of_this_process();
        let text = content.text();
        assert_eq!(Content::parse(&text), Some(content));
        assert_eq!(Content::parse(&text[..text.len() / 2]), None);
        assert_eq!(Content::parse(b"{\"format\":\"a cake\"}"), None);
    }
}
