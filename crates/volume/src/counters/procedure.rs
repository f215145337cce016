//! The procedures of NFS version 3, as limits, delays and counters name them.
//!
//! For: naming what is counted. Not for: bytes on the wire; counters use no decoder.

macro_rules! procedures {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The procedures of NFS version 3 in the order of RFC 1813, section 3.3.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Procedure { $($(#[$doc])* $variant,)* }

        impl Procedure {
            /// All procedures, in the order of their numbers.
            pub const ALL: &[Procedure] = &[$(Procedure::$variant,)*];

            /// The name in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Procedure::$variant => $name,)* }
            }
        }
    };
}

procedures! {
    /// Does nothing.
    Null = "null",
    /// Returns attributes of a file.
    Getattr = "getattr",
    /// Changes attributes.
    Setattr = "setattr",
    /// Finds a name in a directory.
    Lookup = "lookup",
    /// Returns what the caller may do.
    Access = "access",
    /// Returns the text of a symbolic link.
    Readlink = "readlink",
    /// Reads data of a file.
    Read = "read",
    /// Writes data of a file.
    Write = "write",
    /// Creates a file.
    Create = "create",
    /// Creates a directory.
    Mkdir = "mkdir",
    /// Creates a symbolic link.
    Symlink = "symlink",
    /// Creates a special file.
    Mknod = "mknod",
    /// Removes a file.
    Remove = "remove",
    /// Removes a directory.
    Rmdir = "rmdir",
    /// Renames or moves a file or directory.
    Rename = "rename",
    /// Adds a name to a file.
    Link = "link",
    /// Lists names of a directory.
    Readdir = "readdir",
    /// Lists names with their attributes.
    Readdirplus = "readdirplus",
    /// Returns the space of a file system.
    Fsstat = "fsstat",
    /// Returns properties of a file system.
    Fsinfo = "fsinfo",
    /// Returns properties of names.
    Pathconf = "pathconf",
    /// Makes written data stable.
    Commit = "commit",
}

/// How many procedures there are.
pub(crate) const PROCEDURES: usize = 22;

impl Procedure {
    /// The procedure with this number in RFC 1813.
    pub fn from_number(number: u32) -> Option<Procedure> {
        Procedure::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_have_the_numbers_of_rfc_1813() {
        assert_eq!(Procedure::ALL.len(), PROCEDURES);
        for (number, name) in [(0, "null"), (6, "read"), (7, "write"), (17, "readdirplus")] {
            assert_eq!(Procedure::from_number(number).unwrap().name(), name);
        }
        assert_eq!(Procedure::from_number(21), Some(Procedure::Commit));
        assert_eq!(Procedure::from_number(22), None);
    }
}
