//! The procedures of NFS version 3, as limits, delays and the witness know them.
//!
//! For: naming what is counted. Not for: bytes on a wire; the service shares no decoder with what
//! it counts.

macro_rules! procedures {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The procedures of NFS version 3 in the order of RFC 1813, section 3.3.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Procedure { $($(#[$doc])* $variant,)* }

        impl Procedure {
            /// All of them, by their numbers.
            pub const ALL: &[Procedure] = &[$(Procedure::$variant,)*];

            /// In lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Procedure::$variant => $name,)* }
            }
        }
    };
}

procedures! {
    /// Does nothing.
    Null = "null",
    /// Attributes of a file.
    Getattr = "getattr",
    /// Changes attributes.
    Setattr = "setattr",
    /// A name in a directory.
    Lookup = "lookup",
    /// What the caller may do.
    Access = "access",
    /// Text of a symbolic link.
    Readlink = "readlink",
    /// Data of a file.
    Read = "read",
    /// Changes data.
    Write = "write",
    /// Makes a file.
    Create = "create",
    /// Makes a directory.
    Mkdir = "mkdir",
    /// Makes a symbolic link.
    Symlink = "symlink",
    /// Makes a special file.
    Mknod = "mknod",
    /// Removes a file.
    Remove = "remove",
    /// Removes a directory.
    Rmdir = "rmdir",
    /// Moves a name.
    Rename = "rename",
    /// Adds a name.
    Link = "link",
    /// Names of a directory.
    Readdir = "readdir",
    /// Names with their attributes.
    Readdirplus = "readdirplus",
    /// Space of a file system.
    Fsstat = "fsstat",
    /// Properties of a file system.
    Fsinfo = "fsinfo",
    /// Properties of names.
    Pathconf = "pathconf",
    /// Makes written data stable.
    Commit = "commit",
}

/// How many procedures there are.
pub(crate) const PROCEDURES: usize = 22;

impl Procedure {
    /// The procedure of this number in RFC 1813.
    pub fn numbered(number: u32) -> Option<Procedure> {
        Procedure::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_have_the_numbers_of_the_standard() {
        assert_eq!(Procedure::ALL.len(), PROCEDURES);
        for (number, name) in [(0, "null"), (6, "read"), (7, "write"), (17, "readdirplus")] {
            assert_eq!(Procedure::numbered(number).unwrap().name(), name);
        }
        assert_eq!(Procedure::numbered(21), Some(Procedure::Commit));
        assert_eq!(Procedure::numbered(22), None);
    }
}
