//! A call on a volume that the caller may use.

use files::{Attributes, Caller, FileSystem, Handle, Time, Wcc, WccAttributes, WriteBuffer};
use nfs3::results::Res3;
use nfs3::server::reply_with;
use nfs3::types::nfsstat3;
use nfs3::xdr::Xdr;

use crate::reply::Reply;

/// A call on a volume that the caller may use.
pub(super) struct Call<'a> {
    pub(super) files: &'a mut FileSystem,
    /// The first handle of the arguments.
    pub(super) object: Handle,
    pub(super) caller: Caller<'a>,
    pub(super) now: Time,
    /// Most bytes of one READ or WRITE.
    pub(super) transfer_max: u32,
    pub(super) xid: u32,
    /// The data of a WRITE, unless it is in the arguments.
    pub(super) data: Option<&'a mut WriteBuffer>,
    pub(super) reply: &'a mut Reply,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: nfsstat3,
    /// Bytes read or written.
    pub(super) bytes: u64,
}

impl Call<'_> {
    /// Weak cache consistency data of an object that the call did not change.
    pub(super) fn unchanged(&self, object: Handle) -> Wcc {
        let after = self.files.getattr(object).ok();
        let before =
            after.map(|Attributes { size, mtime, ctime, .. }| WccAttributes { size, mtime, ctime });
        Wcc { before, after }
    }

    /// Writes the reply.
    pub(super) fn answer<'r, Ok: Xdr<'r>, Fail: Xdr<'r>>(
        &mut self,
        result: Res3<Ok, Fail>,
    ) -> Outcome {
        reply_with(self.reply.head(), self.xid, &result);
        Outcome { status: result.status(), bytes: 0 }
    }
}
