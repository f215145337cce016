//! What a reply to a call of an operation on names contains.

use nfs3::arguments::stable_how;
use nfs3::client::{Completion as Reply, ReplyError};
use nfs3::directory::Listing;
use nfs3::request::{NfsResults, Results};
use nfs3::results::Res3;
use nfs3::types::{Handle, cookieverf3, nfsstat3, writeverf3};

use super::encode::NameCall;
use crate::nfs::error::{errno, refused_errno};
use crate::nfs::fault::{self, ProtocolFault, Violation};

/// The content of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::nfs) struct NameReply {
    /// The object that was found or created.
    pub(super) handle: Option<Handle>,
    /// Bytes that were moved.
    pub(in crate::nfs) bytes: u32,
    /// The file or the listing ends.
    pub(super) eof: bool,
    /// Of a WRITE that is not durable yet, and of a COMMIT.
    pub(super) verifier: Option<writeverf3>,
    /// Where a listing continues.
    pub(super) cookie: (u64, cookieverf3),
    /// The text of a link differs from what was written.
    pub(super) is_wrong: bool,
}

/// Why a reply is none.
pub(in crate::nfs) enum NoReply {
    /// The call must be repeated later.
    Jukebox,
    /// It failed with this error number.
    Failed(i32),
    /// It violates the protocol.
    Faulty(Violation),
}

fn status<T>(status: nfsstat3) -> Result<T, NoReply> {
    Err(match status {
        nfsstat3::NFS3ERR_JUKEBOX => NoReply::Jukebox,
        status => NoReply::Failed(errno(status)),
    })
}

/// Decodes a reply. `text` is the expected text of a link; the data of a READ goes into `memory`.
pub(in crate::nfs) fn name_reply(
    reply: &Reply<'_>,
    call: NameCall,
    (request, stable): ((u64, u32), stable_how),
    text: &[u8],
    memory: Option<&mut [u8]>,
) -> Result<NameReply, NoReply> {
    let refused = |error| match error {
        ReplyError::Refused(status) => NoReply::Failed(refused_errno(&status)),
        ReplyError::Malformed(error) => NoReply::Faulty(Violation::Unreadable(error)),
        ReplyError::OtherProcedure(_) => unreachable!("each reply is decoded as its call's"),
    };
    let faulty = |fault: ProtocolFault| NoReply::Faulty(fault.violation);
    let mut out = NameReply::default();
    match call {
        NameCall::Readdir | NameCall::Readdirplus => {
            // Decoded without a list of its entries, which would be allocated.
            let plus = call == NameCall::Readdirplus;
            match reply.listing(plus).map_err(refused)? {
                Ok(Listing { cookie, verifier, eof, .. }) => {
                    (out.eof, out.cookie) = (eof, (cookie, verifier));
                }
                Err(failed) => return status(failed),
            }
            return Ok(out);
        }
        NameCall::Read => {
            match reply.read().map_err(refused)? {
                Res3::Ok(ok) => {
                    let data = ok.data.0;
                    if let Some(fault) = fault::of_read(request, ok.count, data.len(), ok.eof) {
                        return Err(faulty(fault));
                    }
                    if let Some(memory) = memory {
                        memory[..data.len()].copy_from_slice(data);
                    }
                    (out.bytes, out.eof) = (ok.count, ok.eof);
                }
                Res3::Fail(failed, _) => return status(failed),
            }
            return Ok(out);
        }
        NameCall::Write => {
            match reply.write().map_err(refused)? {
                Res3::Ok(ok) => {
                    let fault = fault::of_write(request, stable, ok.count, ok.committed);
                    if let Some(fault) = fault {
                        return Err(faulty(fault));
                    }
                    out.bytes = ok.count;
                    out.verifier = (ok.committed == stable_how::UNSTABLE).then_some(ok.verf);
                }
                Res3::Fail(failed, _) => return status(failed),
            }
            return Ok(out);
        }
        _ => {}
    }
    let Results::Nfs(results) = reply.results().map_err(refused)? else { return Ok(out) };
    match results {
        NfsResults::LOOKUP(Res3::Ok(ok)) => out.handle = Some(Handle::from(ok.object)),
        NfsResults::CREATE(Res3::Ok(ok)) => out.handle = ok.obj.map(Handle::from),
        NfsResults::READLINK(Res3::Ok(ok)) => out.is_wrong = ok.data.0 != text,
        NfsResults::COMMIT(Res3::Ok(ok)) => out.verifier = Some(ok.verf),
        NfsResults::LOOKUP(Res3::Fail(failed, _))
        | NfsResults::LINK(Res3::Fail(failed, _))
        | NfsResults::CREATE(Res3::Fail(failed, _))
        | NfsResults::MKDIR(Res3::Fail(failed, _))
        | NfsResults::SYMLINK(Res3::Fail(failed, _)) => return status(failed),
        NfsResults::REMOVE(Res3::Fail(failed, _)) | NfsResults::RMDIR(Res3::Fail(failed, _)) => {
            return status(failed);
        }
        NfsResults::GETATTR(Res3::Fail(failed, ())) => return status(failed),
        NfsResults::SETATTR(Res3::Fail(failed, _)) => return status(failed),
        NfsResults::RENAME(Res3::Fail(failed, _)) => return status(failed),
        NfsResults::COMMIT(Res3::Fail(failed, _)) => return status(failed),
        NfsResults::ACCESS(Res3::Fail(failed, _))
        | NfsResults::READLINK(Res3::Fail(failed, _))
        | NfsResults::FSSTAT(Res3::Fail(failed, _)) => return status(failed),
        _ => {}
    }
    Ok(out)
}
