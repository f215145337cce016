//! The root of the kernel's files: `/`, or a directory with copies of them.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory under which `proc`, `sys` and `etc` are.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The running system.
    pub fn of_this_host() -> Root {
        Root(PathBuf::from("/"))
    }

    /// A copy of a system, or of parts.
    pub fn at(path: &Path) -> Root {
        Root(path.to_path_buf())
    }

    /// The entries that do not exist.
    pub fn missing<'e>(&self, entries: &[&'e str]) -> Vec<&'e str> {
        entries.iter().copied().filter(|entry| !self.path(entry).exists()).collect()
    }

    /// The path of an entry, given without a leading slash.
    pub(crate) fn path(&self, entry: &str) -> PathBuf {
        self.0.join(entry)
    }

    /// The text of an entry, trimmed; `None` if it is unreadable or empty.
    pub(crate) fn text(&self, entry: &str) -> Option<String> {
        let bytes = fs::read(self.path(entry)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}
