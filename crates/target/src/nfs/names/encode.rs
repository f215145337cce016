//! The calls of operations on names: which procedure, with which arguments.

use nfs3::arguments::*;
use nfs3::client::Client;
use nfs3::procedure::NfsProcedure;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::rpc::Credential;
use nfs3::types::{Handle, diropargs3, filename3, nfs_fh3, sattr3};
use workload::op::OpKind;

use super::sequence::NameOperation;

/// Permission bits of new files.
const FILE_MODE: u32 = 0o644;
/// Permission bits of new directories.
const DIRECTORY_MODE: u32 = 0o755;
/// Bytes of the largest call without data in addition to one with a credential and one handle: a
/// RENAME has another handle and two names of at most 255 bytes.
pub(in crate::nfs) const EXTRA_CALL_BYTES: usize = 768;

/// A call of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nfs) enum NameCall {
    /// LOOKUP of a directory of the tree.
    LookupDirectory,
    /// LOOKUP of the operation's name.
    Lookup,
    Create,
    Write,
    Commit,
    Read,
    Remove,
    Rename,
    Link,
    Symlink,
    Readlink,
    Mkdir,
    Rmdir,
    Readdir,
    Readdirplus,
    Getattr,
    Access,
    /// SETATTR of the times, or of the size.
    Setattr,
    Fsstat,
}

impl NameCall {
    pub(in crate::nfs) const fn procedure(self) -> NfsProcedure {
        match self {
            NameCall::LookupDirectory | NameCall::Lookup => NfsProcedure::LOOKUP,
            NameCall::Create => NfsProcedure::CREATE,
            NameCall::Write => NfsProcedure::WRITE,
            NameCall::Commit => NfsProcedure::COMMIT,
            NameCall::Read => NfsProcedure::READ,
            NameCall::Remove => NfsProcedure::REMOVE,
            NameCall::Rename => NfsProcedure::RENAME,
            NameCall::Link => NfsProcedure::LINK,
            NameCall::Symlink => NfsProcedure::SYMLINK,
            NameCall::Readlink => NfsProcedure::READLINK,
            NameCall::Mkdir => NfsProcedure::MKDIR,
            NameCall::Rmdir => NfsProcedure::RMDIR,
            NameCall::Readdir => NfsProcedure::READDIR,
            NameCall::Readdirplus => NfsProcedure::READDIRPLUS,
            NameCall::Getattr => NfsProcedure::GETATTR,
            NameCall::Access => NfsProcedure::ACCESS,
            NameCall::Setattr => NfsProcedure::SETATTR,
            NameCall::Fsstat => NfsProcedure::FSSTAT,
        }
    }

    /// The kind of operation whose counters count the call: the one that consists of this procedure.
    pub(in crate::nfs) const fn kind(self) -> OpKind {
        match self {
            NameCall::LookupDirectory | NameCall::Lookup => OpKind::Lookup,
            NameCall::Create => OpKind::Create,
            NameCall::Write => OpKind::Write,
            NameCall::Commit => OpKind::Fsync,
            NameCall::Read => OpKind::Read,
            NameCall::Remove => OpKind::Unlink,
            NameCall::Rename => OpKind::Rename,
            NameCall::Link => OpKind::Link,
            NameCall::Symlink => OpKind::Symlink,
            NameCall::Readlink => OpKind::Readlink,
            NameCall::Mkdir => OpKind::Mkdir,
            NameCall::Rmdir => OpKind::Rmdir,
            NameCall::Readdir => OpKind::Readdir,
            NameCall::Readdirplus => OpKind::Readdirplus,
            NameCall::Getattr => OpKind::Stat,
            NameCall::Access => OpKind::Access,
            NameCall::Setattr => OpKind::Setattr,
            NameCall::Fsstat => OpKind::Statfs,
        }
    }
}

/// The names of a call, as bytes.
#[derive(Clone, Copy)]
pub(super) struct CallNames<'a> {
    /// The operation's name, or a directory of the tree that is looked up.
    pub(super) name: &'a [u8],
    /// The second name of the operation.
    pub(super) other: &'a [u8],
    /// The tree's root.
    pub(super) root: &'a Handle,
    /// Bytes of a part of a listing.
    pub(super) listing_bytes: u32,
}

/// The part of a file that a call moves.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) offset: u64,
    pub(super) count: u32,
}

