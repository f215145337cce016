//! Whether a file is the very one that we made, and not another that was put under its name.
//!
//! A file is known by its inode number and by the moment of its creation, as far as the file system
//! keeps them; both are kept in the manifest when the file is made. A name alone says nothing: who
//! moves a file of his own over ours must not lose it to the next refill or to `clean`.

use nfs3::types::Handle;
use serde::{Deserialize, Serialize};

use crate::folder::Entry;

/// What tells a file from another one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIdentity {
    /// Its inode number, where the file system keeps it over a mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// When it was created, in nanoseconds since 1970, where the file system knows (`statx`). It
    /// decides where an inode number was given to a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_unix_ns: Option<u64>,
    /// The handle by which a server of NFS knows it, where it was made through NFS without a mount.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "handle_text")]
    pub handle: Option<Handle>,
}

/// A handle as text: two hexadecimal digits for each byte.
mod handle_text {
    use nfs3::types::Handle;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        handle: &Option<Handle>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match handle {
            Some(handle) => serializer.collect_str(&format_args!("{handle:?}")),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Handle>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pairs = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = pairs
            .map(|pair| match pair {
                [a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                    u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
                }
                _ => None,
            })
            .collect();
        let handle = bytes.and_then(|bytes| Handle::new(&bytes));
        handle.map(Some).ok_or_else(|| D::Error::custom(format!("`{text}` is not a handle")))
    }
}

/// File systems that make up inode numbers as they go: after a remount the same file may have
/// another one. Sources: kernel documentation of overlayfs ("Inode properties"), libfuse's option
/// `use_ino`, mount.cifs(8) `noserverino`; 9p without `cache` numbers by the server's answer.
const NUMBERED_AS_MOUNTED: [&str; 5] = ["fuse", "cifs", "smb", "9p", "overlay"];

impl FileIdentity {
    /// The identity of what was `found` on `filesystem`; `None` where the file system gives none.
    pub(crate) fn of(found: &Entry, filesystem: &str) -> Option<FileIdentity> {
        let lasting = !NUMBERED_AS_MOUNTED.contains(&filesystem)
            && !filesystem.starts_with(crate::storage::UNKNOWN_FILESYSTEM);
        let identity = FileIdentity {
            inode: lasting.then_some(found.inode),
            created_unix_ns: found.created_unix_ns,
            handle: found.handle,
        };
        (identity.inode.is_some() || identity.created_unix_ns.is_some()).then_some(identity)
    }

    /// Whether `found` may be this file: nothing that is known of both differs.
    pub(crate) fn may_be(&self, found: &Entry) -> bool {
        let created = self.created_unix_ns.zip(found.created_unix_ns);
        self.inode.is_none_or(|inode| inode == found.inode)
            && created.is_none_or(|(made, found)| made == found)
            && self.handle.zip(found.handle).is_none_or(|(made, found)| made == found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &std::path::Path) -> Entry {
        Entry::from(&path.metadata().unwrap())
    }

    #[test]
    fn a_file_is_itself_after_it_was_written_and_not_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let (ours, other) = (directory.path().join("a"), directory.path().join("b"));
        std::fs::write(&ours, "1").unwrap();
        std::fs::write(&other, "1").unwrap();
        let identity = FileIdentity::of(&entry(&ours), "ext4").unwrap();
        std::fs::write(&ours, "longer").unwrap();
        assert!(identity.may_be(&entry(&ours)));
        assert!(!identity.may_be(&entry(&other)));
    }

    #[test]
    fn an_inode_number_that_was_given_again_is_told_by_the_moment_of_creation() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = entry(file.path());
        let identity = FileIdentity::of(&found, "ext4").unwrap();
        let created_unix_ns = identity.created_unix_ns.expect("this file system keeps it");
        let earlier =
            FileIdentity { created_unix_ns: Some(created_unix_ns - 1_000_000), ..identity };
        assert!(!earlier.may_be(&found));
    }

    #[test]
    fn inode_numbers_that_do_not_last_are_not_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = entry(file.path());
        for filesystem in ["fuse", "overlay", "file system 0x1234"] {
            let identity = FileIdentity::of(&found, filesystem);
            assert_eq!(identity.and_then(|identity| identity.inode), None, "{filesystem}");
        }
    }

    #[test]
    fn a_file_of_another_handle_is_another_and_handles_come_back_as_they_were_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = Entry { handle: Handle::new(&[0, 0xAB, 7]), ..entry(file.path()) };
        let identity = FileIdentity::of(&found, "nfs3").unwrap();
        let other = Entry { handle: Handle::new(&[0, 0xAB, 8]), ..found };
        assert!(identity.may_be(&found) && !identity.may_be(&other));
        assert!(identity.may_be(&Entry { handle: None, ..found }), "seen through a mount");

        let text = serde_json::to_string(&identity).unwrap();
        assert!(text.contains("\"00ab07\""), "{text}");
        assert_eq!(serde_json::from_str::<FileIdentity>(&text).unwrap(), identity);
        for wrong in ["0", "0g", "+1", "ää", &"00".repeat(65)] {
            let text = format!("{{\"handle\":\"{wrong}\"}}");
            assert!(serde_json::from_str::<FileIdentity>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_known_is_no_difference() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let unknown = FileIdentity { inode: None, created_unix_ns: None, handle: None };
        assert!(unknown.may_be(&entry(file.path())));
    }
}
