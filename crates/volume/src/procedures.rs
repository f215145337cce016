//! The procedures of NFS 3 on a volume: from decoded arguments to the encoded reply.
//!
//! For: everything between the protocol's types (`nfs3`) and the tree of files (`files`): which
//! volume and which caller, what may be repeated, weak cache consistency data in every reply.
//! Source: RFC 1813, section 3.3; the submodules name the sections, and `EXCEPTIONS.md` says where
//! a choice was made.

pub(crate) mod attributes;
pub(crate) mod create;
pub(crate) mod data;
pub(crate) mod figures;
pub(crate) mod listing;
pub(crate) mod mount;
pub(crate) mod names;
pub(crate) mod portmap;
pub(crate) mod wire;

use files::{Attributes, Caller, FileSystem, Handle, Time, Wcc, WccAttributes};
use nfs3::procedure::NfsProcedure;
use nfs3::reply_cache::{CallKey, Seen};
use nfs3::request::NfsArguments;
use nfs3::results::Res3;
use nfs3::server::{Request, reply_with, reply_written};
use nfs3::types::{nfs_fh3, nfsstat3};
use nfs3::xdr::Xdr;

use crate::export_rules::Identity;
use crate::exports::{Exports, Performed, Shortage, Volume, VolumeIndex};
use crate::peer::Peer;
use crate::reply::Reply;

/// A call on a volume that the caller may use.
pub(crate) struct Call<'a> {
    pub(crate) files: &'a mut FileSystem,
    /// What the first handle of the arguments names.
    pub(crate) object: Handle,
    pub(crate) caller: Caller<'a>,
    pub(crate) now: Time,
    /// Most bytes of one READ or WRITE.
    pub(crate) transfer_max: u32,
    pub(crate) xid: u32,
    pub(crate) reply: &'a mut Reply,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) status: nfsstat3,
    /// Read or written.
    pub(crate) bytes: u64,
}

impl Call<'_> {
    /// Weak cache consistency data of an object that the call did not touch.
    pub(crate) fn unchanged(&self, object: Handle) -> Wcc {
        let after = self.files.getattr(object).ok();
        let before =
            after.map(|Attributes { size, mtime, ctime, .. }| WccAttributes { size, mtime, ctime });
        Wcc { before, after }
    }

    /// Writes the reply.
    pub(crate) fn answer<'r, Ok: Xdr<'r>, Fail: Xdr<'r>>(
        &mut self,
        result: Res3<Ok, Fail>,
    ) -> Done {
        reply_with(self.reply.head(), self.xid, &result);
        Done { status: result.status(), bytes: 0 }
    }
}

/// Performs a request that is not NULL.
pub(crate) fn perform(
    exports: &mut Exports,
    request: &Request<'_>,
    arguments: &NfsArguments<'_>,
    peer: &Peer,
    now: Time,
    reply: &mut Reply,
) -> Performed {
    let mut performed = Performed::of(request);
    let found = open(exports, request, arguments, peer);
    let (index, volume, object, identity) = match found {
        Ok(found) => found,
        Err(status) => {
            refuse(reply, request.xid, arguments.procedure(), status);
            return Performed { failed: true, ..performed };
        }
    };
    performed.volume = Some(index);
    let key = (!performed.procedure.is_idempotent()).then(|| {
        CallKey::new(peer.client(), request.xid, performed.procedure, request.arguments_bytes)
    });
    if let Some(key) = key
        && let Seen::Replay(first) = volume.replies.begin(key)
    {
        // The first reply may never have gone because what it promises could not be kept; a volume
        // whose storage failed promises nothing again.
        if let Err(error) = volume.export.files.sync() {
            refuse(reply, request.xid, arguments.procedure(), wire::status(error));
            return Performed { failed: true, ..performed };
        }
        reply.head().extend_from_slice(first);
        let status = first.get(STATUS_AT..STATUS_AT + 4);
        let failed = status.is_some_and(|status| status != [0; 4]);
        return Performed { failed, replayed: true, ..performed };
    }
    let mut call = Call {
        files: &mut volume.export.files,
        object,
        caller: identity.caller(),
        now,
        transfer_max: volume.transfer_max,
        xid: request.xid,
        reply,
    };
    let done = dispatch(&mut call, arguments);
    if let Some(key) = key {
        volume.replies.finish(key, reply.head());
    }
    performed.bytes = done.bytes;
    performed.failed = done.status != nfsstat3::NFS3_OK;
    performed.shortage = shortage(&volume.export.files, done.status);
    performed
}

/// Where the status stands in a reply that was accepted: behind record mark, xid, REPLY, accepted,
/// a verifier without body, and success.
const STATUS_AT: usize = 28;

