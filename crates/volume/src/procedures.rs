//! The procedures of NFS 3, MOUNT 3 and the portmapper: from decoded arguments to the encoded reply.
//!
//! For: everything between the protocol's types (`nfs3`) and the file tree (`files`): which volume
//! and which caller, replies to repeated calls, weak cache consistency data in every reply. Not for:
//! connections, limits and delays; a request is performed when it arrives, and only its reply is
//! deferred.
//!
//! Source: RFC 1813, section 3.3; the submodules name the sections. `EXCEPTIONS.md` lists choices and
//! deviations.

mod attributes;
mod call;
mod convert;
mod create;
mod data;
mod filesystem_info;
mod listing;
mod mount;
mod names;
mod performed;
mod portmap;

use files::{FileSystem, Handle, Time, WriteBuffer};
use nfs3::procedure::NfsProcedure;
use nfs3::reply_cache::{CallKey, Seen};
use nfs3::request::{Arguments, NfsArguments};
use nfs3::server::{Request, reply_with, reply_written};
use nfs3::types::{nfs_fh3, nfsstat3};
use nfs3::xdr::Xdr;

use crate::export_rules::Identity;
use crate::exports::{ExportedVolume, Exports, VolumeIndex};
use crate::peer::Peer;
use crate::reply::Reply;

use call::{Call, Outcome};

pub use performed::{Performed, Shortage};

impl Exports {
    /// Performs a request and replaces the content of `reply` by its reply, record mark included.
    /// Failures are statuses in the reply.
    ///
    /// * `now` — sets the times of changed objects
    pub fn perform(
        &mut self,
        request: &Request<'_>,
        peer: &Peer,
        now: Time,
        reply: &mut Reply,
    ) -> Performed {
        self.perform_with(request, None, peer, now, reply)
    }

    /// Performs a WRITE whose data was received separately.
    pub(crate) fn perform_write(
        &mut self,
        request: &Request<'_>,
        data: &mut WriteBuffer,
        peer: &Peer,
        now: Time,
        reply: &mut Reply,
    ) -> Performed {
        self.perform_with(request, Some(data), peer, now, reply)
    }

    fn perform_with(
        &mut self,
        request: &Request<'_>,
        data: Option<&mut WriteBuffer>,
        peer: &Peer,
        now: Time,
        reply: &mut Reply,
    ) -> Performed {
        reply.clear();
        match &request.arguments {
            Arguments::Nfs(NfsArguments::NULL(())) => {
                reply_with(reply.head(), request.xid, &());
                Performed::of(request)
            }
            Arguments::Nfs(arguments) => {
                perform_nfs(self, request, arguments, data, peer, now, reply)
            }
            Arguments::Mount(arguments) => mount::perform(self, request, arguments, peer, reply),
            Arguments::Portmap(arguments) => portmap::perform(request, arguments, peer, reply),
        }
    }
}

/// Performs an NFS request other than NULL.
fn perform_nfs(
    exports: &mut Exports,
    request: &Request<'_>,
    arguments: &NfsArguments<'_>,
    data: Option<&mut WriteBuffer>,
    peer: &Peer,
    now: Time,
    reply: &mut Reply,
) -> Performed {
    let mut performed = Performed::of(request);
    let found = find(exports, request, arguments, peer);
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
        // The first reply may have been discarded because storage failed; then it must not be sent
        // now either.
        if let Err(error) = volume.export.files.sync() {
            refuse(reply, request.xid, arguments.procedure(), convert::status(error));
            return Performed { failed: true, ..performed };
        }
        reply.head().extend_from_slice(first);
        let status = first.get(STATUS_OFFSET..STATUS_OFFSET + 4);
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
        data,
        reply,
    };
    let outcome = dispatch(&mut call, arguments);
    if let Some(key) = key {
        volume.replies.finish(key, reply.head());
    }
    performed.bytes = outcome.bytes;
    performed.failed = outcome.status != nfsstat3::NFS3_OK;
    performed.shortage = shortage(&volume.export.files, outcome.status);
    performed
}

/// Offset of the status in an accepted reply: after record mark, xid, REPLY, accepted, an empty
/// verifier, and success.
const STATUS_OFFSET: usize = 28;

/// The volume, the object and the caller of a request, or why every request on it is refused.
fn find<'e>(
    exports: &'e mut Exports,
    request: &Request<'_>,
    arguments: &NfsArguments<'_>,
    peer: &Peer,
) -> Result<(VolumeIndex, &'e mut ExportedVolume, Handle, Identity), nfsstat3> {
    let bytes = first_handle(arguments).map_or(&[][..], |handle| handle.0);
    let object = Handle::from_bytes(bytes).map_err(convert::status)?;
    let (index, volume) = exports.of_handle(object).ok_or(nfsstat3::NFS3ERR_STALE)?;
    if !volume.is_served_at(peer.endpoint()) {
        return Err(nfsstat3::NFS3ERR_STALE);
    }
    let access = volume.export.rules.access_of(peer.address());
    let access = access.ok_or(nfsstat3::NFS3ERR_ACCES)?;
    Ok((index, volume, object, access.identity(&request.credential)))
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

fn dispatch(call: &mut Call<'_>, arguments: &NfsArguments<'_>) -> Outcome {
    use NfsArguments as A;
    match arguments {
        A::NULL(()) => Outcome { status: nfsstat3::NFS3_OK, bytes: 0 },
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
        A::FSSTAT(_) => filesystem_info::fsstat(call),
        A::FSINFO(_) => filesystem_info::fsinfo(call),
        A::PATHCONF(_) => filesystem_info::pathconf(call),
        A::COMMIT(args) => data::commit(call, args),
    }
}

/// The resource that was used up when a request failed with this status.
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

/// Answers with a status only: attributes and weak cache consistency data are optional, and each
/// omitted one is encoded as FALSE.
fn refuse(reply: &mut Reply, xid: u32, procedure: NfsProcedure, status: nfsstat3) {
    use NfsProcedure as P;
    let omitted = match procedure {
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
        (0..omitted).for_each(|_| writer.bool(false));
    });
}
