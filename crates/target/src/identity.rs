//! Whether a file is the one that we created, and not another one with its name.
//!
//! A file is identified by inode number and creation time, as far as the file system provides them;
//! the manifest records both when the file is created. A user who moves a file over ours must not
//! lose it to the next refill or `clean`.

use nfs3::types::Handle;
use serde::{Deserialize, Serialize};

use crate::folder::Entry;

/// Distinguishes a file from others with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIdentity {
    /// Its inode number, if the file system keeps it across mounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// Its creation time in nanoseconds since 1970, if the file system provides it (`statx`). It
    /// distinguishes files when an inode number is reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_unix_ns: Option<u64>,
    /// Its NFS handle, if it was created through the built-in NFS client.
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

/// File systems that assign inode numbers at run time, so that a file may have another one after a
/// remount. Sources: kernel documentation of overlayfs ("Inode properties"), libfuse's option
/// `use_ino`, mount.cifs(8) `noserverino`; 9p without `cache` uses the server's numbers.
const NUMBERED_AS_MOUNTED: [&str; 5] = ["fuse", "cifs", "smb", "9p", "overlay"];

impl FileIdentity {
    /// The identity of an entry on `filesystem`; `None` if the file system provides none.
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

    /// Whether `found` may be this file: everything known of both agrees.
    pub(crate) fn may_be(&self, found: &Entry) -> bool {
        let created = self.created_unix_ns.zip(found.created_unix_ns);
        self.inode.is_none_or(|inode| inode == found.inode)
            && created.is_none_or(|(recorded, found)| recorded == found)
            && self.handle.zip(found.handle).is_none_or(|(recorded, found)| recorded == found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &std::path::Path) -> Entry {
        Entry::from(&path.metadata().unwrap())
    }

    #[test]
    fn a_file_keeps_its_identity_when_written_and_differs_from_others() {
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
    fn a_reused_inode_number_is_distinguished_by_the_creation_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = entry(file.path());
        let identity = FileIdentity::of(&found, "ext4").unwrap();
        let created_unix_ns = identity.created_unix_ns.expect("this file system records it");
        let earlier =
            FileIdentity { created_unix_ns: Some(created_unix_ns - 1_000_000), ..identity };
        assert!(!earlier.may_be(&found));
    }

    #[test]
    fn inode_numbers_that_change_across_mounts_are_not_recorded() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = entry(file.path());
        for filesystem in ["fuse", "overlay", "file system 0x1234"] {
            let identity = FileIdentity::of(&found, filesystem);
            assert_eq!(identity.and_then(|identity| identity.inode), None, "{filesystem}");
        }
    }

    #[test]
    fn files_with_different_handles_differ_and_handles_are_stored_unchanged() {
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
    fn an_unknown_identity_matches_any_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let unknown = FileIdentity { inode: None, created_unix_ns: None, handle: None };
        assert!(unknown.may_be(&entry(file.path())));
    }
}