fn fh(handle: &Option<Handle>) -> nfs_fh3<'_> {
    handle.as_ref().map_or(nfs_fh3(&[]), Handle::fh)
}

/// Begins a call; `None` if the connection has no free slot. The caller sends the data of a WRITE
/// after it.
pub(super) fn begin(
    client: &mut Client,
    credential: &Credential<'_>,
    operation: &NameOperation,
    names: CallNames<'_>,
    range: Range,
) -> Option<u32> {
    let call = operation.call;
    let (directory, file) = (fh(&operation.directory), fh(&operation.file));
    let at = diropargs3 { dir: directory, name: filename3(names.name) };
    let to = diropargs3 { dir: fh(&operation.other_directory), name: filename3(names.other) };
    let Range { offset, count } = range;
    let written = if operation.op.kind == OpKind::Copy { fh(&operation.copy) } else { file };
    let arguments = match call {
        NameCall::LookupDirectory => {
            let dir = fh(&operation.above);
            let what = diropargs3 { dir, name: filename3(names.name) };
            NfsArguments::LOOKUP(LOOKUP3args { what })
        }
        NameCall::Lookup => NfsArguments::LOOKUP(LOOKUP3args { what: at }),
        NameCall::Create => {
            let attributes = sattr3 { mode: Some(FILE_MODE), ..sattr3::UNCHANGED };
            let how = createhow3::GUARDED(attributes);
            let r#where = if operation.op.kind == OpKind::Copy { to } else { at };
            NfsArguments::CREATE(CREATE3args { r#where, how })
        }
        NameCall::Write => {
            return client.write_to(credential, written, offset, count, operation.stable);
        }
        NameCall::Commit => {
            NfsArguments::COMMIT(COMMIT3args { file: written, offset: 0, count: 0 })
        }
        NameCall::Read => NfsArguments::READ(READ3args { file, offset, count }),
        NameCall::Remove => NfsArguments::REMOVE(REMOVE3args { object: at }),
        NameCall::Rename => NfsArguments::RENAME(RENAME3args { from: at, to }),
        NameCall::Link => NfsArguments::LINK(LINK3args { file, link: to }),
        NameCall::Symlink => {
            let symlink = symlinkdata3 {
                symlink_attributes: sattr3::UNCHANGED,
                symlink_data: filename3(names.other),
            };
            NfsArguments::SYMLINK(SYMLINK3args { r#where: at, symlink })
        }
        NameCall::Readlink => NfsArguments::READLINK(READLINK3args { symlink: file }),
        NameCall::Mkdir => {
            let attributes = sattr3 { mode: Some(DIRECTORY_MODE), ..sattr3::UNCHANGED };
            NfsArguments::MKDIR(MKDIR3args { r#where: at, attributes })
        }
        NameCall::Rmdir => NfsArguments::RMDIR(RMDIR3args { object: at }),
        NameCall::Readdir => NfsArguments::READDIR(READDIR3args {
            dir: directory,
            cookie: operation.cookie,
            cookieverf: operation.cookie_verifier,
            count: names.listing_bytes,
        }),
        NameCall::Readdirplus => NfsArguments::READDIRPLUS(READDIRPLUS3args {
            dir: directory,
            cookie: operation.cookie,
            cookieverf: operation.cookie_verifier,
            dircount: names.listing_bytes,
            maxcount: names.listing_bytes,
        }),
        NameCall::Getattr => NfsArguments::GETATTR(GETATTR3args { object: file }),
        NameCall::Access => {
            NfsArguments::ACCESS(ACCESS3args { object: file, access: ACCESS3_READ })
        }
        NameCall::Setattr => {
            let new_attributes = match operation.op.kind {
                OpKind::Truncate => {
                    sattr3 { size: Some(operation.op.offset_bytes), ..sattr3::UNCHANGED }
                }
                OpKind::WriteFile => sattr3 { size: Some(0), ..sattr3::UNCHANGED },
                _ => sattr3 { mode: Some(FILE_MODE), ..sattr3::UNCHANGED },
            };
            NfsArguments::SETATTR(SETATTR3args { object: file, new_attributes, guard: None })
        }
        NameCall::Fsstat => NfsArguments::FSSTAT(FSSTAT3args { fsroot: names.root.fh() }),
    };
    client.call(credential, &Arguments::Nfs(arguments))
}
