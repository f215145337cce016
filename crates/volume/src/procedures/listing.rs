//! READDIR and READDIRPLUS: RFC 1813, sections 3.3.16 and 3.3.17.

use files::{Entry, Error, Page};
use nfs3::arguments::{READDIR3args, READDIRPLUS3args};
use nfs3::directory::{entry3, entryplus3};
use nfs3::results::{READ3resfail, Res3};
use nfs3::server::reply_written;
use nfs3::types::{filename3, nfs_fh3, nfsstat3};
use nfs3::xdr::{Writer, Xdr};

use super::call::{Call, Outcome};
use super::convert::{fattr, post_op, status};

/// Most bytes of a reply, whatever the client requests: it bounds the service's memory.
const REPLY_BYTES_MAX: u32 = 1 << 20;

pub(super) fn readdir(call: &mut Call<'_>, args: &READDIR3args<'_>) -> Outcome {
    let count = args.count.min(REPLY_BYTES_MAX);
    let page = call.files.readdir(call.object, args.cookie, args.cookieverf, count, &call.caller);
    match page {
        Ok(page) => encode(call.reply.head(), call.xid, &page, |entry, writer| {
            entry_of(entry).encode(writer);
        }),
        Err(error) => fail(call, error),
    }
}

pub(super) fn readdirplus(call: &mut Call<'_>, args: &READDIRPLUS3args<'_>) -> Outcome {
    let count = args.maxcount.min(REPLY_BYTES_MAX);
    let page = call.files.readdirplus(
        call.object,
        args.cookie,
        args.cookieverf,
        args.dircount,
        count,
        &call.caller,
    );
    match page {
        Ok(page) => encode(call.reply.head(), call.xid, &page, |plus, writer| {
            let entry3 { fileid, name, cookie } = entry_of(&plus.entry);
            let bytes = plus.object.map(|object| object.handle.to_bytes());
            let name_attributes = plus.object.map(|object| fattr(&object.attributes));
            let name_handle = bytes.as_ref().map(|bytes| nfs_fh3(bytes));
            entryplus3 { fileid, name, cookie, name_attributes, name_handle }.encode(writer);
        }),
        Err(error) => fail(call, error),
    }
}

fn entry_of<'a>(entry: &Entry<'a>) -> entry3<'a> {
    entry3 { fileid: entry.fileid, name: filename3(entry.name), cookie: entry.cookie }
}

fn encode<E>(
    reply: &mut Vec<u8>,
    xid: u32,
    page: &Page<E>,
    mut entry: impl FnMut(&E, &mut Writer<'_>),
) -> Outcome {
    reply_written(reply, xid, |writer| {
        nfsstat3::NFS3_OK.encode(writer);
        Some(fattr(&page.attributes)).encode(writer);
        page.verifier.encode(writer);
        for item in &page.entries {
            writer.bool(true);
            entry(item, writer);
        }
        writer.bool(false);
        writer.bool(page.eof);
    });
    Outcome { status: nfsstat3::NFS3_OK, bytes: 0 }
}

fn fail(call: &mut Call<'_>, error: Error) -> Outcome {
    let obj_attributes = post_op(&call.files.getattr(call.object));
    let fail = READ3resfail { obj_attributes };
    call.answer(Res3::<(), _>::Fail(status(error), fail))
}
