//! Paths of file handles, from the replies of MNT, LOOKUP, CREATE and MKDIR.

use std::collections::BTreeMap;

/// Names that are kept.
const NAMES_MAX: usize = 1 << 20;
/// Directories above a file; handles that refer to each other in a circle are damage.
const DEPTH_MAX: usize = 256;
/// The path of a directory whose name is not in the capture.
const UNKNOWN: &str = "?";

/// The name of a handle.
#[derive(Debug)]
enum Name {
    /// The path of an export.
    Export(String),
    /// In a directory.
    In { directory: Vec<u8>, name: String },
}

/// Names of handles.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<Vec<u8>, Name>);

impl Names {
    pub(super) fn export(&mut self, handle: &[u8], path: &[u8]) {
        self.insert(handle, Name::Export(String::from_utf8_lossy(path).into_owned()));
    }

    pub(super) fn entry(&mut self, handle: &[u8], directory: &[u8], name: &[u8]) {
        if name != b"." && name != b".." {
            let name = String::from_utf8_lossy(name).into_owned();
            self.insert(handle, Name::In { directory: directory.to_vec(), name });
        }
    }

    fn insert(&mut self, handle: &[u8], name: Name) {
        if self.0.len() < NAMES_MAX || self.0.contains_key(handle) {
            self.0.insert(handle.to_vec(), name);
        }
    }

    /// The path; one that begins with `?` is below a directory that was mounted before the capture.
    /// `None` if no name is known.
    pub(super) fn path(&self, handle: &[u8]) -> Option<String> {
        let (mut names, mut handle) = (Vec::new(), handle);
        while let Some(name) = self.0.get(handle).filter(|_| names.len() < DEPTH_MAX) {
            match name {
                Name::Export(path) => {
                    names.push(path.as_str());
                    return Some(joined(names));
                }
                Name::In { directory, name } => {
                    names.push(name);
                    handle = directory;
                }
            }
        }
        if names.is_empty() {
            return None;
        }
        names.push(UNKNOWN);
        Some(joined(names))
    }
}

/// Names from the last to the first.
fn joined(names: Vec<&str>) -> String {
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_at_the_export_or_where_names_are_unknown() {
        let mut names = Names::default();
        names.entry(b"f", b"d", b"data");
        names.entry(b"d", b"root", b"db");
        assert_eq!(names.path(b"f").as_deref(), Some("?/db/data"));
        names.export(b"root", b"/vol1");
        assert_eq!(names.path(b"f").as_deref(), Some("/vol1/db/data"));
        assert_eq!(names.path(b"other"), None);
        // A circle ends.
        names.entry(b"root", b"f", b"x");
        assert!(names.path(b"f").is_some());
    }
}
