//! READ, WRITE and COMMIT: RFC 1813, sections 3.3.6, 3.3.7 and 3.3.21.
//!
//! READ does not update the access time, as on a file system mounted with `noatime`.

use files::{Changed, Error, Stability};
use nfs3::arguments::{COMMIT3args, READ3args, WRITE3args, stable_how};
use nfs3::results::{COMMIT3resok, READ3resfail, READ3resok, Res3, WRITE3resfail, WRITE3resok};
use nfs3::server::reply_read_head;
use nfs3::types::nfsstat3;

use super::call::{Call, Outcome};
use super::convert::{fattr, post_op, status, wcc};

/// Returns at most the largest transfer; the RFC allows a server to return less than requested.
pub(super) fn read(call: &mut Call<'_>, args: &READ3args<'_>) -> Outcome {
    let requested = u64::from(args.count.min(call.transfer_max));
    let read = match call.files.read(call.object, args.offset, requested, &call.caller) {
        Ok(read) => read,
        Err(error) => {
            let obj_attributes = post_op(&call.files.getattr(call.object));
            let fail = READ3resfail { obj_attributes };
            let result: Res3<READ3resok<'_>, _> = Res3::Fail(status(error), fail);
            return call.answer(result);
        }
    };
    let attributes = Some(fattr(&read.attributes));
    // At most `transfer_max`, so it fits.
    let count = read.count as u32;
    reply_read_head(call.reply.head(), call.xid, &attributes, count, read.eof);
    call.reply.set_data(count as usize, read.pieces);
    Outcome { status: nfsstat3::NFS3_OK, bytes: u64::from(count) }
}

/// Accepts at most the largest transfer, and the client sends the rest again, as the RFC allows. A
/// count that differs from the length of the data is NFS3ERR_INVAL.
pub(super) fn write(call: &mut Call<'_>, args: &WRITE3args<'_>) -> Outcome {
    let data = args.data.0;
    let stability = match args.stable {
        stable_how::UNSTABLE => Stability::Unstable,
        stable_how::DATA_SYNC => Stability::DataSync,
        stable_how::FILE_SYNC => Stability::FileSync,
    };
    let written = if let Some(data) = call.data.take() {
        // `Server::begin_write` checked that it has `count` bytes, and at most the largest transfer.
        call.files.write_buffered(call.object, data, stability, &call.caller, call.now)
    } else if args.count as usize == data.len() {
        let accepted = &data[..data.len().min(call.transfer_max as usize)];
        call.files.write(call.object, args.offset, accepted, stability, &call.caller, call.now)
    } else {
        Changed { result: Err(Error::Inval), wcc: call.unchanged(call.object) }
    };
    let file_wcc = wcc(&written.wcc);
    match written.result {
        Ok(done) => {
            let committed = match done.committed {
                Stability::Unstable => stable_how::UNSTABLE,
                Stability::DataSync => stable_how::DATA_SYNC,
                Stability::FileSync => stable_how::FILE_SYNC,
            };
            let count = done.count as u32;
            let ok = WRITE3resok { file_wcc, count, committed, verf: done.verifier };
            let answered = call.answer(Res3::<_, WRITE3resfail>::Ok(ok));
            Outcome { bytes: done.count, ..answered }
        }
        Err(error) => {
            let fail = WRITE3resfail { file_wcc };
            call.answer(Res3::<WRITE3resok, _>::Fail(status(error), fail))
        }
    }
}

pub(super) fn commit(call: &mut Call<'_>, args: &COMMIT3args<'_>) -> Outcome {
    let changed = call.files.commit(call.object, args.offset, u64::from(args.count));
    let file_wcc = wcc(&changed.wcc);
    call.answer(match changed.result {
        Ok(verf) => Res3::Ok(COMMIT3resok { file_wcc, verf }),
        Err(error) => Res3::Fail(status(error), WRITE3resfail { file_wcc }),
    })
}
