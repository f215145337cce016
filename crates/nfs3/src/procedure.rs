//! The procedures of all programs: numbers, names, and whether they are idempotent.

use crate::xdr::xdr_enum;

/// NFS.
pub const NFS_PROGRAM: u32 = 100_003;
/// The version of NFS.
pub const NFS_V3: u32 = 3;
/// MOUNT.
pub const MOUNT_PROGRAM: u32 = 100_005;
/// The version of MOUNT that belongs to NFS 3.
pub const MOUNT_V3: u32 = 3;
/// The portmapper.
pub const PMAP_PROG: u32 = 100_000;
/// The version of the portmapper.
pub const PMAP_VERS: u32 = 2;

xdr_enum! {
    /// `NFSPROC3_...` without the prefix.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the names of RFC 1813, section 3.3")]
    pub enum NfsProcedure {
        NULL = 0,
        GETATTR = 1,
        SETATTR = 2,
        LOOKUP = 3,
        ACCESS = 4,
        READLINK = 5,
        READ = 6,
        WRITE = 7,
        CREATE = 8,
        MKDIR = 9,
        SYMLINK = 10,
        MKNOD = 11,
        REMOVE = 12,
        RMDIR = 13,
        RENAME = 14,
        LINK = 15,
        READDIR = 16,
        READDIRPLUS = 17,
        FSSTAT = 18,
        FSINFO = 19,
        PATHCONF = 20,
        COMMIT = 21,
    }
}

xdr_enum! {
    /// `MOUNTPROC3_...` without the prefix.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the names of RFC 1813, section 5.2")]
    pub enum MountProcedure {
        NULL = 0,
        MNT = 1,
        DUMP = 2,
        UMNT = 3,
        UMNTALL = 4,
        EXPORT = 5,
    }
}

xdr_enum! {
    /// `PMAPPROC_...` without the prefix, except CALLIT (see `EXCEPTIONS.md`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the names of RFC 1833, section 3")]
    pub enum PortmapProcedure {
        NULL = 0,
        SET = 1,
        UNSET = 2,
        GETPORT = 3,
        DUMP = 4,
    }
}

/// A procedure of any of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Procedure {
    /// Of NFS 3.
    Nfs(NfsProcedure),
    /// Of MOUNT 3.
    Mount(MountProcedure),
    /// Of the portmapper, version 2.
    Portmap(PortmapProcedure),
}

impl Procedure {
    /// `(program, version, procedure)` as in a call.
    #[must_use]
    pub fn numbers(self) -> (u32, u32, u32) {
        match self {
            Procedure::Nfs(procedure) => (NFS_PROGRAM, NFS_V3, procedure as u32),
            Procedure::Mount(procedure) => (MOUNT_PROGRAM, MOUNT_V3, procedure as u32),
            Procedure::Portmap(procedure) => (PMAP_PROG, PMAP_VERS, procedure as u32),
        }
    }

    /// The name in the RFC, without prefix: `READ`, `MNT`, `GETPORT`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Procedure::Nfs(procedure) => procedure.name(),
            Procedure::Mount(procedure) => procedure.name(),
            Procedure::Portmap(procedure) => procedure.name(),
        }
    }

    /// Whether performing it twice has the same effect as once. Otherwise the client retransmits it
    /// with the same xid after a reconnect, and the server caches its reply.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-4.5
    #[must_use]
    pub fn is_idempotent(self) -> bool {
        use NfsProcedure as P;
        match self {
            Procedure::Nfs(procedure) => !matches!(
                procedure,
                P::SETATTR
                    | P::CREATE
                    | P::MKDIR
                    | P::SYMLINK
                    | P::MKNOD
                    | P::REMOVE
                    | P::RMDIR
                    | P::RENAME
                    | P::LINK
            ),
            Procedure::Mount(_) => true,
            Procedure::Portmap(procedure) => {
                !matches!(procedure, PortmapProcedure::SET | PortmapProcedure::UNSET)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::decode_whole;

    #[test]
    fn procedures_have_the_names_of_the_rfcs() {
        assert_eq!(Procedure::Nfs(NfsProcedure::READDIRPLUS).name(), "READDIRPLUS");
        assert_eq!(Procedure::Mount(MountProcedure::EXPORT).name(), "EXPORT");
        assert_eq!(Procedure::Portmap(PortmapProcedure::GETPORT).name(), "GETPORT");
    }

    #[test]
    fn procedures_that_change_names_or_attributes_are_not_idempotent() {
        let not_idempotent: Vec<u32> = (0..22)
            .filter(|number: &u32| {
                let procedure = decode_whole(&number.to_be_bytes()).unwrap();
                !Procedure::Nfs(procedure).is_idempotent()
            })
            .collect();
        // SETATTR, and CREATE to LINK.
        assert_eq!(not_idempotent, [2, 8, 9, 10, 11, 12, 13, 14, 15]);
    }
}