/// The volume, the object and the caller of a request, or why it is refused whatever it asks for.
fn open<'e>(
    exports: &'e mut Exports,
    request: &Request<'_>,
    arguments: &NfsArguments<'_>,
    peer: &Peer,
) -> Result<(VolumeIndex, &'e mut Volume, Handle, Identity), nfsstat3> {
    let bytes = first_handle(arguments).map_or(&[][..], |handle| handle.0);
    let object = Handle::from_bytes(bytes).map_err(wire::status)?;
    // A handle of a volume that was taken away is as one of a file that was.
    let (index, volume) = exports.of_handle(object).ok_or(nfsstat3::NFS3ERR_STALE)?;
    if !volume.is_served_at(peer.endpoint()) {
        return Err(nfsstat3::NFS3ERR_STALE);
    }
    let granted = volume.export.rules.granted(peer.address());
    let granted = granted.ok_or(nfsstat3::NFS3ERR_ACCES)?;
    Ok((index, volume, object, granted.identity(&request.credential)))
}

fn first_handle<'a>(arguments: &NfsArguments<'a>) -> Option<nfs_fh3<'a>> {
    use NfsArguments as A;
    Some(match arguments {
        A::NULL(()) => return None,
        A::GETATTR(args) => args.object,
        A::SETATTR(args) => args.object,
        A::LOOKUP(args) => args.what.dir,
        A::ACCESS(args) => args.object,
        A::READLINK(args) => args.symlink,
        A::READ(args) => args.file,
        A::WRITE(args) => args.file,
        A::CREATE(args) => args.r#where.dir,
        A::MKDIR(args) => args.r#where.dir,
        A::SYMLINK(args) => args.r#where.dir,
        A::MKNOD(args) => args.r#where.dir,
        A::REMOVE(args) => args.object.dir,
        A::RMDIR(args) => args.object.dir,
        A::RENAME(args) => args.from.dir,
        A::LINK(args) => args.file,
        A::READDIR(args) => args.dir,
        A::READDIRPLUS(args) => args.dir,
        A::FSSTAT(args) => args.fsroot,
        A::FSINFO(args) => args.fsroot,
        A::PATHCONF(args) => args.object,
        A::COMMIT(args) => args.file,
    })
}

fn dispatch(call: &mut Call<'_>, arguments: &NfsArguments<'_>) -> Done {
    use NfsArguments as A;
    match arguments {
        A::NULL(()) => Done { status: nfsstat3::NFS3_OK, bytes: 0 },
        A::GETATTR(_) => attributes::getattr(call),
        A::SETATTR(args) => attributes::setattr(call, args),
        A::LOOKUP(args) => names::lookup(call, args),
        A::ACCESS(args) => attributes::access(call, args),
        A::READLINK(_) => names::readlink(call),
        A::READ(args) => data::read(call, args),
        A::WRITE(args) => data::write(call, args),
        A::CREATE(args) => create::create(call, args),
        A::MKDIR(args) => create::mkdir(call, args),
        A::SYMLINK(args) => create::symlink(call, args),
        A::MKNOD(args) => create::mknod(call, args),
        A::REMOVE(args) => names::remove(call, args),
        A::RMDIR(args) => names::rmdir(call, args),
        A::RENAME(args) => names::rename(call, args),
        A::LINK(args) => names::link(call, args),
        A::READDIR(args) => listing::readdir(call, args),
        A::READDIRPLUS(args) => listing::readdirplus(call, args),
        A::FSSTAT(_) => figures::fsstat(call),
        A::FSINFO(_) => figures::fsinfo(call),
        A::PATHCONF(_) => figures::pathconf(call),
        A::COMMIT(args) => data::commit(call, args),
    }
}

/// What a refusal was for want of.
fn shortage(files: &FileSystem, status: nfsstat3) -> Option<Shortage> {
    match status {
        nfsstat3::NFS3ERR_DQUOT => Some(Shortage::Quota),
        nfsstat3::NFS3ERR_NOSPC if files.is_storage_full() => Some(Shortage::Disk),
        nfsstat3::NFS3ERR_NOSPC => {
            let left = files.fsstat(files.root()).map_or(0, |space| space.files_free);
            Some(if left == 0 { Shortage::Inodes } else { Shortage::Memory })
        }
        _ => None,
    }
}

/// Answers without a word about any object: attributes and weak cache consistency data are
/// optional, and each that is left out is a zero.
fn refuse(reply: &mut Reply, xid: u32, procedure: NfsProcedure, status: nfsstat3) {
    use NfsProcedure as P;
    let left_out = match procedure {
        P::NULL | P::GETATTR => 0,
        P::LOOKUP | P::ACCESS | P::READLINK | P::READ | P::READDIR | P::READDIRPLUS => 1,
        P::FSSTAT | P::FSINFO | P::PATHCONF => 1,
        P::SETATTR | P::WRITE | P::CREATE | P::MKDIR | P::SYMLINK | P::MKNOD => 2,
        P::REMOVE | P::RMDIR | P::COMMIT => 2,
        P::LINK => 3,
        P::RENAME => 4,
    };
    reply_written(reply.head(), xid, |writer| {
        status.encode(writer);
        (0..left_out).for_each(|_| writer.bool(false));
    });
}
